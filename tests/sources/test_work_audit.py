"""What a file holds as work on the device is in the answers, or said to be missing with its rank, rows and time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers import kineto
from tests.helpers.ascend_db import NOW
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, edit, write_chip, write_profile
from tests.sources import test_ascend_text as text

NONE = 4294967295
AUDIT = "SELECT what, place, row_count, duration_ns FROM trace.work_audit WHERE place NOT IN ('kernel', 'copy') ORDER BY ALL"
STEPS = "SELECT rank_id, step_id, computing_ns, communication_ns FROM step.time ORDER BY ALL"
KERNELS = "SELECT rank_id, kind::VARCHAR, sum(duration_ns)::BIGINT FROM trace.kernel GROUP BY ALL ORDER BY ALL"


def asked(path: Path, query: str, command: str = "kernel_stats") -> tuple[list[tuple[Any, ...]], list[str]]:
    """The rows of a query, and the warnings of a command but for ranks that are not here."""
    with open_profile(path) as profile:
        rows = [tuple(row.values()) for row in profile.sql(query, arrow=True).to_pylist()]
        getattr(profile, command)()
        return rows, [one for one in profile.warnings if "of the job" not in one and "lacks table" not in one]


def training(folder: Path, rank: int = 0) -> Path:
    """A step of four kernels on cores of 100 ns each, an operator of 60 ns, and its two transfers of 10 ns each."""
    kernels = [
        Kernel(f"KERNEL_AI{kind}", NOW + at, NOW + at + 100)
        for kind, at in zip(("CORE", "VEC") * 2, (0, 100, 200, 300), strict=True)
    ]
    ops = [Op("aten::mm", NOW - 900 + 10 * n, NOW - 895 + 10 * n, (kernel,)) for n, kernel in enumerate(kernels)]
    ops.append(
        Op("c10d::allreduce_", NOW - 800, NOW - 700, (Kernel("hcom_allReduce_", NOW + 500, NOW + 560, "communication"),))
    )
    transfers = [Kernel("SDMA", NOW + at, NOW + at + 10, "copy", stream=9) for at in (510, 530)]
    return write_profile(folder / f"{rank}_ascend_pt", ops, unlinked=transfers, steps=[(3, NOW - 1000, NOW + 900)], rank=rank)


UNDESCRIBED = ("unknown name, type and shapes", "no row of COMPUTE_TASK_INFO")


def test_kernels_without_a_description_compute_all_the_same(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId IN (0, 1, 2)")
    rows, warnings = asked(tmp_path, KERNELS)
    assert rows == [(0, "communication", 60), (0, "compute", 400)]
    (warning,) = (one for one in warnings if "rows of work" in one)
    assert warning == says("0_ascend_pt", "3 rows of work", "KERNEL_AICORE, KERNEL_AIVEC", "300 ns", "65.2%", *UNDESCRIBED)


@pytest.mark.slow
def test_a_rank_that_lost_the_table_of_its_kernels_computes_like_the_other(tmp_path: Path) -> None:
    edit(training(tmp_path), "DROP TABLE COMPUTE_TASK_INFO")
    training(tmp_path, rank=1)
    rows, warnings = asked(tmp_path, KERNELS, "step_time")
    assert rows == [(rank, kind, ns) for rank in (0, 1) for kind, ns in (("communication", 60), ("compute", 400))]
    assert warnings == [says("0_ascend_pt: 4 rows of work")]


def test_a_rank_with_tasks_on_cores_alone_is_answered(tmp_path: Path) -> None:
    edit(training(tmp_path), "DROP TABLE COMPUTE_TASK_INFO; DROP TABLE COMMUNICATION_OP; DELETE FROM TASK WHERE streamId = 9")
    rows, _ = asked(tmp_path, KERNELS)
    assert rows == [(0, "compute", 400)]


def test_operators_that_are_gone_leave_their_transfers(tmp_path: Path) -> None:
    edit(training(tmp_path), "DROP TABLE COMMUNICATION_OP")
    training(tmp_path, rank=1)
    rows, warnings = asked(tmp_path, AUDIT)
    assert rows == [("SDMA", "communication", 2, 20), ("SDMA", "missing", 2, 20)]
    (warning,) = warnings
    assert warning == says("0_ascend_pt", "2 rows of work", "(SDMA)", "20 ns", "4.8%", "in no answer")


def test_counters_tell_of_kernels_that_are_gone(tmp_path: Path) -> None:
    kernels = [Kernel("KERNEL_AICORE", NOW + 100 * n, NOW + 100 * n + 100, pmu={"cycles": 9.0}) for n in range(10)]
    ops = [Op("aten::mm", NOW - 900 + 10 * n, NOW - 895 + 10 * n, (kernel,)) for n, kernel in enumerate(kernels)]
    path = write_profile(tmp_path / "0_ascend_pt", ops, steps=[(3, NOW - 1000, NOW + 2000)])
    edit(path, "DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId = 4; DELETE FROM TASK WHERE globalTaskId = 4")
    rows, warnings = asked(tmp_path, KERNELS)
    assert rows == [(0, "compute", 900)]
    (warning,) = warnings
    assert warning == says("0_ascend_pt", "10 % of the kernels with counters", "TASK_PMU_INFO", "no task in TASK")


def on_gpu(path: Path, change: Callable[[int, dict[str, Any]], list[dict[str, Any]]] | None = None) -> Path:
    """Two steps of ten ops with a kernel of 100 ns each, a copy each, and changed kernels."""
    events = []
    for number in range(20):
        at = 1_000 * number
        if number % 10 == 0:
            events.append(kineto.event("user_annotation", f"ProfilerStep#{number // 10}", at, at + 9_990))
        events += [
            kineto.op("aten::mm", at + 10, at + 100, number + 1),
            kineto.launch(at + 20, at + 30, number + 1, number + 1),
        ]
        one = json.loads(kineto.kernel("gemm", at + 200, at + 300, number + 1))
        events += [json.dumps(each) for each in (change(number, one) if change else [one])]
        events += [
            kineto.launch(at + 40, at + 50, 100 + number, number + 1, name="cudaMemcpyAsync"),
            kineto.kernel("Memcpy DtoD (Device -> Device)", at + 400, at + 410, 100 + number, category="gpu_memcpy"),
        ]
    return kineto.write_trace(path / "rank0.pt.trace.json", events)


def with_(**keys: Any) -> Callable[[int, dict[str, Any]], list[dict[str, Any]]]:
    """Change these keys of each second kernel, and drop those that are None."""

    def change(number: int, one: dict[str, Any]) -> list[dict[str, Any]]:
        changed = {key: value for key, value in {**one, **keys}.items() if value is not None}
        return [changed if number % 2 else one]

    return change


WHOLE = [(0, "compute", 2000), (0, "copy", 200)]


@pytest.mark.parametrize("keys", quick([{}, {"ph": "B"}, {"cat": None}], 1), ids=("as they are", "begun", "without a category"))
def test_an_event_with_a_duration_is_a_kernel(tmp_path: Path, keys: dict[str, Any]) -> None:
    on_gpu(tmp_path, with_(**keys))
    assert asked(tmp_path, KERNELS) == (WHOLE, [])


def halves(number: int, one: dict[str, Any]) -> list[dict[str, Any]]:
    begin = {**one, "ph": "B"}
    end = {key: one[key] for key in ("cat", "name", "pid", "tid")} | {"ph": "E", "ts": one["ts"] + begin.pop("dur")}
    return [begin, end] if number % 2 else [one]


def of_all_kinds(number: int, one: dict[str, Any]) -> list[dict[str, Any]]:
    """Of ten kernels two are halves, two of a category never seen, two have no name, and two a number in place of it."""
    changes = {1: halves, 3: with_(cat="hpu_op"), 5: with_(name=None), 7: with_(name=5)}
    return changes.get(number % 10, with_())(number, one)


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        pytest.param(
            of_all_kinds,
            [("hpu_op", "missing", 2, 200), ("kernel", "missing", 2, 200), ("kernel", "undescribed", 4, 400)],
            id="all of these",
        ),
        pytest.param(halves, [("kernel", "missing", 10, 1000)], id="begin and end", marks=pytest.mark.slow),
        pytest.param(
            with_(cat="hpu_op"), [("hpu_op", "missing", 10, 1000)], id="a category never seen", marks=pytest.mark.slow
        ),
        pytest.param(with_(name=None), [("kernel", "undescribed", 10, 1000)], id="no name", marks=pytest.mark.slow),
        pytest.param(
            with_(name=5), [("kernel", "undescribed", 10, 1000)], id="a number in place of the name", marks=pytest.mark.slow
        ),
    ],
)
def test_events_that_are_no_kernels_of_known_name_are_counted(tmp_path: Path, change: Any, rows: list[tuple[Any, ...]]) -> None:
    on_gpu(tmp_path, change)
    found, warnings = asked(tmp_path, AUDIT)
    assert found == rows
    assert all(warning.startswith("rank0.pt.trace.json: ") for warning in warnings)
    said = " ".join(warnings)
    assert all(f"{sum(row[2] for row in rows if row[1] == place)} rows" in said for place in {row[1] for row in rows})


def test_a_trace_that_does_not_name_its_job_is_named(tmp_path: Path) -> None:
    for rank in range(2):
        job = {"distributedInfo": {"rank": rank, "world_size": 2, "backend": "nccl"}} if rank else {}
        kineto.write_trace(
            tmp_path / f"rank{rank}.pt.trace.json",
            [kineto.op("aten::mm", 10, 100, 1), kineto.launch(20, 30, 1, 1), kineto.kernel("gemm", 200, 300, 1)],
            {**kineto.HEAD, **job},
        )
    with open_profile(tmp_path) as profile:
        warnings = profile.warnings
    assert [one.partition(":")[0] for one in warnings if "lacks distributedInfo, which 1 of 2 ranks has" in one] == [
        "rank0.pt.trace.json"
    ]


def test_a_rank_that_does_not_describe_its_device_is_named(tmp_path: Path) -> None:
    """What follows from the number of its cores is known of the other ranks alone."""
    for rank in range(2):
        write_chip(training(tmp_path, rank).parents[1], device=rank)
    (alone,) = tmp_path.rglob("info.json.0")
    for _ in range(2):
        with open_profile(tmp_path) as profile:
            found = [one.partition(":")[0] for one in profile.warnings if "lacks info.json, which 1 of 2 ranks has" in one]
        assert found == ([] if alone.exists() else [profile.ranks()["profile"].tolist()[0]])
        alone.unlink(missing_ok=True)


def numbered(value: int | None) -> Callable[[int, dict[str, Any]], list[dict[str, Any]]]:
    """Give all kernels this number of their launch, or none."""

    def change(_: int, one: dict[str, Any]) -> list[dict[str, Any]]:
        args = {**one["args"], "correlation": value}
        return [{**one, "args": {key: kept for key, kept in args.items() if kept is not None}}]

    return change


@pytest.mark.parametrize("value", quick([None, 999, 7], 0), ids=("none", "one that is not there", "one of the recording"))
def test_kernels_that_lost_their_launches_leave_no_steps_without_computing(tmp_path: Path, value: int | None) -> None:
    on_gpu(tmp_path, numbered(value))
    rows, warnings = asked(tmp_path, STEPS, "step_time")
    assert rows == [(0, None, 2000, 0)]
    (warning,) = warnings
    assert warning.startswith("rank0.pt.trace.json: ") and "links to no op" in warning and " kernels, " in warning


@pytest.mark.slow
def test_kernels_from_before_the_recording_have_lost_nothing(tmp_path: Path) -> None:
    """The host is ahead of the device: the first kernels of a stream were launched before, and are not linked."""
    on_gpu(tmp_path, lambda n, one: [one if n > 5 else {**one, "args": {**one["args"], "correlation": 9000 + n}}])
    path = tmp_path / "rank0.pt.trace.json"
    trace = json.loads(path.read_text())
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e["cat"] != "gpu_memcpy" or float(e["ts"]) > 6]
    path.write_text(json.dumps(trace))
    assert asked(tmp_path, STEPS, "step_time")[1] == []


def exported(folder: Path, events: list[dict[str, Any]], details: list[str] | None) -> Path:
    output = folder / "0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events))
    if details is not None:
        (output / "kernel_details.csv").write_text("\n".join([text.HEADER, *details]) + "\n")
    return folder


def events_of(count: int) -> list[dict[str, Any]]:
    events = []
    for n in range(count):
        events += [text.op("aten::mm", 1000 * n, 1000 * n + 90), *text.flow(1000 * n, 1000 * n + 500)]
        events.append(text.task("mm", 1000 * n + 500, 1000 * n + 700, 17 + n, number=n))
    return events


def details_of(count: int) -> list[str]:
    return [text.detail("mm", text.us(1000 * n + 500), "0.2", **{"Task ID": str(n)}) for n in range(count)]


def test_rows_that_kernel_details_lacks_are_kernels_without_shapes(tmp_path: Path) -> None:
    rows, warnings = asked(exported(tmp_path, events_of(6), details_of(3)), AUDIT)
    assert rows == [("AI_CORE", "undescribed", 3, 600)]
    (warning,) = (one for one in warnings if "rows of work" in one)
    assert warning == says("0_ascend_pt", "3 rows of work", "(AI_CORE)", "600 ns", "50.0%", "unknown")


@pytest.mark.slow
def test_kernels_that_only_kernel_details_has_are_said_to_link_to_no_op(tmp_path: Path) -> None:
    events = [event for event in events_of(24) if event["pid"] != text.HARDWARE or float(event["ts"]) < text.BASE_US + 12]
    rows, warnings = asked(
        exported(tmp_path, events, details_of(24)), "SELECT count(*), sum(duration_ns)::BIGINT FROM trace.kernel", "step_time"
    )
    assert rows == [(24, 4800)]
    assert warnings == [says("0_ascend_pt: 50.0% of the kernel time")]


@pytest.mark.parametrize("details", quick([None, 6], 1), ids=("no csv", "with csv"))
def test_tasks_of_another_phase_are_kernels_too(tmp_path: Path, details: int | None) -> None:
    events = [{**event, "ph": "B"} if event["pid"] == text.HARDWARE and event["ph"] == "X" else event for event in events_of(6)]
    exported(tmp_path, events, None if details is None else details_of(details))
    rows, warnings = asked(tmp_path, "SELECT count(*), sum(duration_ns)::BIGINT FROM trace.kernel")
    assert rows == [(6, 1200)]
    assert not any("rows of work" in warning for warning in warnings)


@pytest.mark.slow
def test_transfers_of_no_operator_and_types_never_seen_are_missing(tmp_path: Path) -> None:
    more = [text.task("SDMA", 100 * n, 100 * n + 50, -1, stream=9, core="SDMA") for n in range(4)]
    more += [
        text.task("secret", 3000, 3200, 90, core="QUANTUM_SQE"),
        text.task("EVENT_WAIT", 0, 9000, -1, core="EVENT_WAIT_SQE"),
    ]
    rows, warnings = asked(exported(tmp_path, [*events_of(6), *more], details_of(6)), AUDIT)
    assert rows == [("EVENT_WAIT_SQE", "no work", 1, 9000), ("QUANTUM_SQE", "missing", 1, 200), ("SDMA", "missing", 4, 200)]
    (warning,) = warnings
    assert warning == says("0_ascend_pt", "5 rows of work", "(SDMA, QUANTUM_SQE)", "400 ns", "25.0%", "in no answer")
