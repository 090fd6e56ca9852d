"""Options: each is declared once, and the command, help() and the variables of the SQL follow from that."""

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer

import prof_analysis
from prof_analysis import InputError, OutputError, ProfAnalysisWarning, Profile, open_profile
from prof_analysis.cli import app
from prof_analysis.cli.options import ModuleOptions, takes_options
from prof_analysis.common.answer_options import Options
from prof_analysis.common.option_docs import documented
from prof_analysis.common.options import Keywords, ProfileOptions
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.tables import documented_tables
from prof_analysis.engine.variables import variables_read
from prof_analysis.profile.questions import Questions
from prof_analysis.sources import SOURCES
from tests.helpers.places import CHECKOUT
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

# What the SQL reads beside the options: which rank it is, what makes ids of texts, and why a rank's kernels have no types.
BOUNDS = {f"{clock}_{bound}_ns" for clock in ("host", "device") for bound in ("from", "to", "longest")}
OF_RANK = {
    "device_kind",
    "device_id",
    "first_device_id",
    "memory_is_beside",
    "profile",
    "rank_id",
    "text_salt",
    "nvtx_domains",
    "nvtx_schemas",
    "why_untyped",
    *BOUNDS,
}
OPS = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040),)),)
RANGES = (Range("Net", 100, 200),)


def test_what_editors_see_are_the_options() -> None:
    assert get_type_hints(Keywords) == {name: type_ for name, (type_, _) in documented(ProfileOptions).items()}


@pytest.mark.parametrize("function", [Profile, open_profile, prof_analysis.module_stats])
def test_help_shows_every_option_with_its_default(function: Any) -> None:
    shown = inspect.signature(function).parameters
    assert {field.name: field.default for field in fields(ProfileOptions)}.items() <= {
        name: parameter.default for name, parameter in shown.items()
    }.items()


def test_the_docstring_says_what_every_option_means() -> None:
    text = " ".join(inspect.getdoc(Profile).split())  # type: ignore[union-attr]
    for name, (_, doc) in documented(ProfileOptions).items():
        assert f"{name}: {doc.meaning}" in text


def test_every_variable_that_the_sql_reads_is_an_option_and_every_option_is_read() -> None:
    sql = " ".join(file.read_text(encoding="utf-8") for file in sql_folder().rglob("*.sql"))
    assert set(re.findall(r"getvariable\('(\w+)'\)", sql)) - OF_RANK == set(Options().variables())


def test_values_that_the_sql_reads() -> None:
    chosen = Options(
        module_domains=iter(["Module", "Custom"]),
        instances=True,
        peak_tflops={"fp16": 376, "bf16": 353.9},
        thresholds={"low_clock.least_share": 0.05},
    )
    assert chosen.variables() == {
        "step_id": None,
        "nesting_tolerance_ns": 0,
        "module_source": "auto",
        "module_domains": ["Module", "Custom"],
        "instances": True,
        "depth": None,
        "audit_links": False,
        "filter": None,
        "under": None,
        "module": None,
        "python_frames": False,
        "user_code": False,
        "peak_tflops": ["bf16=353.9", "fp16=376.0"],
        "thresholds": ["low_clock.least_share=0.05"],
        "requests": [],
        "per": "step",
        "skip_steps": [],
        "alias": [],
        "rank_map": [],
    }
    assert Options(peak_tflops="published").variables()["peak_tflops"] == ["published"]


