"""The advisor of msprof-analyze beside `advise`: each of its checkers, and what both find on the same real profiles."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from prof_analysis import open_profile
from prof_analysis.engine.tables import documented_tables
from tests.helpers.peer import run_advisor
from tests.helpers.places import CHECKOUT

PAGES = [CHECKOUT / "docs" / "from-msprof-analyze.md", CHECKOUT / "docs" / "zh" / "from-msprof-analyze.md"]


def rows_of(page: Path) -> dict[str, list[str]]:
    """Return the checkers that the page has rows for, each with the rules in its row."""
    table = (
        page.read_text(encoding="utf-8").partition("## Advisor\n")[2].partition("|---|---|---|---|\n")[2].partition("\n\n")[0]
    )
    cells = [row.split(" | ") for row in table.splitlines()]
    return {row[0].strip("| `"): re.findall(r"(?<!\[)`(\w+)`", row[2]) for row in cells}


@pytest.mark.parametrize("page", PAGES, ids=["English", "Chinese"])
def test_every_checker_has_a_row_and_every_rule_in_it_exists(page: Path) -> None:
    if find_spec("msprof_analyze") is None:
        pytest.skip("msprof-analyze is not installed beside this Python (pip install -e '.[dev]' has it)")
    scopes = vars(import_module("msprof_analyze.advisor.common.analyzer_scopes").SupportedScopes)
    rows = rows_of(page)
    assert set(rows) == {scope for name, scope in scopes.items() if name.isupper()}
    assert {f"advice.{rule}" for rules in rows.values() for rule in rules} <= documented_tables().keys()
    assert [checker for checker, rules in rows.items() if not rules] == ["over_all", "graph", "comparison"]


# What the advisor finds: the rule that finds it too; in brackets one that judges it, and finds that nothing can be won, or less
# than half a percent of the step. An empty text: no defect, for the reason that docs/from-msprof-analyze.md has.
ON_910A = {
    "slow rank": "slow_rank",
    "slow link": "",
    "Byte Alignment Analysis": "",
    "Packet Analysis": "small_messages",
    "RANK 0 aicpu issues": "[ai_cpu]",
    "RANK 0 operator dynamic shape issues": "compiling_launches",
    "Api compare of Rank0 Step50 and Rank1 Step50": "",
    "Affinity API Issues": "",
    "Operator Dispatch Issues": "compiling_launches",
}
ON_910B = {
    "slow rank": "",
    "slow link": "",
    "Byte Alignment Analysis": "[byte_alignment]",
    "Vector Operator Perf Analysis": "memory_bound",
    "RANK 0 block dim issues": "[block_dim]",
    "RANK 0 operator no bound issues": "[no_bound]",
    "Affinity API Issues": "unfused_chain",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profiles", "expected"), [("alexnet_ddp_910a/text/level1", ON_910A), ("alexnet_ddp_910b_mstx", ON_910B)]
)
def test_what_the_advisor_finds_a_rule_finds_or_judges(
    profiles: str, expected: dict[str, str], realdata: Path, tmp_path: Path
) -> None:
    theirs = dict(run_advisor(realdata / profiles, tmp_path))
    assert theirs.keys() == expected.keys()
    with open_profile(realdata / profiles) as profile:
        ours = {row["rule"] for row in profile.rows("SELECT DISTINCT rule FROM advice.finding")}
        judged = {row["rule"] for row in profile.rows("SELECT DISTINCT rule FROM advice.finding_of_rank")}
    rules = set(expected.values()) - {""}
    assert {rule for rule in rules if not rule.startswith("[")} <= ours
    of_less = {rule.strip("[]") for rule in rules if rule.startswith("[")}
    assert (of_less & ours, of_less - judged) == (set(), set())


@pytest.mark.slow
def test_calls_that_compile_are_counted_as_the_advisor_counts_them(realdata: Path, tmp_path: Path) -> None:
    profiles = realdata / "alexnet_ddp_910a" / "text" / "level1"
    theirs = dict(run_advisor(profiles, tmp_path))["Operator Dispatch Issues"]
    with open_profile(profiles) as profile:
        ours = profile.rows("SELECT count FROM advice.compiling_launches WHERE rank_id = 0")
    assert theirs == f"Found {ours[0]['count']} operator compile issues."
