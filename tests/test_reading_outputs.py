"""docs/reading-outputs.md explains each column of each screen, or leads to the table that does, and none that is not there."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answering import answer_of
from prof_analysis.engine.tables import documented_tables
from prof_analysis.logs.answer import stage_durations
from prof_analysis.logs.vllm_stages import open_logs
from tests.helpers.asking import build_at_once
from tests.helpers.places import CHECKOUT, SAMPLE

PAGE = CHECKOUT / "docs" / "reading-outputs.md"
RANK = next((SAMPLE / "decoder_training").glob("*_4242_*"))
# Columns that the sample does not show: counters that it lacks, the second table where there are layers, a second rank
# that waits, a second run.
NOT_IN_THE_SAMPLE = {
    "pmu-stats": {"aic scalar", "aiv scalar", "mte1", "fixpipe", "aiv mte3", "cube counted", "vector counted"},
    "mfu": {"matrix unit"},
    "layer-stats": {"type", "position", "mean", "median", "p95", "share of layer", "gap before", "kind", "name"},
    "experts": {
        *("rank", "time", "time / mean", "rows", "rows / mean", "experts", "grouped matmuls", "expert group", "step", "place"),
        *("slowest rank", "cost", "slowest", "mean", "most rows / mean", "wait after", "module"),
    },
    "slow-ranks": {
        *("collective", "last", "first", "waited", "by all", "cause", "host", "computing", "idle", "other communication"),
        *("step", "group"),
    },
    "graph-overhead": {"phase", "share of call", "mean", "median", "p95", "max", "calls", "kind", "graph", "profile"},
    "clock": {"type", "of computing", "kernels below", "kernels", "time"},
    "ranks": {"run"},
    "module-stats": {"source line", "share of kernels"},
    "op-stats": {"source line"},
}


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


def assert_explains(command: str, columns: set[str]) -> None:
    """Each column is explained, for this command or for all, or is that of a table which the section names."""
    page = explained()
    shares = {name for name in columns if name.startswith("share of ")}  # The page says of all shares what they are.
    unknown = columns - shares - page.get(command, set()) - page[""] - columns_of_tables(command)
    assert not unknown, f"{command}: nobody explains {unknown}"
    gone = page.get(command, set()) - columns
    assert not gone, f"{command}: {gone} are explained, but not shown"


@pytest.mark.parametrize("command", ANALYSES)
def test_each_column_of_an_analysis_is_explained(command: str, columns: dict[str, set[str]]) -> None:
    assert_explains(command, columns[command] | NOT_IN_THE_SAMPLE.get(command, set()))


def test_each_column_of_stages_is_explained(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("(Worker pid=1) Profile execute duration [Decode]: [forward]:4.14ms\n", encoding="utf-8")
    with open_logs([tmp_path / "log"]) as logs:
        assert_explains("stage-durations", set(stage_durations(logs, 5).headers))


def test_each_column_of_ranks_is_explained(command: Callable[..., Result]) -> None:
    message = command("ranks", RANK, "--columns", "?").stderr
    names = message.partition("the columns are ")[2].strip().split(", ")
    assert_explains("ranks", {*names} | NOT_IN_THE_SAMPLE["ranks"])


def test_what_is_explained_for_all_commands_is_shown_by_some(columns: dict[str, set[str]]) -> None:
    # `ranks` and `stage-durations` show the folder, the run and counts too.
    shown_by_any = set.union(*columns.values(), *NOT_IN_THE_SAMPLE.values(), {"run", "folder", "count"})
    assert explained()[""] <= shown_by_any
