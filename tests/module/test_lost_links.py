"""A profile that lost links between its rows is answered from what else it holds, or the answer says what share is missing."""

import json
import shutil
from pathlib import Path

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from prof_analysis.common.options import Source
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import edit

EMPTY_LINKS = "DELETE FROM CONNECTION_IDS;"
NO_THREADS = "ALTER TABLE PYTORCH_API DROP COLUMN fwdThreadId;"
NO_NUMBERS = "ALTER TABLE PYTORCH_API DROP COLUMN sequenceNumber;"
NO_PAIRS = "DELETE FROM CONNECTION_IDS WHERE connectionId > 1342177280;"
# What speaks against pairing both ends of the queue by their order.
OTHER_ORDER = "UPDATE STRING_IDS SET value = value || rowid WHERE value GLOB 'Enqueue*';"
NO_QUEUE = "DELETE FROM PYTORCH_API WHERE rowid = (SELECT min(rowid) FROM PYTORCH_API WHERE type = 50002);"

Answer = tuple[dict[tuple[str, str], int], list[str]]

# What was lost of which other rows say the same, and what is warned of the column.
FOUND_ANYWAY = {
    "nothing": ("", []),
    "forward threads: the recorded pairs serve": (NO_THREADS, []),
    "pairs: the numbers serve, the order pairs the ends of the queue": (NO_PAIRS, []),
    "all links": (EMPTY_LINKS, []),
    "one id for all": ("UPDATE CONNECTION_IDS SET id = 300;", ["CONNECTION_IDS.id"]),
    "one link for all": ("UPDATE CONNECTION_IDS SET connectionId = 300;", ["CONNECTION_IDS.connectionId"]),
    "one group for all": ("UPDATE PYTORCH_API SET connectionId = 300;", ["PYTORCH_API.connectionId"]),
    "no column of links": ("ALTER TABLE CONNECTION_IDS DROP COLUMN connectionId;", []),
}
WITHOUT_OPS = {"links and order": EMPTY_LINKS + OTHER_ORDER, "links and an end of the queue": EMPTY_LINKS + NO_QUEUE}
WITHOUT_FORWARD_OPS = {"threads and pairs": NO_THREADS + NO_PAIRS, "numbers and pairs": NO_NUMBERS + NO_PAIRS}

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    generate(folder, Shape(steps=2, layers=1), ranks=1, style=TextStyle(exports="both"))
    return folder


def answers(path: Path, source: Source = "db") -> dict[str, Answer]:
    """Kernel time of each module, and what was warned of, by folder; all kernel time is in the coverage, whatever was lost."""
    with open_profile(path, source=source) as profile:
        build_at_once(profile, "module-stats", "trace.kernel", "kernels.statistic")
        profile.module_stats()
        modules: dict[str, dict[tuple[str, str], int]] = {folder.name: {} for folder in path.iterdir()}
        for row in arrow_of(profile.module_tree()).to_pylist():
            modules[row["profile"].partition("/")[0]][row["parent_module"], row["module"]] = row["own_kernel_duration_ns"]
        sums = "SELECT profile, sum({})::BIGINT AS ns FROM {} GROUP BY profile ORDER BY profile"
        total = profile.rows(sums.format("end_ns - start_ns", "trace.kernel"))
        assert len(total) == len(modules)
        assert profile.rows(sums.format("kernel_duration_ns", "module.coverage")) == total
        assert profile.rows(sums.format("total_ns", "kernels.statistic")) == total
        warnings = [warning.partition(": ")[::2] for warning in profile.warnings]
        return {name: (modules[name], [text for place, text in warnings if f"{name}/" in place]) for name in modules}


@pytest.fixture(scope="module")
def found(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """The answers of the database with what each case lost."""
    folder = tmp_path_factory.mktemp("damaged")
    cases = {name: sql for name, (sql, _) in FOUND_ANYWAY.items()} | WITHOUT_OPS | WITHOUT_FORWARD_OPS
    for number, sql in enumerate(cases.values()):
        shutil.copytree(whole, folder / f"case_{number:02}", ignore=shutil.ignore_patterns("trace_view.json"))
        edit(next((folder / f"case_{number:02}").rglob("*.db")), sql)
    by_number = answers(folder)
    return {name: by_number[f"case_{number:02}"] for number, name in enumerate(cases)}


@pytest.fixture(scope="module")
def expected(whole: Path) -> dict[tuple[str, str], int]:
    ((modules, warnings),) = answers(whole).values()
    assert warnings == []
    assert sum(modules.values()) > 0
    return modules


@pytest.mark.parametrize("case", FOUND_ANYWAY)
@pytest.mark.slow
def test_links_that_are_lost_are_found_by_what_else_the_profile_holds(
    found: dict[str, Answer], expected: dict[tuple[str, str], int], case: str
) -> None:
    modules, warnings = found[case]
    assert modules == expected
    assert sorted(warnings) == [says(f"all values of {name}", "the same", "unknown") for name in FOUND_ANYWAY[case][1]]


@pytest.mark.parametrize("case", WITHOUT_OPS)
@pytest.mark.slow
def test_launches_whose_op_nothing_says_are_said_with_their_share(found: dict[str, Answer], case: str) -> None:
    modules, (warning,) = found[case]
    assert sum(modules.values()) == 0
    assert warning == says(
        "% of the kernel time", "links to no op", "lost the links", "CONNECTION_IDS", "trace_view.json", "parse it again"
    )
    assert float(warning.partition("%")[0]) > 90


@pytest.mark.parametrize("case", WITHOUT_FORWARD_OPS)
@pytest.mark.slow
def test_backward_work_without_forward_ops_is_said_with_its_share(
    found: dict[str, Answer], expected: dict[tuple[str, str], int], case: str
) -> None:
    modules, (warning,) = found[case]
    assert modules == {names: ns for names, ns in expected.items() if "[Backward]" not in names[1]}
    assert warning == says("% of the kernel time", "backward work in no module", "forward ops are unknown")
    assert 20 < float(warning.partition("%")[0]) < 80


@pytest.mark.slow
def test_a_trace_without_flows_is_answered_from_the_intervals_of_its_calls(
    whole: Path, expected: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    flows, ends = ["async_npu", "fwdbwd"], ["enqueue", "dequeue"]
    for name, lost in {"flows": flows, "flows and queue": flows + ends}.items():
        shutil.copytree(whole, tmp_path / name)
        (trace,) = (tmp_path / name).rglob("trace_view.json")
        trace.write_text(json.dumps([event for event in json.loads(trace.read_text()) if event.get("cat") not in lost]))
    found = answers(tmp_path, "text")
    assert found["flows"] == (expected, [])
    modules, warnings = found["flows and queue"]
    assert sum(modules.values()) == 0
    (warning,) = warnings
    assert "% of the kernel time (" in warning
    assert "links to no op" in warning
