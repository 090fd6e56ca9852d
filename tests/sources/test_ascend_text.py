"""The trace tables out of trace_view.json and kernel_details.csv, to the nanosecond, whatever one of the files lacks."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import ProfAnalysisWarning, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.empty_database import empty_database
from tests.helpers.says import says

Rows = list[dict[str, Any]]
Event = dict[str, Any]

PID = 100
"""The process of the ops; the layers on the device have a number made of it."""
HARDWARE = (PID << 10) | (14 << 5) | 3
COMMUNICATION = (PID << 10) | (16 << 5) | 3
CANN = (PID << 10) | (7 << 5) | 31
BASE_US = 1736408883688000
BASE_NS = BASE_US * 1000

HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Num,Mix Block Num,"
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
)


def us(offset_ns: int) -> str:
    """A time as the profiler writes it, with three decimals."""
    time_ns = BASE_NS + offset_ns
    return f"{time_ns // 1000}.{time_ns % 1000:03}"


def op(name: str, start: int, end: int, tid: int = 1, **more: Any) -> Event:
    return {
        "ph": "X", "name": name, "pid": PID, "tid": tid, "ts": us(start), "dur": (end - start) / 1000, "cat": "cpu_op",
        "args": {"Sequence number": -1, "Fwd thread id": 0} | more,
    }  # fmt: skip


def task(name: str, start: int, end: int, connection: int, stream: int = 2, core: str = "AI_CORE", number: int = 7) -> Event:
    arguments = {"Model Id": 4294967295, "Task Type": core, "Physic Stream Id": stream, "Task Id": number}
    arguments["connection_id"] = connection
    place = {"pid": HARDWARE, "tid": stream}
    return {"ph": "X", "name": name, **place, "ts": us(start), "dur": (end - start) / 1000, "args": arguments}


def communication(name: str, start: int, end: int, connection: int) -> Event:
    arguments = {"connection_id": connection, "alg_type": "MESH"}
    return {
        "ph": "X", "name": name, "pid": COMMUNICATION, "tid": 0, "ts": us(start), "dur": (end - start) / 1000, "args": arguments
    }  # fmt: skip


def flow(op_start: int, task_start: int, tid: int = 1, stream: int = 2, layer: int = HARDWARE) -> list[Event]:
    """From an op to a task."""
    common = {"name": "torch_to_npu", "id": BASE_NS + task_start, "cat": "async_npu"}
    begin = {"ph": "s", **common, "pid": PID, "tid": tid, "ts": us(op_start)}
    return [begin, {"ph": "f", **common, "pid": layer, "tid": stream, "ts": us(task_start)}]


def detail(name: str, start: str, duration: str, core: str = "AI_CORE", **more: str) -> str:
    """A line of kernel_details.csv."""
    cells = {
        "Device_id": "3", "Model ID": "4294967295", "Task ID": "7", "Stream ID": "2", "Name": name, "Type": "MatMulV3",
        "Accelerator Core": core, "Start Time(us)": f"{start}\t", "Duration(us)": duration, "Block Num": "20",
        "Mix Block Num": "0", "Input Shapes": '"""16,16"""', "Input Data Types": "FLOAT16", "Input Formats": "ND",
        "Output Shapes": "N/A", "Output Data Types": "N/A", "Output Formats": "N/A",
    }  # fmt: skip
    return ",".join({**cells, **more}.values())


def tables_of(
    folder: Path, events: Iterable[Event] | str | None, details: Iterable[str] | None, *names: str
) -> tuple[list[Rows], list[str]]:
    """Tables of a folder with these files, without its name, and the warnings."""
    output = folder / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    if events is not None:
        content = events if isinstance(events, str) else json.dumps(list(events))
        (output / "trace_view.json").write_text(content, encoding="utf-8")
    if details is not None:
        (output / "kernel_details.csv").write_text("\r\n".join([HEADER, *details, ""]), encoding="utf-8", newline="")
    with open_profile(folder) as profile:
        build_at_once(profile, *names, "trace.set_aside")
        tables = [profile.table(name, arrow=True).drop_columns(["profile", "rank_id"]).to_pylist() for name in names]
        assert profile.failures == []
        return tables, profile.warnings


def brief(rows: Rows, *columns: str) -> list[tuple[Any, ...]]:
    """These columns of rows in the order of their values, times from the base."""
    values = [[row[c] - BASE_NS if c.endswith("_ns") and row[c] is not None else row[c] for c in columns] for row in rows]
    return sorted(map(tuple, values), key=repr)


def test_a_kernel_of_both_files_is_one_with_the_facts_of_both(tmp_path: Path) -> None:
    events = [op("aten::mm", 100, 900), *flow(100, 5001), task("mm_kernel", 5001, 6234, 17)]
    details = [detail("mm_kernel", us(5001), "1.233")]
    (kernels, links), warnings = tables_of(tmp_path, events, details, "trace.kernel", "trace.op_link")
    assert warnings == []
    assert kernels == [
        {
            "kernel_id": kernels[0]["kernel_id"],
            "kind": "compute",
            "name": "mm_kernel",
            "type": "MatMulV3",
            "type_from": "profile",
            "core": "AI_CORE",
            "device_id": 3,
            "stream_id": 2,
            "task_id": 7,
            "model_id": None,
            "start_ns": BASE_NS + 5001,
            "end_ns": BASE_NS + 6234,
            "step_id": None,
            "launch_id": 17,
            "block_num": 20,
            "mix_block_num": 0,
            "input_shapes": '"16,16"',
            "input_types": "FLOAT16",
            "input_formats": "ND",
            "output_shapes": None,
            "output_types": None,
            "output_formats": None,
            "pmu_id": 1,
            "hf32_eligible": None,
            "duration_ns": 1233,
            "direction": None,
            "engine": "matrix",
            "fp32_as": None,
        }
    ]
    assert brief(links, "launch_id") == [(17,)]


def test_ops_ranges_and_hand_overs_to_the_nanosecond(tmp_path: Path) -> None:
    shapes: dict[str, Any] = {"Input Dims": "16,16;\r\n16,16", "Input type": "float;\r\nfloat", "Sequence number": 5}
    queue = {"ph": "X", "pid": PID, "args": {"correlation_id": 9}}
    events = [
        op("ProfilerStep#12", 0, 1000),
        op("aten::mm", 101, 203, **shapes),
        {**queue, "name": "Enqueue@mm", "cat": "enqueue", "tid": 1, "ts": us(150), "dur": 0.02},
        {**queue, "name": "Dequeue@mm", "cat": "dequeue", "tid": 5, "ts": us(180), "dur": 0.0301},
        {"ph": "X", "name": "nn.Module: Linear_0", "pid": PID, "tid": 1, "ts": us(90), "dur": 0.5, "cat": "python_function"},
        {"ph": "X", "name": "main.py(3): f", "pid": PID, "tid": 1, "ts": us(80), "dur": 0.9, "cat": "python_function"},
        {
            "ph": "X", "name": "Net", "pid": (PID << 10) | (6 << 5) | 31, "tid": 1, "ts": us(95), "dur": 0.4,
            "args": {"event_type": "start/end", "domain": "Module"},
        },
        {
            "ph": "X", "name": "launch", "pid": CANN, "tid": 5, "ts": us(185), "dur": 0.004,
            "args": {"level": "node", "connection_id": 17},
        },
    ]  # fmt: skip
    names = ("trace.op", "trace.queue", "trace.range", "trace.launch", "trace.step")
    (ops, queues, ranges, launches, steps), warnings = tables_of(tmp_path, events, None, *names)
    thread = PID << 32
    assert warnings == []
    assert brief(ops, "name", "tid", "start_ns", "end_ns", "is_step", "sequence_number", "input_shapes", "input_types") == [
        ("ProfilerStep#12", thread + 1, 0, 1000, True, None, None, None),
        ("aten::mm", thread + 1, 101, 203, False, 5, "16,16;16,16", "float;float"),
    ]
    ends = ("enqueue_tid", "enqueue_start_ns", "enqueue_end_ns", "dequeue_tid", "dequeue_start_ns", "dequeue_end_ns")
    assert brief(queues, "queue_id", *ends) == [(9, thread + 1, 150, 170, thread + 5, 180, 210)]
    assert brief(ranges, "origin", "is_module_candidate", "domain", "tid", "name", "recorded_name", "start_ns", "end_ns") == [
        ("mstx", True, "Module", thread + 1, "Net", "Net", 95, 495),
        ("nn.Module", False, None, thread + 1, "Linear", "nn.Module: Linear_0", 90, 590),
    ]
    assert brief(launches, "launch_id", "tid", "start_ns", "end_ns") == [(17, thread + 5, 185, 189)]
    assert brief(steps, "step_id", "start_ns", "end_ns") == [(12, 0, 1000)]


def test_a_time_is_read_to_the_nanosecond_or_is_unknown() -> None:
    times = {
        "1736408883688177.930": 1736408883688177930,
        "1736408883688177.9": 1736408883688177900,
        "1736408883688177": 1736408883688177000,
        "1.736408883688177930e15": 1736408883688177930,
        "1.73640888368817793E+15": 1736408883688177930,
        "9223372036854775.807": 9223372036854775807,
        "9223372036854775.808": None,
        "1.5e3": 1500000,
        "12.5e3": 12500000,
        "100": 100000,
        "0.0004": 0,
        "-5.500": -5500,
        "1e400": None,
        "1736.408.883": None,
        "NaN": None,
        "": None,
        ".": None,
    }
    with empty_database() as connection:
        for text, time_ns in times.items():
            (row,) = connection.execute("SELECT ns_of_us($1), ns_of_us_timestamp($1)", [text]).fetchall()
            assert row == (time_ns, time_ns), text


def test_numbers_and_texts_are_the_same_times(tmp_path: Path) -> None:
    events = json.dumps([op("aten::mm", 101, 203), task("k", 5001, 6234, 17)])
    as_numbers = events.replace(f'"{us(101)}"', us(101)).replace(f'"{us(5001)}"', f"{us(5001)}e0")
    for number, content in enumerate((events, as_numbers)):
        (ops, kernels), _ = tables_of(tmp_path / str(number), content, None, "trace.op", "trace.kernel")
        assert brief([*ops, *kernels], "start_ns", "end_ns") == [(101, 203), (5001, 6234)]


@pytest.mark.slow
def test_kernels_that_one_file_lacks_are_there(tmp_path: Path) -> None:
    events = [
        task("both", 1000, 2000, 17),
        task("trace", 3000, 4000, 18, stream=4),
        task("hcomAllReduceAicpuKernel", 4000, 4100, 19, core="AI_CPU"),
        task("EVENT_RECORD_SQE", 4200, 4300, 20, core="EVENT_RECORD_SQE"),
        task("a copy", 4400, 4500, 20, core="PCIE_DMA_SQE"),
        communication("hcom_allReduce__904_0_1", 5000, 6000, 21),
        communication("hcom_allReduce__904_0_1", 7000, 8000, 22),
        communication("strange name", 8000, 8100, 23),
    ]
    hccl = {"Stream ID": "N/A", "Task ID": "N/A", "Type": "hcom_allReduce_"}
    details = [
        detail("both", us(1000), "1.000"),
        detail("csv", us(9000), "0.5"),
        detail("hcom_allReduce__904_0_1", us(5001), "1.0", core="HCCL", **hccl),
    ]
    (kernels,), warnings = tables_of(tmp_path, events, details, "trace.kernel")
    assert warnings == []
    assert brief(kernels, "start_ns", "end_ns", "kind", "name", "type", "stream_id", "launch_id") == [
        (1000, 2000, "compute", "both", "MatMulV3", 2, 17),
        (3000, 4000, "compute", "trace", None, 4, 18),
        (4000, 4100, "schedule", "hcomAllReduceAicpuKernel", None, 2, 19),
        (5000, 6000, "communication", "hcom_allReduce__904_0_1", "hcom_allReduce_", None, 21),
        (7000, 8000, "communication", "hcom_allReduce__904_0_1", "hcom_allReduce_", None, 22),
        (8000, 8100, "communication", "strange name", None, None, 23),
        (9000, 9500, "compute", "csv", "MatMulV3", 2, None),
    ]


@pytest.mark.slow
def test_a_start_that_a_float_rounded_is_still_that_of_one_kernel(tmp_path: Path) -> None:
    rounded = [us(1234), repr(float(us(1234))), us(1234 + 175), us(1234 - 175)]
    events = [task(f"k{number}", 1234, 2000, 17) for number in range(len(rounded))] + [task("k0", 3000, 4000, 18)]
    details = [detail(f"k{number}", start, "0.766") for number, start in enumerate(rounded)] + [detail("k0", us(3000), "1")]
    (kernels,), _ = tables_of(tmp_path, events, details, "trace.kernel")
    assert brief(kernels, "name", "start_ns", "end_ns", "launch_id", "type") == [
        ("k0", 1234, 2000, 17, "MatMulV3"),
        ("k0", 3000, 4000, 18, "MatMulV3"),
        *((f"k{number}", 1234, 2000, 17, "MatMulV3") for number in range(1, len(rounded))),
    ]


@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
def test_a_start_that_a_spreadsheet_spoiled_is_told_and_makes_no_second_kernel(tmp_path: Path) -> None:
    spoiled = ["1.73641E+15", '"1,73641e15"', "1736408883688000", "1736408883688100", "N/A", "yesterday"]
    details = [detail("k", start, "0.766") for start in spoiled]
    (kernels,), warnings = tables_of(tmp_path, [task("k", 1234, 2000, 17)], details, "trace.kernel")
    assert brief(kernels, "start_ns", "end_ns", "type") == [(1234, 2000, None)]
    file = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    assert warnings == [
        says(file, "'start time(us)'", "lost digits", "spreadsheet", "unknown", "export it again"),
        says("a_ascend_pt", "rows of kernel_details.csv set aside", "no time", 6),
    ]


def computing(start: int, end: int) -> list[Event]:
    """An interval of the profiler's Overlap Analysis."""
    pid = (PID << 10) | (31 << 5) | 3
    head = {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "Overlap Analysis"}}
    return [head, {"ph": "X", "name": "Computing", "pid": pid, "tid": 0, "ts": us(start), "dur": (end - start) / 1000}]


