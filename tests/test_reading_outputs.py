"""docs/reading-outputs.md explains each column of each screen, or leads to the table that does, and none that is not there."""

import ast
import re
import warnings
from collections.abc import Callable, Set
from importlib import import_module
from inspect import getsource
from pathlib import Path
from pkgutil import iter_modules

import pytest
from typer.testing import Result

from prof_analysis import ProfAnalysisWarning, analyses, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answering import answer_of
from prof_analysis.engine.tables import documented_tables
from prof_analysis.logs.answer import stage_durations
from prof_analysis.logs.vllm_stages import open_logs
from prof_analysis.verify.answer import answer_of as verified
from prof_analysis.verify.comparing import DIFFERS, Compared, Difference
from prof_analysis.verify.pairs import pairs_of
from prof_analysis.verify.verifying import Verified
from tests.helpers.asking import build_at_once, build_levels
from tests.helpers.places import CHECKOUT, SAMPLE
from tests.helpers.snapshots import MIB, busy_device, snapshot, stack, write

PAGE = CHECKOUT / "docs" / "reading-outputs.md"
RANK = next((SAMPLE / "decoder_training").glob("*_4242_*"))


def explained() -> dict[str, set[str]]:
    """Return the columns that each section of the page explains, and at "" those that it explains for all commands."""
    page = PAGE.read_text(encoding="utf-8").replace("## What holds everywhere", "## ``")
    found = {
        command: in_tables(text)
        for command, text in re.findall(r"^## `(.*?)`\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    }
    guide = (CHECKOUT / "docs" / "advise.md").read_text(encoding="utf-8")
    return found | {"advise": in_tables(guide.partition("## Read a finding\n")[2].partition("\n## ")[0])}


def in_tables(text: str) -> set[str]:
    """Return the columns that tables explain."""
    return {name for cell in re.findall(r"^\| (.+?) \| ", text, re.MULTILINE) for name in cell.split(", ")} - {"Column"}


def columns_of_tables(command: str) -> set[str]:
    """Return the headings that are columns of the tables that the command exports, or to which its section leads."""
    page = PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^## `{command}`\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    linked = re.findall(r"\.\./sql/(\w+)/(\w+)\.sql", section[1]) if section else []
    exported = ANALYSES[command].exports if command in ANALYSES else ()
    return {
        heading
        for table in (*exported, *map(".".join, linked))
        for column in documented_tables()[table].columns
        for heading in headings_of(column.shown_name)
    }


def headings_of(column: str) -> set[str]:
    """Return the headings under which a reader knows a column: its name, without the unit."""
    short = re.sub(r"_(ns|bytes|id|name)$", "", re.sub(r"_count$", "s", column))
    return {name.replace("_", " ") for name in (column, short)} | {
        short.replace("_mhz", " MHz").replace("mfu", "MFU").replace("_", " ")
    }


def program_of(command: str) -> ast.Module:
    """Return the program of an analysis, which also has the columns that the sample lacks."""
    name = command.replace("-", "_")
    files = [f"answers.{name}", *(one.name for one in iter_modules(analyses.__path__) if one.name.startswith(f"{name}_"))]
    return ast.parse("\n".join(getsource(import_module(f"prof_analysis.analyses.{file}")) for file in files))


def headings_in(program: ast.Module) -> set[str]:
    """Return the headings that a program writes: keys of what it gives to table_of() as columns."""
    calls = [node for node in ast.walk(program) if isinstance(node, ast.Call) and ast.unparse(node.func) == "table_of"]
    given: list[ast.AST] = [call.args[2] for call in calls]
    names = {node.id for one in given for node in ast.walk(one) if isinstance(node, ast.Name)}
    for node in ast.walk(program):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if names & set(map(ast.unparse, targets)):
                given.append(node.value)
    dicts = [node for one in given for node in ast.walk(one) if isinstance(node, ast.Dict)]
    entries = [entry for one in dicts for entry in zip(one.keys, one.values, strict=True) if not isinstance(entry[1], ast.Dict)]
    return {key.value for key, _ in entries if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def texts_in(program: ast.Module) -> set[str]:
    """Return the texts of a program; names of arguments are texts of which it makes a dict."""
    constants = {node.value for node in ast.walk(program) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return constants | {node.arg for node in ast.walk(program) if isinstance(node, ast.keyword) and node.arg}


def shown(sample: Path, cache: Path) -> dict[str, set[str]]:
    """Return the columns of each analysis on the sample, with its options."""
    columns: dict[str, set[str]] = {}
    with warnings.catch_warnings(), open_profile(sample, rank_list=[0], cache=cache) as profile:
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        build_at_once(profile, *ANALYSES)
        for command in ANALYSES:
            columns[command] = set(answer_of(profile, command, 5).headers)
        columns["slow-ranks"] |= set(answer_of(profile, "slow-ranks", 5, by="collective").headers)
        columns["module-stats"] |= set(answer_of(profile, "module-stats", 5, by="rank").headers)
        levels_of = {
            "pmu-stats": ("op", "module"),
            "mfu": ("op", "kernel", "rank"),
            "stacks": ("stack",),
            "memory": ("module", "op", "block", "step", "time", "component"),
        }
        for command, levels in levels_of.items():
            for level in levels:
                columns[command] |= set(answer_of(profile, command, 5, by=level).headers)
    return columns


@pytest.fixture(scope="module")
def columns(kept: Path, kept_sample: Path) -> dict[str, set[str]]:
    return shown(kept_sample, kept)


def assert_explains(command: str, columns: set[str], others: Set[str] = frozenset()) -> None:
    """Each column is explained, for this command or for all, or is that of a table which the section names.

    `others` are texts that can be columns where the sample lacks them.
    """
    page = explained()
    shares = {name for name in columns if name.startswith("share of ")}  # The page says of all shares what they are.
    unknown = columns - shares - page.get(command, set()) - page[""] - columns_of_tables(command)
    assert not unknown, f"{command}: nobody explains {unknown}"
    gone = page.get(command, set()) - columns - others
    assert not gone, f"{command}: {gone} are explained, but not shown"


@pytest.mark.parametrize("command", ANALYSES)
def test_each_column_of_an_analysis_is_explained(command: str, columns: dict[str, set[str]]) -> None:
    program = program_of(command)
    assert_explains(command, columns[command] | headings_in(program), texts_in(program) | columns_of_tables(command))


def test_each_column_of_a_memory_snapshot_is_explained(tmp_path: Path) -> None:
    device = busy_device()
    device.oom(MIB, MIB, stack(1))
    with open_profile(write(tmp_path / "snapshot.pickle", snapshot(device))) as profile:
        levels = [level for level, rows in ANALYSES["memory"].rows.items() if not rows.is_listed]
        build_levels(profile, "memory")
        headers = {header for level in levels for header in answer_of(profile, "memory", 5, by=level).headers}
    assert {"call site", "requested", "inactive split", "growth"} <= headers
    assert_explains("memory", headers, explained()["memory"])


def test_each_column_of_stages_is_explained(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("(Worker pid=1) Profile execute duration [Decode]: [forward]:4.14ms\n", encoding="utf-8")
    with open_logs([tmp_path / "log"]) as logs:
        assert_explains("stage-durations", set(stage_durations(logs, 5).headers))


def test_each_column_of_verify_is_explained() -> None:
    (pair,) = pairs_of(["free_analysis"])
    differences = [Difference({}, DIFFERS, {"a": ("1", "2")}, None), Difference({}, DIFFERS, {"a": ("1", "2")}, "known")]
    with open_profile(RANK) as profile:
        answer = verified(profile, Verified([Compared(pair, 1, differences, ["a"], [], [])]), 5)
    assert_explains("verify", set(answer.headers))


def test_each_column_of_ranks_is_explained(command: Callable[..., Result]) -> None:
    message = command("ranks", RANK, "--columns", "?").stderr
    names = message.partition("the columns are ")[2].strip().split(", ")
    assert_explains("ranks", {*names, "run"})  # Of several runs.


def test_what_is_explained_for_all_commands_is_shown_by_some(columns: dict[str, set[str]]) -> None:
    # `ranks` and `stage-durations` show the folder, the run and counts too.
    shown_by_any = set.union(*columns.values(), *map(headings_in, map(program_of, ANALYSES)), {"run", "folder", "count"})
    assert explained()[""] <= shown_by_any
