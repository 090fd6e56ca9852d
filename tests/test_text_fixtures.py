"""The generated text exports against the db of the same run, and against real exports in form."""

import csv
import gzip
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import pytest

from fixtures.generate import main
from fixtures.shape import Shape
from fixtures.text_db import read_db
from fixtures.text_spreadsheet import resave_as_spreadsheet
from fixtures.text_style import TextStyle
from fixtures.text_trace import write_trace
from fixtures.trace import make_rank
from fixtures.write_db import write_rank
from tests.helpers.slow import quick

Event = dict[str, Any]
Level = Literal["Level0", "Level1"]

SMALL = Shape(steps=2, layers=1, nn_module_ranges="beside")
CORES = ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "AI_CPU")
KERNELS = """
WITH
device_task AS (
    SELECT name, startNs, endNs, connectionId FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)
    UNION ALL
    SELECT name, startNs, endNs, connectionId FROM COMMUNICATION_SCHEDULE_TASK_INFO JOIN TASK USING (globalTaskId)
    UNION ALL
    SELECT opName, startNs, endNs, connectionId FROM COMMUNICATION_OP
),
kernel AS (
    SELECT value AS name, startNs AS start_ns, endNs - startNs AS duration_ns, connectionId AS link
    FROM device_task JOIN STRING_IDS ON id = name
)
"""
LINKED_KERNELS = f"""{KERNELS}
SELECT start_ns, duration_ns, CAST(startNs AS INTEGER)
FROM kernel
JOIN CONNECTION_IDS AS pair ON pair.connectionId = link
JOIN PYTORCH_API AS op ON op.connectionId = pair.id
"""
COPIES = """
SELECT startNs, endNs - startNs FROM TASK JOIN STRING_IDS ON id = taskType WHERE value = 'MEMCPY_ASYNC'
"""


def write(folder: Path, shape: Shape, style: TextStyle) -> Path:
    return write_rank(make_rank(shape, 1, 0), folder, style=style) / "ASCEND_PROFILER_OUTPUT"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shape = replace(SMALL, lost_link_every=7, gradient_hooks=True, domains=True)
    return write(tmp_path_factory.mktemp("both"), shape, TextStyle(exports="both"))


@pytest.fixture(scope="module")
def events(output: Path) -> list[Event]:
    return read_events(output / "trace_view.json")


def read_events(path: Path) -> list[Event]:
    with path.open(newline="", encoding="utf-8") as file:
        found: list[Event] = json.load(file)
    return found


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def query(output: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(next(output.glob("*.db")))) as db:
        return db.execute(sql).fetchall()


def processes(events: list[Event]) -> dict[int, str]:
    return {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}


def nanoseconds(microseconds: str | float) -> int:
    return round(1000 * microseconds) if isinstance(microseconds, float) else int(microseconds.replace(".", ""))


def union(intervals: Iterable[tuple[int, int]]) -> set[int]:
    """Every nanosecond in it."""
    return {moment for start, end in intervals for moment in range(start, end)}


def is_kernel(event: Event) -> bool:
    arguments = event.get("args", {})
    return event["ph"] == "X" and (arguments.get("Task Type") in CORES or "alg_type" in arguments)


def test_kernels_of_db_json_and_csv_are_the_same(output: Path, events: list[Event]) -> None:
    expected = sorted(query(output, f"{KERNELS} SELECT name, start_ns, duration_ns FROM kernel"))
    shown = [(event["name"], nanoseconds(event["ts"]), nanoseconds(event["dur"])) for event in events if is_kernel(event)]
    listed = [
        (row["Name"], nanoseconds(row["Start Time(us)"].strip()), nanoseconds(row["Duration(us)"]))
        for row in read_csv(output / "kernel_details.csv")
    ]
    assert sorted(shown) == expected
    assert sorted(listed) == expected
    assert [row[1] for row in listed] == sorted(row[1] for row in listed)


