"""The wheel, the sdist and an editable install do the main job, in an empty environment and outside the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

from docs.json_schema import schema
from prof_analysis.common.user_cache import VARIABLE
from tests.helpers.places import CHECKOUT, SAMPLE

# Distributions whose module has another name.
MODULES = {"markdown-it-py": "markdown_it", "adbc-driver-sqlite": "adbc_driver_sqlite"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, so that building leaves nothing in it."""
    folder = tmp_path_factory.mktemp("source") / "prof-analysis"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "dist", "cluster_analysis_output")
    shutil.copytree(CHECKOUT, folder, ignore=left_out)
    shutil.copy(CHECKOUT / ".gitignore", folder)
    return folder


@pytest.fixture(scope="module")
def distributions(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, missing = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("missing")
    # As in pip's own environment for builds, which has what pyproject.toml names and no folder of a cache.
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    for needed in {*project["project"]["dependencies"]} - {*hook["dependencies"]}:
        module = MODULES.get(name := re.split("[<>=]", needed)[0], name)
        (missing / f"{module}.py").write_text("raise ModuleNotFoundError", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE} | {"PYTHONPATH": str(missing)}
    words: list[str | Path] = [sys.executable, "-m", "build", "--no-isolation", "-o", folder, source]
    subprocess.run(words, env=environment, check=True, capture_output=True)
    return folder


def install(folder: Path, *words: str | Path) -> Path:
    """An environment that holds only this project; the libraries are lent by the environment of the tests."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    inside = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True
    ).stdout.strip()
    # Behind everything of its own, and without .pth files: an editable install of this project is not lent.
    Path(inside, "lent.pth").write_text(f"import sys; sys.path.append({sysconfig.get_path('purelib')!r})\n")
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--no-build-isolation", *words], check=True, capture_output=True)
    return folder / "bin" / "prof-analysis"


def assert_does_the_main_job(command: Path, folder: Path) -> None:
    folder.mkdir()
    words: list[str | Path] = ["module-stats", "-d", SAMPLE / "decoder_training", "-o", folder, "--json"]
    result = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["summary"]["rows"] == 104
    assert [Path(file).name for file in answer["files"]] == ["cluster_analysis.db"]


@pytest.mark.slow
def test_the_wheel_does_the_main_job(distributions: Path, tmp_path: Path) -> None:
    wheel = next(distributions.glob("*.whl"))
    command = install(tmp_path / "venv", wheel)
    assert_does_the_main_job(command, tmp_path / "work")
    with zipfile.ZipFile(wheel) as archive:
        assert json.loads(archive.read("prof_analysis/json.schema.json")) == schema()
    counts = "from prof_analysis.engine import remembered; print(len(remembered._known()))"
    words = [str(command.with_name("python")), "-c", counts]
    known = subprocess.run(words, env={**os.environ, VARIABLE: "off"}, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert int(known.stdout) > 500, "a first start has plans"


@pytest.mark.slow
def test_the_page_on_a_package_index_has_no_dead_links(distributions: Path) -> None:
    with zipfile.ZipFile(next(distributions.glob("*.whl"))) as wheel:
        (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        page = wheel.read(metadata).decode()
    assert "Tutorial (docs/tutorial.md)" in page
    links = re.findall(r"\]\(([^)]*)\)", re.sub(r"```.*?```", "", page, flags=re.DOTALL))
    assert not [link for link in links if not link.startswith("https://")]


@pytest.mark.slow  # the wheel of the other test is built from it
def test_the_sdist_does_the_main_job(distributions: Path, tmp_path: Path) -> None:
    command = install(tmp_path / "venv", next(distributions.glob("*.tar.gz")))
    assert_does_the_main_job(command, tmp_path / "work")


@pytest.mark.slow
def test_an_editable_install_reads_the_sql_of_the_checkout(source: Path, tmp_path: Path) -> None:
    command = install(tmp_path / "venv", "-e", source)
    assert_does_the_main_job(command, tmp_path / "work")
    assert not (source / "prof_analysis" / "sql").exists()
    file = source / "sql" / "module" / "coverage.sql"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("'inside modules'", "'edited'"), encoding="utf-8")
    words: list[str | Path] = [
        "sql",
        "-d",
        SAMPLE / "decoder_training",
        "--json",
        "SELECT DISTINCT location FROM module.coverage ORDER BY ALL",
    ]
    result = subprocess.run([command, *words], capture_output=True, text=True, check=True)
    file.write_text(text, encoding="utf-8")
    assert json.loads(result.stdout)["rows"][0] == {"location": "edited"}
