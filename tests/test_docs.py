"""The pages of docs/ and CONTRIBUTING.md say what is so: tables, links, tests that they name, and the worked example."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from docs import rules, tables
from prof_analysis.cli import app
from prof_analysis.engine.schemas import schemas
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import documented_tables, source_tables
from tests.helpers.places import CHECKOUT
from tests.helpers.small_profile import Kernel, Op, write_profile

MADE = tables.FOLDER  # Pages that are not in git.
PAGES = sorted(
    [
        *CHECKOUT.glob("*.md"),
        *(page for page in CHECKOUT.glob("docs/**/*.md") if MADE not in page.parents),
        *CHECKOUT.glob("benchmarks/*.md"),
    ]
)


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    text = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def block_behind(mark: str) -> str:
    match = re.search(
        rf"<!-- {mark} -->\n```\w+\n(.+?)```", (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert match
    return match[1]


def test_the_list_of_schemas_is_that_of_the_program() -> None:
    rows = re.findall(
        r"(?m)^\| \[(\w+)\]\(\.\./sql/(\w+)/\) \| (.+) \|$", (CHECKOUT / "docs" / "tables.md").read_text(encoding="utf-8")
    )
    assert [(schema, meaning) for schema, _, meaning in rows] == list(schemas().items())
    assert all(schema == folder for schema, folder, _ in rows)


def test_every_table_and_column_is_on_the_page_of_its_schema(tmp_path: Path) -> None:
    tables.write(tmp_path)
    assert {file.stem for file in tmp_path.iterdir()} == schemas().keys()
    text = "".join(file.read_text(encoding="utf-8") for file in tmp_path.iterdir())
    sections = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    assert sections.keys() == documented_tables().keys()
    for name, table in documented_tables().items():
        for column in table.columns:
            assert f"\n| {column.shown_name} | {column.shown_type} | " in sections[name]


def test_the_page_of_rules_is_that_of_the_heads() -> None:
    is_current = rules.PAGE.read_text(encoding="utf-8") == rules.page()
    assert is_current, "docs/rules.md is older than the heads in sql/advice/: run `python -m docs.rules` and commit it"


def test_signs_of_markdown_are_written_out() -> None:
    assert tables.plain("pid * 2 | `a|b*` <x> Layer[3]") == r"pid \* 2 \| `a\|b*` \<x> Layer\[3\]"


def missing(search: Callable[[Path], Iterator[str]], *left_out: str) -> list[str]:
    """Return what pages name and is not there, each behind its page."""
    return [f"{page.relative_to(CHECKOUT)}: {one}" for page in PAGES if page.name not in left_out for one in search(page)]


def test_links_lead_to_what_is_there() -> None:
    assert missing(dead_links) == []


def dead_links(page: Path) -> Iterator[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, part in re.findall(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        file = page.parent / target if target else page
        if not file.exists() or (part and part not in anchors(file)):
            yield f"{target}#{part}" if part else target


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    return set(map(anchor, re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)))


def test_tests_that_are_named_are_there() -> None:
    assert missing(lost_tests) == []


def lost_tests(page: Path) -> Iterator[str]:
    for path, name in re.findall(r"`(tests/[\w/]+(?:\.py)?)(?:::(\w+))?`", page.read_text(encoding="utf-8")):
        file = CHECKOUT / path
        if not file.exists() or (name and f"def {name}(" not in file.read_text(encoding="utf-8")):
            yield f"{path}::{name}" if name else path


def test_tables_that_are_named_are_there() -> None:
    assert missing(unknown_tables, "CHANGELOG.md") == []


def unknown_tables(page: Path) -> Iterator[str]:
    for name, column in re.findall(r"`(\w+\.\w+)(?:\.(\w+))?`", page.read_text(encoding="utf-8")):
        if name.partition(".")[0] in schemas() and not name.endswith(".json"):
            table = documented_tables().get(name)
            if table is None or (column and column not in {one.shown_name for one in table.columns}):
                yield f"{name}.{column}" if column else name


def command_lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each `prof-analysis ...` of a page: lines of its blocks, and code within its sentences."""
    blocks = "".join(re.findall(r"```.*?```", text, flags=re.DOTALL)).replace("\\\n", " ")
    sentences = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for line in (*re.findall(r"(?m)^(?:\$ )?prof-analysis (.+)$", blocks), *re.findall(r"`prof-analysis\s([^`]+)`", sentences)):
        yield shlex.split(line, comments=True)