def test_host_rows_are_those_of_the_db(output: Path, events: list[Event]) -> None:
    rows = query(output, "SELECT type, count(*) FROM PYTORCH_API GROUP BY type ORDER BY type")
    kinds = Counter(event.get("cat") for event in events if event["ph"] == "X")
    assert [("cpu_op", kinds["cpu_op"]), ("queue", kinds["enqueue"] + kinds["dequeue"])] == [
        ("cpu_op", rows[0][1]),
        ("queue", rows[1][1]),
    ]
    assert kinds["python_function"] == rows[2][1]
    names = processes(events)
    per_process = Counter(names[event["pid"]] for event in events if event["ph"] == "X")
    assert per_process["CANN"] == query(output, "SELECT count(*) FROM CANN_API")[0][0]
    assert per_process["python"] == query(output, "SELECT count(*) FROM MSTX_EVENTS")[0][0]


def test_the_frame_around_an_nn_module_is_its_parent(events: list[Event]) -> None:
    frames = {event["args"]["Python id"]: event for event in events if event.get("cat") == "python_function"}
    for frame in frames.values():
        start, end = nanoseconds(frame["ts"]), nanoseconds(frame["ts"]) + nanoseconds(frame["dur"])
        around = [
            (nanoseconds(other["ts"]), number)
            for number, other in frames.items()
            if nanoseconds(other["ts"]) < start and nanoseconds(other["ts"]) + nanoseconds(other["dur"]) > end
        ]
        assert frame["args"]["Python parent id"] == max(around, default=(0, 0))[1]


def test_both_ends_of_a_flow_lie_on_an_event(output: Path, events: list[Event]) -> None:
    begins = {(event["pid"], event["tid"], event["ts"]) for event in events if event["ph"] == "X"}
    ends: dict[str, dict[object, list[int]]] = defaultdict(lambda: defaultdict(list))
    for event in events:
        if event["ph"] in "sf":
            assert (event["pid"], event["tid"], event["ts"]) in begins, event
            ends[event["cat"] + event["ph"]][event["id"]].append(nanoseconds(event["ts"]))
    for category in ("async_task_queue", "async_npu", "fwdbwd", "HostToDevice"):
        assert set(ends[category + "s"]) == set(ends[category + "f"])
    recorded = {(start, op_start) for start, _, op_start in query(output, LINKED_KERNELS)}
    copies = {start for start, _ in query(output, COPIES)}
    assert {(start, ends["async_npus"][start][0]) for start in ends["async_npus"]} >= recorded
    assert all([start] == found for start, found in ends["async_npuf"].items())
    assert set(ends["async_npus"]) == {start for start, _ in recorded} | copies


def test_layers_have_the_process_ids_of_the_writer(output: Path, events: list[Event]) -> None:
    numbers = {pid: (pid >> 10, pid >> 5 & 31, pid & 31) for pid in processes(events)}
    assert {name: numbers[pid] for pid, name in processes(events).items() if name != "Python"} == {
        "python": (5242, 6, 31),
        "CANN": (5242, 7, 31),
        "Ascend Hardware": (5242, 14, 1),
        "AI Core Freq": (5242, 15, 1),
        "Communication": (5242, 16, 1),
        "Overlap Analysis": (5242, 31, 1),
    }
    assert processes(events)[5242] == "Python"
    assert {row["Device_id"] for row in read_csv(output / "kernel_details.csv")} == {"1"}


def test_overlap_and_step_times_are_unions_of_the_kernels(output: Path, events: list[Event]) -> None:
    names = processes(events)
    computing, communication = (
        union(query(output, f"SELECT startNs, endNs FROM {table}"))
        for table in ("COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)", "COMMUNICATION_OP")
    )
    shown: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X" and names[event["pid"]] == "Overlap Analysis":
            start = nanoseconds(event["ts"])
            shown[event["name"]].append((start, start + nanoseconds(event["dur"])))
    busy = computing | communication
    assert union(shown["Computing"]) == computing
    assert union(shown["Communication"]) == communication
    assert union(shown["Communication(Not Overlapped)"]) == communication - computing
    assert union(shown["Free"]) == set(range(min(busy), max(busy))) - busy
    assert all(sum(end - start for start, end in spans) == len(union(spans)) for spans in shown.values())
    for step in read_csv(output / "step_trace_time.csv"):
        parts = ("Computing", "Communication(Not Overlapped)", "Free")
        assert sum(nanoseconds(float(step[part])) for part in parts) == nanoseconds(float(step["Stage"]))
    total = sum(nanoseconds(float(step["Communication"])) for step in read_csv(output / "step_trace_time.csv"))
    assert total == len(communication)


