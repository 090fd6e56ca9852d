"""A profile that lost links between its rows is answered from what else it holds, or the answer says what share is missing."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from tests.small_profile import edit

EMPTY_LINKS = "DELETE FROM CONNECTION_IDS;"
NO_THREADS = "ALTER TABLE PYTORCH_API DROP COLUMN fwdThreadId;"
NO_NUMBERS = "ALTER TABLE PYTORCH_API DROP COLUMN sequenceNumber;"
NO_PAIRS = "DELETE FROM CONNECTION_IDS WHERE connectionId > 1342177280;"
# What speaks against pairing both ends of the queue by their order.
OTHER_ORDER = "UPDATE STRING_IDS SET value = value || rowid WHERE value GLOB 'Enqueue*';"
NO_QUEUE = "DELETE FROM PYTORCH_API WHERE rowid = (SELECT min(rowid) FROM PYTORCH_API WHERE type = 50002);"

Answer = tuple[dict[tuple[str, str], int], list[str]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    generate(folder, Shape(steps=2, layers=1), ranks=1, style=TextStyle(exports="both"))
    return folder


def answer(folder: Path, source: str = "db") -> Answer:
    """Kernel time of each module, and what was warned of; all kernel time is in the coverage, whatever was lost."""
    with open_profile(folder, source=source) as profile:
        profile.module_stats()
        rows: list[dict[str, Any]] = profile.module_tree(arrow=True).to_pylist()
        coverage = profile.coverage()
        (total,) = profile.sql("SELECT sum(end_ns - start_ns)::BIGINT AS ns FROM trace.kernel")["ns"]
        assert coverage["kernel_duration_ns"].sum() == total
        (statistic,) = profile.sql("SELECT sum(total_ns)::BIGINT AS ns FROM kernel.statistic")["ns"]
        assert statistic == total
        warnings = [warning.partition(": ")[2] for warning in profile.warnings]
        return {(row["parent_module"], row["module"]): row["own_kernel_duration_ns"] for row in rows}, warnings


@pytest.fixture(scope="module")
def expected(whole: Path) -> dict[tuple[str, str], int]:
    modules, warnings = answer(whole)
    assert warnings == []
    assert sum(modules.values()) > 0
    return modules


def damaged(whole: Path, folder: Path, sql: str) -> Path:
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    edit(next(folder.rglob("*.db")), sql)
    return folder


@pytest.mark.filterwarnings("ignore::prof_analysis.errors.ProfAnalysisWarning")
@pytest.mark.parametrize(
    ("sql", "warning"),
    [
        pytest.param(NO_THREADS, [], id="forward threads: the recorded pairs serve"),
        pytest.param(NO_PAIRS, [], id="pairs: the numbers serve, the order pairs the ends of the queue"),
        pytest.param(EMPTY_LINKS, [], id="all links"),
        pytest.param("UPDATE CONNECTION_IDS SET id = 300;", ["CONNECTION_IDS.id"], id="one id for all"),
        pytest.param("UPDATE CONNECTION_IDS SET connectionId = 300;", ["CONNECTION_IDS.connectionId"], id="one link for all"),
        pytest.param("UPDATE PYTORCH_API SET connectionId = 300;", ["PYTORCH_API.connectionId"], id="one group for all"),
        pytest.param("ALTER TABLE CONNECTION_IDS DROP COLUMN connectionId;", [], id="no column of links"),
    ],
)
def test_links_that_are_lost_are_found_by_what_else_the_profile_holds(
    whole: Path, expected: dict[tuple[str, str], int], tmp_path: Path, sql: str, warning: list[str]
) -> None:
    modules, warnings = answer(damaged(whole, tmp_path, sql))
    assert modules == expected
    assert sorted(warnings) == [f"all values of {name} are the same and count as unknown" for name in warning]


@pytest.mark.filterwarnings("ignore::prof_analysis.errors.ProfAnalysisWarning")
@pytest.mark.parametrize("sql", [EMPTY_LINKS + OTHER_ORDER, EMPTY_LINKS + NO_QUEUE])
def test_launches_whose_op_nothing_says_are_said_with_their_share(whole: Path, tmp_path: Path, sql: str) -> None:
    modules, (warning,) = answer(damaged(whole, tmp_path, sql))
    assert sum(modules.values()) == 0
    assert warning.endswith(
        "% of the kernel time links to no op, since the profile lost the links between ops and launches "
        "(CONNECTION_IDS, or flows in trace_view.json); parse it again"
    )
    assert float(warning.partition("%")[0]) > 90


@pytest.mark.filterwarnings("ignore::prof_analysis.errors.ProfAnalysisWarning")
@pytest.mark.parametrize("sql", [NO_THREADS + NO_PAIRS, NO_NUMBERS + NO_PAIRS])
def test_backward_work_without_forward_ops_is_said_with_its_share(
    whole: Path, expected: dict[tuple[str, str], int], tmp_path: Path, sql: str
) -> None:
    modules, (warning,) = answer(damaged(whole, tmp_path, sql))
    assert modules == {names: ns for names, ns in expected.items() if "[Backward]" not in names[1]}
    assert "% of the kernel time is backward work in no module, since the profile does not say its forward ops" in warning
    assert 20 < float(warning.partition("%")[0]) < 80


@pytest.mark.filterwarnings("ignore::prof_analysis.errors.ProfAnalysisWarning")
def test_a_trace_without_flows_is_answered_from_the_intervals_of_its_calls(
    whole: Path, expected: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (trace,) = tmp_path.rglob("trace_view.json")
    events = json.loads(trace.read_text())
    trace.write_text(json.dumps([event for event in events if event.get("cat") not in ("async_npu", "fwdbwd")]))
    assert answer(tmp_path, "text") == (expected, [])
    lost = ("async_npu", "fwdbwd", "enqueue", "dequeue")
    trace.write_text(json.dumps([event for event in events if event.get("cat") not in lost]))
    modules, warnings = answer(tmp_path, "text")
    assert sum(modules.values()) == 0
    assert [warning.partition("%")[2][:28] for warning in warnings] == [" of the kernel time links to"]