def of_other_type() -> list[Event]:
    return [
        task("trans_Cast_10", 1000, 2000, 17, core="Other"),
        task("relu", 2000, 3000, -1, core="other"),
        task("relu", 2000, 3000, -1, core="other", number=8),
        task("MEMCPY_ASYNC", 1100, 1900, 18, core="Other"),
        task("NOTIFY_WAIT", 1100, 1900, 18, core="Other"),
        task("MemcopyAsync", 1100, 1900, 18, core="other"),
        task("Other", 1100, 1900, 18, core="Other"),
        task("a message", 1100, 1100, 18, core="MsTx"),
        task("outside", 5000, 6000, 19, core="Other"),
        task("reaches out", 2900, 3100, 19, core="Other"),
    ]


def test_kernels_that_only_the_overlap_analysis_shows_are_missed_with_a_warning(tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt"
    output.mkdir()
    events = [op("aten::mm", 100, 900), *flow(100, 1000), task("mm", 1000, 1250, 17), *computing(1000, 2000)]
    (output / "trace_view.json").write_text(json.dumps(events))

    with pytest.warns(ProfAnalysisWarning), open_profile(tmp_path) as profile:
        profile.kernel_stats()
        missed = says("a_ascend_pt", "Overlap Analysis", "computing 1000 ns", "kernels give 250 ns", "25.0%", "missing")
        assert missed in profile.warnings


def test_starts_of_whole_microseconds_that_end_in_0_are_times(tmp_path: Path) -> None:
    starts = [BASE_US, BASE_US + 7, BASE_US + 10]
    details = [detail("k", str(start), "2") for start in starts]
    (kernels,), warnings = tables_of(tmp_path, None, details, "trace.kernel")
    assert brief(kernels, "start_ns", "end_ns") == [(0, 2000), (10_000, 12_000), (7_000, 9_000)]
    assert warnings == []


def test_shapes_of_several_lines_are_the_same_shapes(tmp_path: Path) -> None:
    lists = {"Input Shapes": '"""16,16;\r\n16,16"""', "Input Data Types": '"FLOAT16;\nFLOAT"'}
    (kernels,), warnings = tables_of(tmp_path, None, [detail("k", us(0), "1", **lists)], "trace.kernel")
    assert brief(kernels, "input_shapes", "input_types") == [('"16,16;16,16"', "FLOAT16;FLOAT")]
    assert warnings == []


def test_columns_and_kernels_whose_names_occur_twice_are_the_first_and_all(tmp_path: Path) -> None:
    header = HEADER + ",Name,Start Time(us),aic_mac_ratio,aic_mac_ratio"
    rows = [detail("k", us(0), "1", **{"Task ID": number}) + f",other,{us(500)},0.5,0.7" for number in ("7", "8")]
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text("\r\n".join([header, *rows, ""]), newline="")
    (output / "trace_view.json").write_text(json.dumps([task("k", 0, 1000, 17), task("k", 0, 1000, 18, number=8)]))
    with open_profile(tmp_path) as profile:
        build_at_once(profile, "trace.kernel", "trace.kernel_metric")
        kernels = profile.table("trace.kernel", arrow=True).to_pylist()
        metrics = profile.table("trace.kernel_metric", arrow=True).to_pylist()
        assert (profile.failures, profile.warnings) == ([], [])
    assert brief(kernels, "name", "start_ns", "end_ns", "launch_id") == [("k", 0, 1000, 17), ("k", 0, 1000, 18)]
    assert sorted((row["metric"], row["value"]) for row in metrics) == [("aic_mac_ratio", 0.5)] * 2


def test_the_device_is_known_from_any_process_number(tmp_path: Path) -> None:
    numbers = [(pid << 10) | (14 << 5) | 3 for pid in (PID, 3096504, 2**22 + 5)]
    as_32_bits = [number % 2**32 - 2**32 for number in numbers]
    events = [{**task("k", 0, 10, 1, stream), "pid": pid} for stream, pid in enumerate((*numbers, *as_32_bits))]
    (kernels,), _ = tables_of(tmp_path, events, None, "trace.kernel")
    assert [row["device_id"] for row in kernels] == [3] * 6


@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
def test_numbers_beyond_all_bounds_cost_only_their_own_event(tmp_path: Path) -> None:
    huge = 10**18
    events = [
        op("good", 100, 200),
        {**op("pid", 100, 200), "pid": huge},
        {**op("tid", 100, 200), "tid": huge * 10**9},
        {**op("start", 100, 200), "ts": "9223372036854775.807"},
        {**op("duration", 100, 200), "dur": huge},
        {**op("negative", 100, 200), "dur": -1},
        {**op("text", 100, 200), "ts": "now"},
        {**task("k", 1000, 2000, huge * 100), "tid": -5},
        *flow(huge, huge),
    ]
    details = [
        detail("k", us(1000), "1"),
        detail("big", "9223372036854775.807", "1"),
        detail("k", "9223372036854775.807", "1"),
        detail("long", us(0), "99999999999999999999999999"),
        detail("back", us(0), "-1", **{"Block Num": "9" * 30}),
    ]
    (ops, kernels), warnings = tables_of(tmp_path, events, details, "trace.op", "trace.kernel")
    assert brief(ops, "name", "start_ns", "end_ns") == [("good", 100, 200), ("pid", 100, 200), ("tid", 100, 200)]
    assert brief(kernels, "name", "start_ns", "end_ns", "launch_id") == [("k", 1000, 2000, None)]
    assert warnings == [
        says("a_ascend_pt", f"{what} set aside", reason, count)
        for what, reason, count in (
            ("ops", "end before", 1),
            ("ops", "no time", 3),
            ("rows of kernel_details.csv", "end before", 1),
            ("rows of kernel_details.csv", "no time", 3),
        )
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
def test_events_of_every_kind_that_have_no_time_or_end_before_they_start_are_counted(tmp_path: Path) -> None:
    mark = {"event_type": "marker", "domain": "d"}
    heads: list[Event] = [
        {"name": "acl@f", "args": {"level": "acl"}},
        {"name": "f", "cat": "python_function"},
        {"name": "GC", "cat": "GC"},
        {"name": "Enqueue@a", "cat": "enqueue", "args": {"correlation_id": 1}},
        {**computing(0, 1)[1]},
        {"name": "mark", "args": mark},
    ]
    times: list[Event] = [{"ts": us(50), "dur": -1}, {"ts": us(50)}, {"ts": "now", "dur": 1}, {"ts": us(50), "dur": 1}]
    events = [{"ph": "X", "pid": PID, "tid": 1, **head, "dur": None, **time} for head in heads for time in times]
    names = ("trace.set_aside", "trace.set_aside_call")
    (aside, calls), warnings = tables_of(tmp_path, [computing(0, 1)[0], *events], None, *names)
    columns = ("what", "reason", "row_count")
    no_time, backwards = "they have no time", "they end before they start"
    intervals = "intervals of the Overlap Analysis"
    assert brief(aside, *columns) == [(intervals, backwards, 1), (intervals, no_time, 2), ("mstx marks", no_time, 1)]
    kinds = ["Python functions", "calls into CANN", "ends of the task queue", "garbage collections"]
    assert brief(calls, *columns) == [(kind, *rest) for kind in kinds for rest in ((backwards, 1), (no_time, 2))]
    assert len(warnings) == 11


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (
            ("Host Self Duration(us)", "Host Total Duration(us)", "Device Self Duration(us)", "Device Total Duration(us)"),
            says("2 calls", "3.00 us on the host", "kernels of 3.00 us", "1 rank"),
        ),
        pytest.param(("Call Stack",), says("2 calls", "- on the host", "kernels of -", "1 rank"), marks=pytest.mark.slow),
    ],
)
def test_op_stats_print_what_operator_details_leave_unknown(
    columns: tuple[str, ...], line: Any, tmp_path: Path, command: Callable[..., Result]
) -> None:
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    rows = [["Name", *columns], *(["aten::mm", *[cell] * len(columns)] for cell in ("1", "2"))]
    (output / "operator_details.csv").write_text("\r\n".join([*map(",".join, rows), ""]), newline="")
    (output / "kernel_details.csv").write_text("\r\n".join([HEADER, detail("k", us(0), "5"), ""]), newline="")
    result = command("op-stats", "-d", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert line in result.stdout.splitlines()


def test_a_mark_of_a_process_with_a_huge_number_stops_nothing(tmp_path: Path) -> None:
    huge = 3_000_000_000
    mark = {"ph": "X", "name": "m", "pid": 1, "tid": 2, "ts": us(5), "dur": 0, "args": {"event_type": "marker", "domain": "d"}}
    events = [{**op("aten::mm", 100, 200), "pid": huge}, mark]
    (marks, ops), warnings = tables_of(tmp_path, events, None, "trace.mark", "trace.op")
    assert brief(marks, "message", "tid", "start_ns") == [("m", None, 5)]
    assert brief(ops, "name", "tid") == [("aten::mm", None)]
    assert warnings == []


def test_names_are_only_names(tmp_path: Path) -> None:
    names = ["", "N/A", "NULL", "'; DROP TABLE raw.string; --", "=cmd|' /C calc'!A0", "{}", "}, {", "\x00", "😀", "n" * 10**6]
    events = [op(name, 100 + number, 200) for number, name in enumerate(names)]
    (ops,), _ = tables_of(tmp_path, events, None, "trace.op")
    assert [row["name"] for row in sorted(ops, key=lambda row: int(row["start_ns"]))] == names


def test_only_the_texts_of_csv_cells_can_stand_for_nothing(tmp_path: Path) -> None:
    details = [
        detail("k", us(0), "1.5", **{"Type": "N/A", "Input Shapes": "", "Input Data Types": "NULL", "Stream ID": "4294967295"})
    ]
    (kernels,), _ = tables_of(tmp_path, None, details, "trace.kernel")
    assert brief(kernels, "type", "input_shapes", "input_types", "stream_id") == [(None, None, None, None)]


def test_a_trace_cut_off_before_the_device_part_keeps_the_kernels_of_the_csv(tmp_path: Path) -> None:
    events = json.dumps([op("aten::mm", 100, 200), task("k", 1000, 2000, 17)])
    with pytest.warns(ProfAnalysisWarning, match="hold no whole event"):
        (ops, kernels), _ = tables_of(tmp_path, events[:-60], [detail("k", us(1000), "1")], "trace.op", "trace.kernel")
    assert brief([*ops, *kernels], "name", "start_ns", "end_ns") == [("aten::mm", 100, 200), ("k", 1000, 2000)]