def test_operator_details_add_up_to_the_linked_kernels(output: Path, events: list[Event]) -> None:
    rows = read_csv(output / "operator_details.csv")
    names = [event["name"] for event in events if event.get("cat") == "cpu_op"]
    assert [row["Name"] for row in rows] == [name for name in names if not name.startswith("ProfilerStep#")]
    own = sum(nanoseconds(float(row["Device Self Duration(us)"])) for row in rows)
    assert own == sum(row[1] for row in query(output, LINKED_KERNELS) + query(output, COPIES))
    linear = [row for row in rows if row["Name"] == "aten::linear"]
    assert {row["Device Self Duration(us)"] for row in linear} == {"0"}
    assert sum(float(row["Device Total Duration(us)"]) for row in linear) > 0
    assert all(0 < float(row["Host Self Duration(us)"]) < float(row["Host Total Duration(us)"]) for row in linear)


def test_the_parts_of_communication_add_up(output: Path) -> None:
    duration = dict(
        query(output, "SELECT name.value, endNs - startNs FROM COMMUNICATION_OP JOIN STRING_IDS AS name ON name.id = opName")
    )
    found: dict[str, Any] = {}
    for step in json.loads((output / "communication.json").read_text()).values():
        found |= {name.split("@")[0]: info["Communication Time Info"] for name, info in step["collective"].items()}
    total = found.pop("Total Op Info")
    assert {name: round(1e6 * times["Elapse Time(ms)"]) for name, times in found.items()} == duration
    for times in (*found.values(), total):
        parts = [times[f"{part} Time(ms)"] for part in ("Transit", "Wait", "Idle", "Elapse")]
        assert all(part >= 0 for part in parts)
        assert sum(parts[:3]) == pytest.approx(parts[3])
    matrix = json.loads((output / "communication_matrix.json").read_text())
    link = next(pairs for name, pairs in matrix["step10"]["collective"].items() if name.startswith("allreduce-top1@"))["1-0"]
    assert link["Transport Type"] == "HCCS"
    assert link["Bandwidth(GB/s)"] == round(link["Transit Size(MB)"] / link["Transit Time(ms)"], 4)


def test_csv_files_have_the_quirks_of_the_writers(output: Path) -> None:
    raw = (output / "kernel_details.csv").read_bytes()
    header, first = raw.split(b"\r\n")[:2]
    assert header.startswith(b"Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us)")
    assert b",Block Num,Mix Block Num,HF32 Eligible,Input Shapes," in header
    assert header.endswith(b",aiv_icache_miss_rate,cube_utilization(%)")
    assert first.startswith(b",1,4294967295,")
    assert first.count(b"\t") == 1
    assert b"\t," in first
    assert b',"""128,64;64,64""",' in raw
    assert b",N/A,N/A,hcom_allReduce__210_0_1,hcom_allReduce_,N/A,COMMUNICATION," in raw
    assert raw.count(b"\n") == raw.count(b"\r\n")
    assert b'"128,64;\r\n64,64;\r\n"' in (output / "operator_details.csv").read_bytes()
    assert b"\r" not in (output / "op_statistic.csv").read_bytes() + (output / "api_statistic.csv").read_bytes()
    in_step = Counter(row["Step Id"] for row in read_csv(output / "kernel_details.csv"))
    assert set(in_step) == {"10", "11", ""}


@pytest.mark.parametrize("level", quick(get_args(Level), 1))
def test_events_and_headers_are_those_of_real_exports(level: Level, realdata: Path, tmp_path: Path) -> None:
    theirs = realdata / f"alexnet_ddp_910b/text/{level.lower()}/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
    ours = write(tmp_path, replace(SMALL, schema="2025"), TextStyle(exports="text", level=level))
    expected, found = kinds(read_events(theirs / "trace_view.json")), kinds(read_events(ours / "trace_view.json"))
    not_in_real = {kind for kind in found if kind[0] == "python" or kind[3] == "Runtime"}
    assert {kind: keys - expected[kind] for kind, keys in found.items() if keys - expected[kind]} == {
        kind: found[kind] for kind in not_in_real
    }
    missing = {kind for kind in set(expected) - set(found) if kind[0] in ("Python", "CANN", "Ascend Hardware", "HCCL")}
    assert missing <= {("Python", "X", "python_function", "frame"), ("CANN", "X", None, "Hccl")}
    memory = {"memory_record.csv", "npu_module_mem.csv", "operator_memory.csv"}
    assert {path.name for path in ours.iterdir()} == {path.name for path in theirs.iterdir()} - memory
    for name in (path.name for path in ours.glob("*.csv")):
        headers = [(folder / name).read_text().splitlines()[0] for folder in (ours, theirs)]
        assert headers[0] == headers[1]