def test_commands_and_options_that_are_named_are_there() -> None:
    assert missing(unknown_words, "CHANGELOG.md") == []


@cache
def program() -> Any:
    return get_command(app)


def unknown_words(page: Path) -> Iterator[str]:
    """Yield the commands that a page names and nobody knows, and the options that commands do not have."""
    for words in command_lines(page.read_text(encoding="utf-8")):
        command = program()
        if words[0] in ("PATH", "job", "fixed"):  # A path alone is diagnosed.
            words[0] = "diagnose"
        while hasattr(command, "commands") and words[0] in command.commands:
            command = command.commands[words.pop(0)]
        if hasattr(command, "commands") and not words[0].startswith("--"):
            yield words[0]
            continue
        known = {name for param in command.params for name in param.opts} | {"--help"}
        named = {word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--")}
        yield from (f"{command.name} {name}" for name in sorted(named - known))


def test_each_table_of_the_picture_is_made_of_those_left_of_it() -> None:
    page = (CHECKOUT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    picture = page.partition("<!-- picture -->\n```\n")[2].partition("```")[0]
    over_ranks = {name: table for name, table in documented_tables().items() if table.grain == "job"}
    known = {**source_tables("ascend_db"), **over_ranks}
    left: set[str] = set()
    for schema in ("raw", "trace", "module", "across"):
        names = set(re.findall(rf"{schema}\.\w+", picture))
        for name in names if left else ():
            assert left & needs_of(name, known), f"{name} is not made of any of {left}"
        left |= names
    assert len(left) == 10


def needs_of(name: str, known: Mapping[str, Table]) -> set[str]:
    """The tables of which a table is made, also those in between."""
    found, left = set[str](), [name]
    while left:
        new = set(known[left.pop()].needs) - found
        found |= new
        left += new & known.keys()
    return found


def test_the_index_has_each_page() -> None:
    index = (CHECKOUT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in CHECKOUT.glob("docs/*.md")} - {"README.md", "README.zh.md"}
    assert pages == set(re.findall(r"^- \[.+?\]\(([\w-]+\.md)\)", index, re.MULTILINE))


def test_each_decision_is_in_the_list_with_its_title() -> None:
    folder = CHECKOUT / "docs" / "decisions"
    listed = re.findall(r"^\| \[(\d+)\]\((.+?)\) \| (.+) \|$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    headings = {file.name: file.read_text(encoding="utf-8").partition("\n")[0] for file in sorted(folder.glob("0*.md"))}
    assert {file: f"# {number}. {title}" for number, file, title in listed} == headings


@pytest.mark.slow
def test_an_analysis_in_ten_minutes_answers_what_its_test_expects(tmp_path: Path) -> None:
    for folder in ("prof_analysis", "sql", "docs"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "sql" / "kernels" / "stream.sql").write_text(block_behind("analysis"), encoding="utf-8")
    answers = tmp_path / "prof_analysis" / "analyses" / "answers"
    (answers / "stream_stats.py").write_text(block_behind("file"), encoding="utf-8")
    page = tmp_path / "kernels" / "stream.cases.md"
    page.parent.mkdir()
    page.write_text(block_behind("test"), encoding="utf-8")
    code = "import pathlib, prof_analysis.engine.cases as cases\n"
    code += "assert [one.failures for one in cases.failures_in(pathlib.Path('kernels/stream.cases.md'))] == [[]]"
    kernels = (Kernel("a", 1000, 1010, stream=2), Kernel("b", 1000, 1030, stream=3), Kernel("c", 2000, 2005, stream=2))
    write_profile(tmp_path / "result" / "0_ascend_pt", [Op("aten::mul", 100, 200, kernels)])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(CHECKOUT)))}
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, env=environment, check=True)
    words = [sys.executable, "-m", "prof_analysis", "stream-stats", "-d", "result", "--json"]
    said = subprocess.run(words, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout
    assert [row["total_ns"] for row in json.loads(said)["summary"]["streams"]] == [30, 15]
    code = (
        "import json, sys, docs.json_schema, jsonschema; jsonschema.validate(json.load(sys.stdin), docs.json_schema.schema())"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, input=said, text=True, check=True)