@pytest.mark.parametrize(
    ("options", "given", "words"),
    [
        ({"nesting_tolerance_ns": -1}, "nesting_tolerance_ns=-1", ("0 or more",)),
        ({"depth": 0}, "depth=0", ("1 or more",)),
        ({"depth": "3"}, "depth='3'", ("a whole number",)),
        ({"step_id": "last"}, "step_id='last'", ("a whole number",)),
        ({"per": "second"}, "per='second'", ("step, call or run",)),
        ({"skip_steps": "last"}, "skip_steps='last'", ("numbers of steps",)),
        ({"rank_map": {0: "all"}}, "rank_map={0: 'all'}", ("ranks of the new run", "of the base")),
        ({"alias": ["A", "B"]}, "alias=['A', 'B']", ("csv file", "base and new", "mapping")),
        ({"rank_map": 3}, "rank_map=3", ("ranks of the new run", "of the base")),
        ({"alias": {"A*": "B"}}, "alias", ("A* and B", "different numbers of *")),
        ({"module_source": "nn"}, "module_source='nn'", ("auto, mstx or nn.Module",)),
        ({"source": "csv"}, "source='csv'", ("auto, db, text",)),
        ({"module_domains": ("A", "")}, "module_domains=('A', '')", ("at least one domain",)),
        ({"under": ""}, "under=''", ("a part of a frame",)),
        ({"filter": ""}, "filter=''", ("a part of a name",)),
        ({"peak_tflops": "public"}, "peak_tflops='public'", ("'published'", "a peak by data type")),
        ({"peak_tflops": {"fp16": 0}}, "peak_tflops='fp16=0'", ("a positive number", "one of fp16, ")),
        ({"scheduler": "tcp://h:1", "workers": 2}, "workers=2", ("no value", "limits of its own")),
        ({"scheduler": "tcp://h:1"}, "cache=None", ("a folder", "workers of the cluster see")),
    ],
)
def test_what_an_option_does_not_take_is_named_with_what_it_takes(
    options: Mapping[str, Any], given: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as raised:
        ProfileOptions(**options)
    assert str(raised.value).startswith(f"{given}: ")
    assert str(raised.value) == says(*words)


def test_a_command_has_the_options_of_its_sections_with_their_meaning() -> None:
    got: list[Keywords] = []

    def command(options: ModuleOptions) -> None:
        got.append(options)

    own = typer.Typer()
    own.command()(takes_options(command))
    built = typer.main.get_command(own)
    of_options = {parameter.name: getattr(parameter, "help", "") for parameter in built.params}
    expected = {name for name, (_, doc) in documented(ProfileOptions).items() if doc.section in ("Input", "Modules", "Machine")}
    assert expected <= of_options.keys()
    assert all(str(of_options[name]).startswith(documented(ProfileOptions)[name][1].meaning) for name in expected)
    words = ["--rank-list", "0,3", "--module-domain", "A, B", "--instances", "--memory-limit", "3GB"]
    built.main(words, standalone_mode=False)
    given = {"rank_list": [0, 3], "module_domains": ["A", "B"], "instances": True, "memory_limit": 3_000_000_000}
    usual = {"nesting_tolerance_ns": 0, "module_source": "auto", "audit_links": False, "source": "auto"}
    usual |= {"anonymize": False, "allow_files": False}
    assert got == [{**given, **usual}]


def test_the_usual_values_of_a_command_are_those_of_python() -> None:
    group = typer.main.get_command(app)
    (sql,) = [command for name, command in group.commands.items() if name == "sql"]  # type: ignore[attr-defined]
    for parameter in sql.params:
        field = next((field for field in fields(ProfileOptions) if field.name == parameter.name), None)
        if field is not None:
            usual = ",".join(field.default) if isinstance(field.default, tuple) else field.default
            assert parameter.default == usual


@pytest.mark.parametrize(
    ("table", "read"),
    [
        ("mstx.event", {"step_id"}),
        ("trace.op", set()),
        ("trace.kernel", set()),
        ("mfu.peak", {"peak_tflops", "audit_links", "nesting_tolerance_ns"}),
        ("module.range", {"module_source", "module_domains"}),
    ],
)
@pytest.mark.parametrize("source", SOURCES)
def test_what_a_table_reads_of_the_options(source: str, table: str, read: set[str]) -> None:
    # Where a graph was captured or is replayed, ops and ranges lie in each other as they do elsewhere.
    has_graphs = table == "module.range" and source in ("nsys", "ascend_db", "ascend_text")
    of_graphs = {"nesting_tolerance_ns"} if has_graphs else set()
    assert variables_read(source, table) - OF_RANK == read | of_graphs


def test_what_a_table_reads_through_a_macro_and_through_other_tables_counts() -> None:
    assert "nesting_tolerance_ns" in variables_read("ascend_db", "op.parent"), "through a macro"
    assert {"depth", "instances", "module_domains"} <= variables_read("ascend_db", "module.statistic"), "through other tables"
    assert "depth" not in variables_read("ascend_db", "op.statistic")


def test_the_docstring_of_an_answer_has_the_columns_of_its_tables() -> None:
    text = inspect.getdoc(dict(inspect.getmembers(Questions))["slow_ranks"]) or ""
    assert text.startswith("Return which rank, or pipeline stage, makes the others wait")
    for table in ("across.slow_rank", "across.rank_communication", "across.slow_rank_module", "across.slow_rank_finding"):
        assert f"Columns of table {table}:\n" in text
        for column in documented_tables()[table].columns:
            assert f"    {column.shown_name} ({column.shown_type})"[:90] in text


@pytest.mark.slow
def test_a_checker_knows_the_types_of_answers_and_finds_a_wrong_option(tmp_path: Path) -> None:
    (tmp_path / "pyarrow.pyi").write_text("class Table: ...\n")  # pyarrow has no types of its own
    script = tmp_path / "mine.py"
    script.write_text(
        "import prof_analysis\n"
        "with prof_analysis.open_profile('x', instances=True, module_domains=['A'], step_id=None) as profile:\n"
        "    reveal_type(profile.kernel_stats())\n"
        "    reveal_type(profile.table('mfu.op', arrow=True))\n"
        "    reveal_type(profile.ranks(arrow=True))\n"
        "    reveal_type(profile.sql('SELECT 1', arrow=False))\n"
        "    reveal_type(profile.plot.modules())\n"
        "    reveal_type(prof_analysis.compare('x', 'y').plot.modules(depth=2))\n"
        "    profile.table('mfu.op', arow=True)\n"
        "reveal_type(prof_analysis.module_stats('x', depth=3))\n"
        "reveal_type(prof_analysis.stage_durations('x'))\n"
        "prof_analysis.open_profile('x', dept=3)\n"
        "prof_analysis.module_stats('x', instances='classes')\n"
    )
    words = ["--strict", "--follow-imports", "silent", "--no-error-summary", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, script],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line.split(": ", 1)[1] for line in done.stdout.splitlines()]
    frame, table = ('note: Revealed type is "pandas.core.frame.DataFrame"', 'note: Revealed type is "pyarrow.Table"')
    figure = 'note: Revealed type is "prof_analysis.pictures.figures.style.OfflineFigure"'
    assert [line for line in said if "Revealed" in line] == [frame, table, table, frame, figure, figure, frame, frame]
    assert [line.partition(" matches ")[0].partition(";")[0] for line in said if line.startswith("error")] == [
        'error: Unexpected keyword argument "arow" for overloaded function "table" of "Profile"',
        'error: No overload variant of "table" of "Profile"',
        'error: Unexpected keyword argument "dept" for "open_profile"',
        'error: Argument "instances" to "module_stats" has incompatible type "str"',
    ]


def test_an_error_carries_the_file_and_the_rank(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, rank=7)
    database.write_bytes(b"no database at all")
    with pytest.warns(ProfAnalysisWarning) as warned, open_profile(tmp_path) as profile, pytest.raises(InputError) as raised:
        profile.kernel_stats()
    assert isinstance(raised.value, ValueError)
    assert (raised.value.path, raised.value.rank_id) == (tmp_path / "a_ascend_pt", 7)
    (warning,) = [one.message for one in warned]
    assert isinstance(warning, ProfAnalysisWarning)
    assert (warning.path, warning.rank_id) == (tmp_path / "a_ascend_pt", 7)


def test_an_error_of_a_folder_carries_its_path(tmp_path: Path) -> None:
    with pytest.raises(InputError) as missing:
        open_profile(tmp_path / "missing")
    assert missing.value.path == tmp_path / "missing"
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    (tmp_path / "file").touch()
    with open_profile(tmp_path) as profile, pytest.raises(OSError, match="cannot be made") as unwritable:
        profile.export(tmp_path / "file")
    assert isinstance(unwritable.value, OutputError)
    assert (unwritable.value.path, str(unwritable.value)[:1]) == (tmp_path / "file" / "cluster_analysis_output", "/")
