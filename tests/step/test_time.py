"""Step times: every column of small profiles, the figures of real ones, and parts that add up."""

import csv
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import ProfAnalysisWarning, Profile, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, edit, write_profile
from tests.helpers.turns import turns_of

COLUMNS = [
    *("profile", "rank_id", "step_id", "computing_ns", "communication_ns", "communication_not_overlapped_ns", "overlapped_ns"),
    *("free_ns", "stage_ns", "bubble_ns", "preparing_ns", "origin", "reason", "copying_not_overlapped_ns"),
    *("host_ns", "idle_before_ns", "kernel_count"),
]
NO_STEP = says("kernels of no step", "launch is not known", "outside every step")


NAMES = {"compute": "MatMul", "reduce": "hcom_allReduce_", "receive": "hcom_receive_"}


def kind_of(name: str) -> str:
    return "compute" if name == "compute" else "communication"


def rows(table: Any) -> list[tuple[Any, ...]]:
    """Rows without their profile, and without the time of copies, which are no kernels on Ascend."""
    found = table.to_pylist()
    assert all(row.pop("copying_not_overlapped_ns", 0) in (0, None) for row in found)
    return [tuple(row.values())[1:] for row in found]


def operator(name: str, start: int, end: int) -> Kernel:
    return Kernel(name, start, end, "communication")


def holds_identities(profile: Profile) -> bool:
    """Whether all parts of all steps add up."""
    return holds_identities_within(profile, 0)


def holds_identities_within(profile: Profile, rounding_ns: int) -> bool:
    """The same where the profiler has rounded so much."""
    (row,) = profile.sql(
        f"""
        SELECT count(*) > 0 AND bool_and(
            communication_not_overlapped_ns + overlapped_ns = communication_ns
            AND coalesce(
                abs(stage_ns + bubble_ns - computing_ns - communication_not_overlapped_ns - free_ns) <= {rounding_ns},
                stage_ns IS NULL
            )
            AND least(computing_ns, overlapped_ns, communication_not_overlapped_ns, bubble_ns) >= 0
            AND bubble_ns <= communication_ns
            AND coalesce(free_ns >= 0 AND stage_ns >= 0, stage_ns IS NULL)
        ) AS holds
        FROM step.time
        """,
        arrow=True,
    ).to_pylist()
    return bool(row["holds"])