def kinds(events: list[Event]) -> dict[tuple[object, ...], set[object]]:
    """Of each kind of event: the keys that occur, in order and with the types of their values, those of args too."""
    names = processes(events)
    found: dict[tuple[object, ...], set[object]] = defaultdict(set)
    for event in events:
        process, name = names.get(event["pid"], "?"), event["name"]
        if event["ph"] == "X" and process == "HCCL":
            name = "op" if "connection_id" in event["args"] else "task"
        elif event["ph"] == "X":
            name = {"CANN": name.split("@")[0], "Python": "module" if name.startswith("nn.") else "frame"}.get(process, "")
            name = "" if event.get("cat") == "cpu_op" else name
        elif event["ph"] != "M" and name[-1].isdigit():
            name = name.rstrip("0123456789")
        types = [tuple((key, one_type(value)) for key, value in one.items()) for one in (event, event.get("args", {}))]
        found[process, event["ph"], event.get("cat"), name].add(tuple(types))
    return found


def one_type(value: object) -> type:
    return float if isinstance(value, int) else type(value)


@pytest.mark.slow
def test_ends_numbers_and_gzip(tmp_path: Path) -> None:
    output = write(tmp_path, Shape(steps=1, layers=1, mode="inference"), TextStyle(exports="both"))
    text = (output / "trace_view.json").read_bytes()

    with read_db(next(output.glob("*.db"))) as database:
        unclosed = write_trace(database, output, TextStyle(end="unclosed", gzip=True)).read_bytes()
        comma = write_trace(database, output, TextStyle(end="comma")).read_bytes()
        numbers = write_trace(database, output, TextStyle(timestamps="number")).read_bytes()
    assert gzip.decompress(unclosed) == text[:-1]
    assert comma == text[:-1] + b",]"
    times = [[event.get("ts") for event in json.loads(one, parse_float=str)] for one in (numbers, text)]
    assert times[0] == times[1]


def test_the_sglang_preset_is_text_without_shapes_metrics_and_marks(tmp_path: Path) -> None:
    main([str(tmp_path), "--preset", "sglang", "--ranks", "1", "--steps", "1", "--layers", "1"])
    folder = next(tmp_path.iterdir())
    config = json.loads((folder / "profiler_info_0.json").read_text())["config"]
    assert not config["common_config"]["record_shapes"]
    assert config["common_config"]["with_modules"]
    assert config["experimental_config"]["_aic_metrics"] == "ACL_AICORE_NONE"
    assert config["experimental_config"]["_export_type"] == ["text"]
    output = folder / "ASCEND_PROFILER_OUTPUT"
    assert not list(output.glob("*.db"))
    rows = read_csv(output / "kernel_details.csv")
    assert list(rows[0])[-1] == "Context ID"
    assert rows[1]["Input Shapes"].startswith('"')
    found = read_events(output / "trace_view.json")
    assert {event["args"].get("Input Dims") for event in found if event.get("cat") == "cpu_op"} == {None}
    assert sum(event["name"].startswith("nn.Module: ") for event in found) > 10
    assert {event["args"]["domain"] for event in found if "domain" in event.get("args", {})} == {"default"}


def test_a_resaved_csv_says_the_same(output: Path, tmp_path: Path) -> None:
    path = tmp_path / "kernel_details.csv"
    path.write_bytes((output / "kernel_details.csv").read_bytes())
    resave_as_spreadsheet(path, delimiter=";", line_end="\n", empty_columns=2)
    raw = path.read_text(encoding="utf-8")
    assert raw.startswith("\ufeffAccelerator Core;Block Num;Context ID;")
    assert raw.split("\n")[0].endswith(";;")
    assert "\t" not in raw
    rows = list(csv.DictReader(raw.removeprefix("\ufeff").splitlines(), delimiter=";"))
    before = [{key: cell.strip("\t") for key, cell in row.items()} for row in read_csv(output / "kernel_details.csv")]
    assert [{key: cell for key, cell in row.items() if key} for row in rows] == before
