"""Names that an enemy wrote are text: on the screen, in JSON, in a notebook, and in every file of every format."""

import csv
import io
import json
import re
import sqlite3
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from prof_analysis import ProfAnalysisWarning, Profile, open_profile
from prof_analysis.analyses import ANALYSES, PICTURES
from prof_analysis.analyses.answering import answer_of
from prof_analysis.cli import terminal
from prof_analysis.common.visible import visible, visible_json
from prof_analysis.exports import ExportType
from tests.helpers.cli import Command
from tests.helpers.hostile import LONG, MARKUP, NAMES, write_hostile, write_hostile_nsys, write_hostile_trace
from tests.helpers.slow import quick

QUICK = ("module-stats", "kernel-stats", "stacks", "mstx-stats")
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module", params=quick(["database", "trace", "nsys"], 0))
def hostile(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Profile]:
    folder = tmp_path_factory.mktemp("hostile")
    write: dict[str, Callable[[Path], object]] = {
        "database": write_hostile, "trace": write_hostile_trace, "nsys": write_hostile_nsys
    }  # fmt: skip
    write[request.param](folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(folder) as profile:
            profile.provide(tuple(dict.fromkeys(table for name in QUICK for table in ANALYSES[name].tables)))
            yield profile


def answered(profile: Profile) -> list[str]:
    ((row),) = profile.ranks(arrow=True).to_pylist()
    return list(row["answers"])


def ops_of(profile: Profile) -> set[str]:
    return {row["op_name"] for row in profile.rows("SELECT op_name FROM module.statistic")}


def assert_is_text(profile: Profile, name: str, top: int) -> None:
    answer = answer_of(profile, name, top)
    with redirect_stdout(io.StringIO()) as screen:
        terminal.print_answer(answer, ())
    assert not STEERING.findall(screen.getvalue()), name
    facts = visible_json(json.dumps(answer.facts, default=str, ensure_ascii=False))
    assert not STEERING.findall(facts), name
    json.loads(facts)


def test_names_that_look_alike_are_not_shown_alike() -> None:
    assert visible("Lin\u200bear \ufefft\u2060 \xad") == r"Lin\u200bear \ufefft\u2060 \xad"
    assert visible("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645") == "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"


def test_answers_show_names_as_text(hostile: Profile) -> None:
    for name in [name for name in QUICK[1:] if name in answered(hostile)]:
        assert_is_text(hostile, name, 22)


@pytest.mark.slow
def test_all_answers_show_names_as_text(hostile: Profile) -> None:
    for name in answered(hostile):
        assert_is_text(hostile, name, 100)


class Tags(HTMLParser):
    """The tags of a page, with the names of their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(f"{tag}.{name}" for name, _ in attrs)}


def test_a_notebook_shows_names_as_text(hostile: Profile) -> None:
    page = hostile._repr_html_()
    tags = Tags(page).found
    assert not {"script", "img", "svg", "b.onload"} & tags
    assert not [tag for tag in tags if ".on" in tag]
    assert not [markup for markup in MARKUP if markup in page]
    assert not STEERING.findall(repr(hostile))


@pytest.mark.parametrize("export_type", [one for one in ExportType if one not in ("text", "excel", *PICTURES)])
def test_files_hold_names_whole_and_as_text(hostile: Profile, tmp_path: Path, export_type: ExportType) -> None:
    files = hostile.export(tmp_path, export_type, "module-stats")
    names = ops_of(hostile)
    assert len(names) > 20
    assert LONG in names
    found: set[str]
    if export_type == "csv":
        (file,) = (one for one in files if one.name == "module_statistic.csv")
        csv.field_size_limit(10**6)
        with file.open(encoding="utf-8", newline="") as opened:
            rows = list(csv.DictReader(opened))
        assert not [cell for row in rows for cell in row.values() if cell[:1] in ("=", "@")]
        names = {f"'{name}" if name[:1] in ("=", "+", "-", "@") else name for name in names}
        found = {row["op_name"] for row in rows}
    elif export_type == "xlsx":
        for file in files:
            with zipfile.ZipFile(file) as archive:
                for name in archive.namelist():
                    content = archive.read(name)
                    assert re.sub(rb"<f>SUBTOTAL\(\d+,[A-Z\d:]+\)</f>", b"", content).count(b"<f>") == 0, "ours are sums"
                    assert b"hyperlink" not in content
                    ElementTree.fromstring(content)
        return
    elif export_type == "db":
        with closing(sqlite3.connect(files[0])) as database:
            found = {name for (name,) in database.execute("SELECT opName FROM ModuleStatistic")}
    elif export_type == "duckdb":
        with duckdb.connect(str(files[0]), read_only=True) as opened_file:
            found = {name for (name,) in opened_file.execute("SELECT op_name FROM ModuleStatistic").fetchall()}
    elif export_type == "json":
        (file,) = (one for one in files if one.name == "module_statistic.json")
        found = {row["op_name"] for row in json.loads(file.read_text(encoding="utf-8"))}
    else:
        (file,) = (one for one in files if one.name == "module_statistic.parquet")
        found = {name for (name,) in duckdb.execute("SELECT op_name FROM read_parquet($file)", {"file": str(file)}).fetchall()}
    assert found == names


@pytest.mark.slow
def test_every_name_of_a_database_is_that_of_an_op(tmp_path: Path) -> None:
    write_hostile(tmp_path)
    with open_profile(tmp_path) as profile:
        assert ops_of(profile) == {*NAMES.values()}
        assert profile.rows("SELECT count(*) AS ranks FROM (SELECT DISTINCT profile FROM trace.op)") == [{"ranks": 1}]
    with open_profile(tmp_path, anonymize=True) as profile:
        assert len(ops_of(profile)) == len(NAMES)


@pytest.mark.usefixtures("keeping")
def test_the_command_prints_names_as_text(tmp_path: Path, command: Command) -> None:
    write_hostile(tmp_path, names=list(NAMES.values())[:18], steps=1)
    for words in (["ranks"], ["op-stats", "--columns", "all"], ["sql", "FROM trace.op", "-d"]):
        for more in ([], ["--json"], ["--anonymize"]):
            result = command(*words, tmp_path, *more)
            assert result.exit_code == 0, result.output
            assert not STEERING.findall(result.output), words