OVERLAP = (
    "a_ascend_pt: 1 step begins on the device before an earlier one has ended there, by 300 ns at most: each moment counts for "
    "one step, the one that ends first, with all that then runs"
)


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks: three steps whose kernels run behind the next step's begin on the host, and a profile without any step.

    Step 8 runs on the device inside step 7.

    Step 7: compute 1000..1100 with one inside and one that touches, 1500..1600; communication 1050..1200 and 1150..1250.
    Step 8: receives 1300..1400 and 1350..1450, of which a compute kernel overlaps 1440..1490; a helper counts nowhere.
    Step 9: no kernel. Of no step: one kernel of an op before all steps, one that no op launched.
    """
    folder = tmp_path_factory.mktemp("steps") / "two"
    ops = [
        Op("ProfilerStep#7", 100, 200),
        Op("aten::mm", 110, 120, (Kernel("a", 1000, 1060), Kernel("b", 1010, 1020), Kernel("c", 1060, 1100))),
        Op("reduce", 130, 140, (operator("hcom_allReduce_", 1050, 1200), operator("hcom_allReduce_", 1150, 1250))),
        Op("aten::add", 199, 230, (Kernel("d", 1500, 1600),)),
        Op("recv", 200, 210, (operator("hcom_receive_", 1300, 1400), operator("hcom_receive_", 1350, 1450))),
        Op("aten::mm", 220, 230, (Kernel("e", 1440, 1490), Kernel("helper", 1, 9, "schedule")), tid=2),
        Op("early", 50, 130, (Kernel("f", 900, 910),)),
    ]
    unlinked = [Kernel("lost", 930, 935), Kernel("lost", 905, 920)]
    write_profile(folder / "a_ascend_pt", ops, steps=[(7, 100, 200), (8, 200, 300), (9, 300, 400)], unlinked=unlinked)
    write_profile(
        folder / "b_ascend_pt", [Op("aten::mm", 110, 120, (Kernel("a", 1000, 1060), Kernel("b", 1100, 1120)))], rank=1
    )
    return folder


def test_step_times_in_every_column(steps: Path) -> None:
    with open_profile(steps) as profile:
        found = arrow_of(profile.step_time())
        assert profile.warnings == [OVERLAP]
        assert holds_identities(profile)
    assert found.column_names == COLUMNS
    assert rows(found) == [
        (0, 7, 200, 200, 150, 50, 60, 410, 0, 900, "kernels", None, 100, None, 6),
        (0, 8, 50, 150, 140, 10, 0, 40, 150, 1100, "kernels", None, 100, 0, 3),
        (0, None, 25, 0, 0, 0, None, None, 0, None, "kernels", NO_STEP, None, None, 3),
        (1, None, 80, 0, 0, 0, 40, 120, 0, 890, "kernels", None, None, None, 2),
    ]


@pytest.mark.slow
def test_step_times_are_those_of_sets_of_nanoseconds(tmp_path: Path) -> None:
    rng = random.Random(1)
    times: dict[tuple[int, str], list[tuple[int, int]]] = {(step, kind): [] for step in (1, 2) for kind in NAMES}
    for (step, _), kernels in times.items():
        starts = [rng.randrange(1000 * step, 1000 * step + 1500) for _ in range(20)]
        kernels += [(start, start + rng.randrange(60)) for start in starts]
    made = {key: [Kernel(NAMES[key[1]], *time, kind=kind_of(key[1])) for time in kernels] for key, kernels in times.items()}
    ops = [Op("op", 100 * step, 100 * step + 10, tuple(kernels)) for (step, _), kernels in made.items()]
    write_profile(tmp_path / "a_ascend_pt", ops, steps=[(1, 50, 150), (2, 150, 250)])
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.step_time())
        assert holds_identities(profile)

    def moments(*kinds: str) -> set[int]:
        return {moment for step in (1, 2) for kind in kinds for start, end in times[step, kind] for moment in range(start, end)}

    turns = turns_of(
        {step: [time for (one, _), kernels in times.items() if one == step for time in kernels] for step in (1, 2)}
    )
    for step, row in enumerate(rows(found), 1):
        computing, receiving = moments("compute") & turns[step], moments("receive") & turns[step]
        communication = moments("reduce", "receive") & turns[step]
        first = min(start for kind in NAMES for start, _ in times[step, kind])
        assert row == (
            *(0, step, len(computing), len(communication), len(communication - computing), len(communication & computing)),
            *(len(turns[step] - communication - computing), len(turns[step]) - len(receiving), len(receiving)),
            *(first - 100 * step + 50, "kernels", None, 100, 0 if step == 2 else None, 60),
        )


@pytest.mark.slow
def test_one_step_is_the_row_of_that_step(steps: Path, tmp_path: Path, command: Callable[..., Result]) -> None:
    result = command("step_time", "-d", steps, "-o", tmp_path, "--step_id", "8", "--json")
    answer = json.loads(result.stdout)
    assert answer["warnings"] == [OVERLAP, "b_ascend_pt: no kernels in step 8"]
    assert answer["summary"]["longest_steps"] == [
        dict(
            zip(
                COLUMNS,
                ("a_ascend_pt", 0, 8, 50, 150, 140, 10, 0, 40, 150, 1100, "kernels", None, 0, 100, None, 3),
                strict=True,
            )
        )
    ]
    assert answer["summary"]["all"]["free_ns"] == 0
    with closing(sqlite3.connect(answer["files"][0])) as database:
        cursor = database.execute("SELECT * FROM StepTime")
        assert [column[0] for column in cursor.description] == COLUMNS
        assert cursor.fetchall() == [
            ("a_ascend_pt", 0, 8, 50, 150, 140, 10, 0, 40, 150, 1100, "kernels", None, 0, 100, None, 3)
        ]


def test_the_summary_shows_the_longest_steps_and_their_parts(
    steps: Path, tmp_path: Path, command: Callable[..., Result]
) -> None:
    shown = command("step-time", "-d", steps, "-o", tmp_path, "--export_type", "csv", "--top", "2").stdout
    assert [" ".join(line.split()) for line in shown.splitlines()[1:]] == [
        "7 0 410 ns 200 ns (48.8%) 150 ns (36.6%) 60 ns (14.6%) 50 ns (12.2%) 0 ns (0.0%) 900 ns 100 ns a_ascend_pt",
        "8 0 40 ns 50 ns (26.3%) 140 ns (73.7%) 0 ns (0.0%) 10 ns (5.3%) 150 ns (78.9%) 1.10 us 100 ns a_ascend_pt",
        "",
        "type purpose ranks operators communication covered alone group",
        "hcom_allReduce_ - 1 2 200 ns 50 ns (25.0%) 150 ns -",
        "hcom_receive_ - 1 2 150 ns 10 ns (6.7%) 140 ns -",
        "",
        says("computing 330 ns (45.8%)", "not overlapped 290 ns (40.3%)", "free 100 ns (13.9%)", "2 ranks"),
        says("2 steps (all above)", "median 190 ns", "p95 410 ns", "max 410 ns"),
        says("not included", "3 kernels of no step", "25 ns (7.0% of all computing)"),
        "",
        *(f"wrote {tmp_path / 'cluster_analysis_output' / f'step_{name}.csv'}" for name in ("time", "communication", "copy")),
    ]


@pytest.mark.slow
def test_idle_time_between_steps_is_part_of_none(tmp_path: Path) -> None:
    """The device is idle from 1100 to 2000 but for two kernels of no step, 1090 to 1200 and 1950 to 2050."""
    ops = [
        Op("aten::mm", 110, 120, (Kernel("a", 1000, 1100),)),
        Op("aten::mm", 210, 220, (Kernel("b", 2000, 2100), Kernel("c", 2300, 2400))),
        Op("aten::mm", 310, 320, (Kernel("d", 2400, 2500),)),
    ]
    unlinked = [Kernel("lost", *time) for time in ((900, 950), (1090, 1200), (1950, 2050), (2600, 2700))]
    begun = [(1, 100, 200), (2, 200, 300), (3, 300, 400)]
    write_profile(tmp_path / "a_ascend_pt", ops, steps=begun, unlinked=unlinked)
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT step_id, stage_ns, idle_before_ns, kernel_count FROM step.time")
        (whole,) = profile.rows("SELECT step_count, duration_ns, step_ns, between_ns, host_ns FROM across.rank_step")
        between = "SELECT sum(total_ns)::BIGINT AS ns FROM free.cause_of_op WHERE is_between_steps"
        assert profile.rows(between) == [{"ns": 750}]
    assert [tuple(row.values()) for row in found] == [
        *((1, 100, None, 1), (2, 400, 750, 2), (3, 100, 0, 1), (None, None, None, 4)),
    ]
    assert tuple(whole.values()) == (3, 1350, 600, 750, 300)
    with open_profile(tmp_path, step_id=2) as profile:
        assert [row["idle_before_ns"] for row in profile.rows("FROM step.time")] == [None]


def test_an_overlap_analysis_that_says_something_else_is_told(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "a_ascend_pt", [Op("aten::mm", 1, 2, (Kernel("a", 1000, 1060), Kernel("b", 1100, 1120)))])
    table = "CREATE TABLE OVERLAP_ANALYSIS (id INTEGER, deviceId INTEGER, startNs NUMERIC, endNs NUMERIC, type INTEGER);"
    edit(path, f"{table} INSERT INTO OVERLAP_ANALYSIS VALUES (1, 0, 1000, 1077, 0), (2, 0, 1060, 1098, 3), (3, 0, 1, 2, 2)")
    with pytest.warns(ProfAnalysisWarning), open_profile(tmp_path) as profile:
        profile.step_time()
        assert profile.warnings == [says("a_ascend_pt: ", "Overlap Analysis", "computing 77 ns", "kernels give 80 ns")]
        audit = profile.table("step.overlap_audit", arrow=True)
    assert [row[1:] for row in rows(audit)] == [
        ("computing", 1, 77, 80, -3, False),
        ("communication_not_overlapped", 1, 1, 0, 1, True),
        ("free", 1, 38, 40, -2, True),
    ]


PARTS = ("computing", "communication", "communication_not_overlapped", "overlapped", "free", "stage", "bubble", "preparing")


@pytest.mark.slow
def test_step_times_of_alexnet_are_those_of_the_profiler_to_the_nanosecond(realdata: Path) -> None:
    folder = realdata / "alexnet_ddp_910b" / "db"
    with open_profile(folder) as profile:
        found = arrow_of(profile.step_time()).to_pylist()
        assert holds_identities(profile)
        assert [
            warning for warning in profile.warnings if "holds 2 runs" not in warning and "2 of at least 8 ranks" not in warning
        ] == []
    assert len(found) == 4
    for row in found:
        file = folder / row["profile"] / "ASCEND_PROFILER_OUTPUT" / "analysis.db"
        with closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as database:
            (expected,) = database.execute(f"SELECT step, {', '.join(PARTS)} FROM StepTraceTime").fetchall()
        assert row["step_id"] == int(expected[0])
        assert [row[f"{part}_ns"] for part in PARTS] == [round(1000 * us) for us in expected[1:]]


@pytest.mark.slow
def test_step_times_of_alexnet_out_of_text(realdata: Path) -> None:
    folder = realdata / "alexnet_ddp_910b" / "text"
    with open_profile(folder) as profile:
        found = arrow_of(profile.step_time()).to_pylist()
        audit = profile.table("step.overlap_audit", arrow=True).to_pylist()
        assert holds_identities(profile)
        assert [warning for warning in profile.warnings if "holds 2 runs" not in warning] == []
    assert len(found) == 4
    for row in found:
        with (folder / row["profile"] / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").open(newline="") as file:
            (line,) = csv.DictReader(file)
        written = {name: round(1000 * float(value)) for name, value in line.items() if name != "Step"}
        names = dict(zip(PARTS[:3], ("Computing", "Communication", "Communication(Not Overlapped)"), strict=True)) | {
            "free": "Free"
        }
        analysis = {one["kind"]: one["recorded_ns"] for one in audit if one["profile"] == row["profile"]}
        assert analysis == {kind: written[name] for kind, name in names.items()}
        assert analysis["communication"] - analysis["communication_not_overlapped"] == written["Overlapped"]
        for part, name in {**names, "overlapped": "Overlapped"}.items():
            assert abs(row[f"{part}_ns"] - written[name]) < 30, part
        for part in ("stage", "preparing"):
            assert abs(row[f"{part}_ns"] - written[part.capitalize()]) <= 250, part
        assert (row["step_id"], row["bubble_ns"]) == (50, 0)


@pytest.mark.slow
def test_ranks_of_which_only_the_figures_of_the_profiler_are_left_are_in_the_answer(realdata: Path) -> None:
    folder = realdata / "qwen3_0.6b_pp2dp2_910b"
    with open_profile(folder) as profile:
        build_at_once(profile, "step-time", "communication-stats", "communication.rank_time")
        found = arrow_of(profile.step_time())
        operators = arrow_of(profile.communication_stats()).to_pylist()
        splits = profile.sql("FROM communication.rank_time", arrow=True).to_pylist()
        assert holds_identities_within(profile, 250)
        assert profile.warnings == []
    reason = says("preparing", "(step_trace_time.csv)", "does not say when the host began")
    of_kernels, of_profiler = ("kernels", reason, None, None), ("profiler", *[None] * 4)
    # Each row of kernel_details.csv is a kernel of the step.
    assert rows(found) == [
        (0, 13, 231_290_100, 420_174_260, 420_174_260, 0, 158_558_000, 810_022_360, 0, 206_250, *of_kernels, 2463),
        (1, 13, 230_903_720, 441_708_380, 441_708_380, 0, 136_819_560, 809_431_750, 0, 205_000, *of_profiler),
        (2, 13, 400_448_260, 277_649_660, 277_649_660, 0, 131_705_280, 809_803_200, 0, 189_000, *of_kernels, 2587),
        (3, 13, 401_131_700, 261_498_440, 261_498_440, 0, 147_520_200, 810_150_250, 0, 278_750, *of_profiler),
    ]
    assert [(row["rank_id"], row["op_count"], row["elapse_ns"]) for row in splits] == [
        (rank, sum(row["op_count"] for row in of_rank), sum(row["total_ns"] for row in of_rank))
        for rank in range(4)
        if (of_rank := [row for row in operators if row["rank_id"] == rank])
    ]
    assert {(row["rank_id"], row["origin"]) for row in operators} == {
        (0, "kernels"), (1, "profiler"), (2, "kernels"), (3, "profiler")
    }  # fmt: skip


@pytest.mark.slow
def test_a_rank_that_does_not_communicate_shows_idle_time_in_its_place(tmp_path: Path, command: Callable[..., Result]) -> None:
    """With the name of a GPU trace as rank, 80 columns have no room for both."""
    write_profile(tmp_path / "a_ascend_pt", [Op("aten::mm", 0, 5, (Kernel("MatMul", 10, 20), Kernel("MatMul", 30, 40)))])
    shown = command("step-time", tmp_path, "--columns", "?").stderr
    assert "step, rank, time, computing, free, preparing, host, folder" in shown
    assert "communication not overlapped 0 ns" in command("step-time", tmp_path).stdout
