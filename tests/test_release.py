"""What a release consists of fits the project: one version everywhere, the lock file, the image, the recipe, and the forms."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.json_schema import schema
from prof_analysis.common import old_words
from prof_analysis.common.version import __version__
from tests.helpers.places import CHECKOUT
from tests.test_docs import unknown_words

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
FORMS = sorted((CHECKOUT / ".github" / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))


def text_of(*parts: str) -> str:
    return CHECKOUT.joinpath(*parts).read_text(encoding="utf-8")


def recipe() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text_of("conda", "recipe.yaml"))
    return found


def test_the_version_is_the_same_everywhere() -> None:
    cited = yaml.safe_load(text_of("CITATION.cff"))
    assert (cited["version"], cited["license"], cited["type"]) == (__version__, PROJECT["project"]["license"], "software")
    assert recipe()["context"]["version"] == __version__
    newest = re.findall(r"(?m)^## (\S+)", text_of("CHANGELOG.md"))[0]
    assert newest in ("Unreleased", __version__)


def locked() -> list[Requirement]:
    """The libraries of the lock file, each with its version and where it is installed."""
    entries = re.split(r"(?m)^(?=[a-z0-9])", re.sub(r"(?m)^ *#.*\n", "", text_of("requirements.lock")))[1:]
    for entry in entries:
        assert "--hash=sha256:" in entry, f"nobody checks {entry}"
    return [Requirement(entry.partition(" \\")[0]) for entry in entries]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.14"])
@pytest.mark.parametrize("system", ["linux", "win32"])
def test_the_lock_file_has_each_dependency_once_within_its_bounds(python: str, system: str) -> None:
    where = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": system}
    here: dict[str, list[Requirement]] = {}
    for one in locked():
        if one.marker is None or one.marker.evaluate(where):
            here.setdefault(canonicalize_name(one.name), []).append(one)
    assert {name: found for name, found in here.items() if len(found) > 1} == {}
    for needed in map(Requirement, PROJECT["project"]["dependencies"]):
        (version,) = (pin.version for one in here[canonicalize_name(needed.name)] for pin in one.specifier)
        assert version in needed.specifier, f"{needed} is locked at {version}; RELEASING.md says how to make the file anew"


def of_conda(requirements: list[str]) -> set[str]:
    """Dependencies of pyproject.toml as conda-forge calls them."""
    names = {"duckdb": "python-duckdb", "isal": "python-isal"}
    return {f"{names.get(one.name, one.name)} {one.specifier}" for one in map(Requirement, requirements)}


def test_the_recipe_for_conda_needs_what_the_project_needs() -> None:
    needs = recipe()["requirements"]
    assert set(needs["run"]) == {"python >=${{ python_min }}", *of_conda(PROJECT["project"]["dependencies"])}
    hook = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["dependencies"]
    made_with = of_conda([*PROJECT["build-system"]["requires"], *hook])
    assert set(needs["host"]) == {"python ${{ python_min }}.*", "pip", *made_with}
    assert f">={recipe()['context']['python_min']}" == PROJECT["project"]["requires-python"]
    ((name, starts),) = PROJECT["project"]["scripts"].items()
    assert recipe()["build"]["python"]["entry_points"] == [f"{name} = {starts}"]
    assert list(unknown_words(CHECKOUT / "docs" / "installing.md")) == []


def lines_of_image(word: str) -> list[str]:
    return re.findall(rf"(?m)^{word} (.+)$", text_of("Dockerfile"))


def copied() -> list[str]:
    """What the image copies of the checkout, in order."""
    return [name for line in lines_of_image("COPY") if "--from" not in line for name in line.split()[:-1]]


def test_the_image_does_the_main_job_as_a_user_without_rights() -> None:
    ((start,), (words,)) = (map(json.loads, lines_of_image(word)) for word in ("ENTRYPOINT", "CMD"))
    assert [*start, *words] == ["prof-analysis", "module-stats", "-d", "/profile", "--export_type", "db"]
    assert lines_of_image("USER") == ["10001"]
    allowed = set(re.findall(r"(?m)^!(.+)$", text_of(".dockerignore")))
    assert allowed == set(copied())


@pytest.mark.slow
def test_the_image_copies_all_that_the_wheel_is_made_of(tmp_path: Path) -> None:
    source = tmp_path / "checkout"
    source.mkdir()
    for name in copied():
        if (CHECKOUT / name).is_dir():
            shutil.copytree(CHECKOUT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(CHECKOUT / name, source)
    words: list[str | Path] = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path, source]
    subprocess.run(words, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert json.loads(wheel.read("prof_analysis/json.schema.json")) == schema()
        assert {name.partition("/")[0] for name in wheel.namelist()} == {
            "prof_analysis",
            f"prof_analysis-{__version__}.dist-info",
        }


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_a_form_for_issues_is_one(form: Path) -> None:
    """A form with an error is not shown at all, so nobody could report with it."""
    found = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert found.keys() <= {"name", "description", "title", "labels", "body"}
    assert all(isinstance(found[key], str) and found[key] for key in ("name", "description"))
    fields = [one for one in found["body"] if one["type"] != "markdown"]
    keys = {"label", "description", "placeholder", "value", "render"}
    for field in found["body"]:
        assert field.keys() <= {"type", "id", "attributes", "validations"}
        assert field["type"] in ("markdown", "textarea", "input")
        assert field["attributes"].keys() <= ({"value"} if field["type"] == "markdown" else keys)
        assert field["type"] == "textarea" or "render" not in field["attributes"]
        assert field.get("validations", {"required": True}) == {"required": True}
    for each in ([one["id"] for one in fields], [one["attributes"]["label"] for one in fields]):
        assert len(set(each)) == len(each)
    assert any(one.get("validations") for one in fields)
    assert list(unknown_words(form)) == []


def test_who_reports_a_defect_gives_what_ranks_says_without_names() -> None:
    assert len(FORMS) == 3
    for form in FORMS:
        (asked,) = (one for one in yaml.safe_load(form.read_text(encoding="utf-8"))["body"] if one.get("id") == "ranks")
        assert "`prof-analysis ranks DIR --json --anonymize`" in asked["attributes"]["label"]
        assert bool(asked.get("validations")) == ("question" not in form.name)
    assert yaml.safe_load(text_of(".github", "ISSUE_TEMPLATE", "config.yml")) == {"blank_issues_enabled": False}


def test_who_comes_from_an_earlier_version_finds_each_old_word() -> None:
    page = text_of("docs", "upgrading.md")
    in_python = {*old_words._OPTIONS, *(word for words in old_words._METHODS.values() for word in words)}
    on_command_lines = {*old_words._WITH_VALUE, *old_words._ALONE, *(" ".join(both) for both in old_words._WITH_THIS_VALUE)}
    named = {*(rf"{re.escape(word)}\b(?!-)" for word in on_command_lines), *(f"{word}=" for word in in_python)}
    assert {word for word in named if not re.search(f"`[^`]*{word}", page)} == set()
