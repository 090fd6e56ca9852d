"""Databases of Nsight Systems: what is in the file is in the tables, and each device is a rank."""

import json
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.nsys_export import export_run
from fixtures.shape import Shape
from prof_analysis import InputError, compare, open_profile
from tests.helpers import nsys
from tests.helpers.api import rows
from tests.helpers.asking import build_at_once
from tests.helpers.nsys import BEGIN_NS, CALLS, KERNELS, RANGES, Texts, write_small, write_tables

FILES = ("mfu_2gpu_before", "mfu_2gpu_after")
pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")


def plain(file: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as database:
        return database.execute(sql).fetchall()


@pytest.mark.parametrize("name", [FILES[0], pytest.param(FILES[1], marks=pytest.mark.slow)])
def test_counts_and_sums_are_those_of_plain_sql_on_the_file(name: str, realdata: Path) -> None:
    file = realdata / f"nsys_h100/{name}.sqlite"
    kernels = "SELECT deviceId, count(*), sum(end - start), min(start), max(end) FROM {} GROUP BY deviceId"
    begin = int(plain(file, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")[0][0])
    pids = "SELECT DISTINCT globalPid >> 24 & 16777215, deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL"
    device_of = {int(pid): int(device) for pid, device in plain(file, pids)}

    def of_host(sql: str) -> list[tuple[Any, ...]]:
        return sorted((device_of[pid], *figures) for pid, *figures in plain(file, f"{sql} GROUP BY globalTid >> 24 & 16777215"))

    with open_profile(file) as profile:
        build_at_once(profile, *(f"trace.{name}" for name in ("kernel", "copy", "host_api", "op", "range", "launch")))

        def ours(sql: str) -> list[tuple[Any, ...]]:
            return rows(profile.sql(sql, arrow=True))

        work = f"count(*), sum(duration_ns)::BIGINT, min(start_ns) - {begin}, max(end_ns) - {begin}"
        assert ours(f"SELECT device_id, {work} FROM trace.kernel WHERE kind <> 'copy' GROUP BY ALL ORDER BY ALL") == plain(
            file, kernels.format("CUPTI_ACTIVITY_KIND_KERNEL")
        )
        copies = (
            "SELECT device_id, direction = 'fill', count(*), sum(duration_ns)::BIGINT, sum(size_bytes)::BIGINT FROM trace.copy"
        )
        assert ours(f"{copies} GROUP BY ALL ORDER BY 2, 1") == [
            (device, is_fill, *figures)
            for is_fill, table in ((False, "MEMCPY"), (True, "MEMSET"))
            for device, *figures in plain(
                file,
                f"SELECT deviceId, count(*), sum(end - start), sum(bytes) FROM CUPTI_ACTIVITY_KIND_{table} GROUP BY deviceId",
            )
        ]
        calls = "SELECT rank_id, count(*), sum(duration_ns)::BIGINT FROM trace.host_api GROUP BY ALL ORDER BY ALL"
        pid = "globalTid >> 24 & 16777215"
        assert ours(calls) == of_host(f"SELECT {pid}, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME")
        is_op = "text LIKE '%, op_id = %' AND text NOT LIKE 'nccl:%'"
        ops = (
            "SELECT rank_id, count(*), sum(duration_ns)::BIGINT, count(sequence_number) FROM trace.op GROUP BY ALL ORDER BY ALL"
        )
        assert ours(ops) == of_host(
            f"SELECT {pid}, count(*), sum(end - start), sum(text LIKE '%, seq = %') FROM NVTX_EVENTS WHERE {is_op}"
        )
        ranges = (
            "SELECT rank_id, count(*), sum(duration_ns)::BIGINT FROM trace.range WHERE origin = 'NVTX' GROUP BY 1 ORDER BY 1"
        )
        assert ours(ranges) == of_host(
            f"SELECT {pid}, count(*), sum(end - start) FROM NVTX_EVENTS WHERE text IS NULL OR NOT ({is_op})"
        )
        # Of a kernel, its call by correlation and process.
        linked = "SELECT count(*) FROM trace.kernel SEMI JOIN trace.launch USING (profile, launch_id) WHERE kind <> 'copy'"
        assert ours(linked) == plain(
            file,
            "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel WHERE EXISTS (SELECT 1 FROM"
            " CUPTI_ACTIVITY_KIND_RUNTIME AS call WHERE call.correlationId = kernel.correlationId AND"
            " call.globalTid >> 24 = kernel.globalPid >> 24)",
        )


# The kernels of each whole block: launched between the begins of its FSDP::pre_forward and of the next one, as units are.
BLOCKS = """
WITH mark AS (
    SELECT start, end, globalTid, substr(text, instr(text, '(')) AS block, text LIKE 'FSDP::pre%' AS is_begin
    FROM NVTX_EVENTS WHERE text LIKE 'FSDP::%'
),
one_end AS (
    SELECT *, lead(is_begin) OVER of_block AS next_is_begin
    FROM mark WINDOW of_block AS (PARTITION BY globalTid, substr(block, 1, instr(block, ',')) ORDER BY start)
),
block AS (SELECT start, globalTid FROM one_end WHERE is_begin AND NOT next_is_begin),
unit AS (
    SELECT start, globalTid, lead(start, 1, 1 << 62) OVER (PARTITION BY globalTid ORDER BY start) AS until
    FROM block
)
SELECT count(*), sum(kernel.end - kernel.start)
FROM unit
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call
    ON call.globalTid = unit.globalTid AND call.start >= unit.start AND call.start < unit.until
JOIN CUPTI_ACTIVITY_KIND_KERNEL AS kernel
    ON kernel.correlationId = call.correlationId AND kernel.globalPid >> 24 = call.globalTid >> 24
WHERE kernel.demangledName IN (SELECT id FROM StringIds WHERE value LIKE '%flash_fwd_kernel%')
"""


@pytest.mark.slow
def test_the_pair_is_compared_by_block_and_kernel(realdata: Path) -> None:
    before, after = (realdata / f"nsys_h100/{name}.sqlite" for name in FILES)
    with compare(before, after) as comparison:
        (flash,) = comparison.rows("FROM runs.kernel_comparison WHERE type = 'flash::flash_fwd_kernel' AND place IS NULL")
        units = comparison.rows("SELECT side, kind, count(*) AS count FROM runs.compared_unit GROUP BY ALL ORDER BY ALL")
        modules = comparison.rows("SELECT base_path, rule FROM runs.module_match")
    (of_base,), (of_new,) = plain(before, BLOCKS), plain(after, BLOCKS)
    assert [(row["side"], row["kind"], row["count"]) for row in units] == [("base", "call", 32), ("new", "call", 28)]
    assert (round(flash["base_kernel_count"] * 32), flash["base_sum_ns"]) == of_base
    assert (round(flash["new_kernel_count"] * 28), flash["new_sum_ns"]) == of_new
    assert modules == [{"base_path": "blocks[0]", "rule": "instance"}]


@pytest.mark.slow
def test_an_npu_is_compared_with_a_gpu_by_modules_and_parts_of_the_step(realdata: Path) -> None:
    """The figures of docs/gpu.md."""
    ascend, gpu = realdata / "alexnet_ddp_910b/db/level1", realdata / "nsys_h100/mfu_2gpu_before.sqlite"
    with pytest.raises(InputError, match="has no module in common"), compare(ascend, gpu) as comparison:
        comparison.summary()
    with compare(ascend, gpu, alias={"DistributedDataParallel": "blocks"}) as comparison:
        summary = {row["figure"]: (row["base"], row["new"]) for row in comparison.rows("FROM runs.comparison_summary")}
        kernels = comparison.rows("SELECT DISTINCT change FROM runs.kernel_comparison WHERE place IS NULL ORDER BY change")
    milliseconds = {
        name: tuple(round(value / 10**6, 2) for value in summary[name])
        for name in ("computing", "exposed communication", "idle")
    }
    assert milliseconds == {"computing": (8.91, 15.93), "exposed communication": (96.31, 0.79), "idle": (25.55, 1.79)}
    assert [row["change"] for row in kernels] == ["added", "removed"]


@contextmanager
def one_rank(folder: Path, **more: Any) -> Iterator[Any]:
    with open_profile(write_small(folder / "report.sqlite", **more)) as profile:
        yield lambda sql: rows(profile.sql(sql, arrow=True))


def test_a_step_with_modules_backward_shapes_collective_copy_and_mark(tmp_path: Path) -> None:
    with one_rank(tmp_path) as ours:
        assert ours("SELECT kind, module, op_name, duration_ns FROM module.kernel ORDER BY start_ns") == [
            ("compute", "Linear", "aten::addmm", 400),
            ("compute", "[Backward]Linear", "aten::mm", 300),
            ("communication", None, None, 200),
            ("copy", None, None, 100),
        ]
        assert ours("SELECT step_id, start_ns, end_ns FROM trace.step") == [(4, BEGIN_NS + 1000, BEGIN_NS + 9000)]
        assert ours("SELECT role, domain, name FROM trace.range ORDER BY start_ns") == [
            ("step", "default", "ProfilerStep#4"),
            (None, "Module", "Linear"),
            ("communication", "nccl", "all_reduce"),
            (None, "my phase", "my phase"),
        ]
        assert ours("SELECT domain, message, start_ns FROM trace.mark") == [("now", "now", BEGIN_NS + 6500)]
        shaped = "SELECT name, input_shapes FROM trace.op WHERE op_id IN (SELECT op_id FROM trace.op_input) ORDER BY op_id"
        assert ours(shaped) == [("aten::addmm", "2;4,8;8,2;"), ("aten::mm", "2,4;4,8")]
        assert ours("SELECT direction, size_bytes, host_memory FROM trace.copy") == [("host to device", 4096, "pinned")]
        assert ours("SELECT name FROM trace.kernel WHERE kind = 'copy'") == [("Memcpy HtoD (Pinned -> Device)",)]
        assert ours("SELECT operation FROM trace.communication") == [("allreduce",)]
        assert ours("SELECT name, role FROM trace.host_api ORDER BY start_ns") == [
            *[("cudaLaunchKernel", "launch")] * 3,
            ("cudaMemcpyAsync", "copy"),
        ]
        assert ours("SELECT product, core_count, clock_mhz FROM trace.chip") == [("NVIDIA H100 80GB HBM3", 132, 1980)]


def test_mfu_counts_flops_by_the_shapes_of_ops(tmp_path: Path) -> None:
    """addmm of 4 x 8 by 8 x 2, and mm of 2 x 4 by 4 x 8."""
    with one_rank(tmp_path) as ours:
        assert ours("SELECT sum(flops)::BIGINT FROM mfu.kernel_flops") == [(2 * 4 * 8 * 2 + 2 * 2 * 4 * 8,)]


@pytest.mark.parametrize("lacks", [("globalPid",), ("eventType", "domainId", "textId"), ("demangledName", "gridX", "blockX")])
def test_columns_that_a_version_lacks_leave_all_else(lacks: tuple[str, ...], tmp_path: Path) -> None:
    file = write_small(tmp_path / "old.sqlite")
    with closing(sqlite3.connect(file)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master").fetchall():
            for (column,) in database.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall():
                if column in lacks:
                    if column == "eventType":
                        database.execute("DELETE FROM NVTX_EVENTS WHERE eventType = 75")
                    database.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        database.commit()
    with open_profile(file) as profile:
        found = rows(profile.sql("SELECT kind, name, module FROM module.kernel ORDER BY start_ns", arrow=True))
        marks = rows(profile.sql("SELECT count(*) FROM trace.mark", arrow=True))
    assert [(kind, module) for kind, _, module in found] == [
        ("compute", "Linear"), ("compute", "[Backward]Linear"), ("communication", None), ("copy", None)
    ]  # fmt: skip
    assert found[0][1] == "void cutlass::Kernel<float>(Params)"
    assert marks == [(1,)]


def test_texts_that_are_registered_are_those_of_the_file(tmp_path: Path) -> None:
    text = Texts()
    name, launch = text("gemm"), text("cudaLaunchKernel_v7000")
    op, module = text("aten::mm, op_id = 3"), text("Module:Net")
    file = write_tables(
        tmp_path / "report.sqlite",
        {
            KERNELS: [nsys.kernel(name, 500, 600, 1)],
            CALLS: [nsys.call(launch, 200, 250, 1)],
            RANGES: [nsys.nvtx(None, 150, 300, textId=op), nsys.nvtx(None, 100, 400, textId=module)],
        },
        text,
    )
    with open_profile(file) as profile:
        assert rows(profile.sql("SELECT module, op_name FROM module.kernel", arrow=True)) == [("Net", "aten::mm")]


def test_each_device_is_a_rank_with_the_processes_that_ran_on_it(tmp_path: Path) -> None:
    """Both processes call their device 0, the second one means GPU 1; it also copied on GPU 0; a third one ran nothing."""
    text = Texts()
    name, launch = text("gemm"), text("cudaLaunchKernel_v7000")
    file = write_tables(
        tmp_path / "report.sqlite",
        {
            KERNELS: [nsys.kernel(name, 500, 600, 1, pid=100), nsys.kernel(name, 700, 900, 1, pid=200)],
            nsys.COPIES: [nsys.copy(950, 960, 8, 2, pid=200, device=3)],
            CALLS: [nsys.call(launch, 200, 250, 1, pid=pid, tid=pid) for pid in (100, 200, 300)],
            RANGES: [nsys.nvtx(f"aten::mm, op_id = {pid}", 150, 300, pid=pid, tid=pid) for pid in (100, 200, 300)],
            "TARGET_INFO_CUDA_DEVICE": [
                {"gpuId": 0, "cudaId": 0, "pid": 100, "numMultiprocessors": 132},
                {"gpuId": 1, "cudaId": 0, "pid": 200, "numMultiprocessors": 132},
                {"gpuId": 0, "cudaId": 3, "pid": 200, "numMultiprocessors": 132},
            ],
        },
        text,
    )
    with (
        pytest.warns(match="1 process has calls or NVTX ranges and no work on a device"),
        open_profile(file) as profile,
    ):
        work = rows(profile.sql("SELECT profile, rank_id, kind, duration_ns, launch_id FROM trace.kernel", arrow=True))
        ops = rows(profile.sql("SELECT rank_id, tid >> 32 FROM trace.op ORDER BY ALL", arrow=True))
        links = rows(profile.sql("SELECT rank_id, kind, op_name FROM module.kernel ORDER BY ALL", arrow=True))
    assert work == [
        ("report.sqlite/device_0", 0, "compute", 100, 100 << 32 | 1),
        ("report.sqlite/device_0", 0, "copy", 10, 200 << 32 | 2),
        ("report.sqlite/device_1", 1, "compute", 200, 200 << 32 | 1),
    ]
    assert ops == [(0, 100), (1, 200)]
    assert links == [(0, "compute", "aten::mm"), (0, "copy", None), (1, "compute", "aten::mm")]


def test_a_replayed_graph_is_one_launch_of_its_kernels_or_one_row(tmp_path: Path) -> None:
    text = Texts()
    name, launch = text("gemm"), text("cudaGraphLaunch_v10000")
    graph = {"start": 900, "end": 990, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 2, "graphId": 6}
    file = write_tables(
        tmp_path / "report.sqlite",
        {
            KERNELS: [nsys.kernel(name, 500 + n, 501 + n, 1, graphNodeId=5 << 32 | n, graphId=5) for n in (1, 2)],
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [{**graph, "globalPid": nsys.global_id(100), "graphExecId": 8}],
            CALLS: [nsys.call(launch, 200, 250, 1), nsys.call(launch, 300, 350, 2)],
        },
        text,
    )
    with open_profile(file) as profile:
        kernels = """
            SELECT kernel.name, device.model_id, device.launch_id & 4294967295, kernel.reason
            FROM module.kernel JOIN trace.kernel AS device USING (profile, kernel_id) ORDER BY kernel.start_ns
        """
        assert rows(profile.sql(kernels, arrow=True)) == [
            ("gemm", 5, 1, "graph replay"),
            ("gemm", 5, 1, "graph replay"),
            ("CUDA graph 6", 6, 2, "graph replay"),
        ]
        audit = rows(profile.sql("SELECT what, place, row_count FROM trace.work_audit ORDER BY ALL", arrow=True))
    assert audit == [("CUDA graph", "undescribed", 1), ("kernel", "kernel", 2)]


COMMUNICATOR, SIZE, RANKS = "NCCL communicator ID", "Message size [bytes]", "No. of ranks"
# Schema -> the size of its payload, and its numbers: name, type (int, uint64_t, size_t), offset. Nsight Systems has no 0.
SCHEMAS: dict[int, tuple[int, list[tuple[str, int, int | None]]]] = {
    16777218: (24, [(COMMUNICATOR, 18, None), (RANKS, 5, 8), ("Rank", 5, 12), ("CUDA device", 5, 16)]),
    16777220: (16, [(COMMUNICATOR, 18, None), (SIZE, 22, 8)]),
    16777230: (8, [(COMMUNICATOR, 18, None)]),
}


def as_json(communicator: int, size: int | None, ranks: int | None) -> dict[str, Any]:
    numbers = {COMMUNICATOR: communicator, SIZE: size, RANKS: ranks}
    return {"jsonText": json.dumps({name: number for name, number in numbers.items() if number is not None})}


def as_bytes(communicator: int, size: int | None, ranks: int | None) -> dict[str, Any]:
    """The payload as NCCL writes it, behind its domain, schema and size."""
    if ranks is not None:
        schema, payload = 16777218, struct.pack("<QIIIxxxx", communicator, ranks, 0, 0)
    elif size is not None:
        schema, payload = 16777220, struct.pack("<QQ", communicator, size)
    else:
        schema, payload = 16777230, struct.pack("<Q", communicator)
    return {"binaryData": struct.pack("<QQQQ", 1, schema, len(payload), 32 + len(payload)) + payload}


def schema_tables() -> dict[str, list[nsys.Row]]:
    return {
        "NVTX_PAYLOAD_SCHEMAS": [
            {"domainId": 1, "schemaId": schema, "type": 1, "numEntries": len(entries), "payloadSize": size}
            for schema, (size, entries) in SCHEMAS.items()
        ],
        "NVTX_PAYLOAD_SCHEMA_ENTRIES": [
            {"domainId": 1, "schemaId": schema, "idx": idx, "type": type_, "name": name, "offset": offset}
            for schema, (_, entries) in SCHEMAS.items()
            for idx, (name, type_, offset) in enumerate(entries)
        ],
    }


def write_nccl(file: Path, payload: Callable[..., dict[str, Any]], **more: Iterable[nsys.Row]) -> Path:
    """Write an all-gather by itself, and a group of a send and a receive, with the payloads of their calls."""
    text = Texts()
    launch = text("cuLaunchKernelExC")
    gather, generic = text("ncclDevKernel_AllGather_RING_LL(Args)"), text("ncclDevKernel_SendRecv(Args)")

    def nccl(name: str, start: int, end: int, size: int | None = None, ranks: int | None = None) -> nsys.Row:
        return nsys.nvtx(name, start, end, domainId=1, **payload(2**64 - 77, size, ranks))

    return write_tables(
        file,
        {
            RANGES: [
                nsys.nvtx("NCCL", 0, None, kind=75, domainId=1),
                nccl("ncclCommInitRank", 10, 20, ranks=4),
                nccl("ncclAllGather", 100, 200, 1000),
                nccl("ncclGroupStart", 300, 301),
                nccl("ncclSend", 310, 320, 64),
                nccl("ncclRecv", 330, 340, 128),
                nccl("ncclGroupEnd", 350, 400),
            ],
            CALLS: [nsys.call(launch, 150, 160, 1), nsys.call(launch, 360, 370, 2)],
            KERNELS: [nsys.kernel(gather, 500, 600, 1), nsys.kernel(generic, 600, 700, 2)],
            **more,
        },
        text,
    )


COLLECTIVES = "SELECT operation, group_name, group_size, size_bytes FROM trace.communication ORDER BY kernel_id"
NOT_KNOWN = [("allgather", None, None, None), ("sendrecv", None, None, None)]


@pytest.mark.parametrize("payload", [as_json, as_bytes])
def test_nccl_says_bytes_and_communicator_of_its_kernels(payload: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    """An all-gather by itself, and a group of a send and a receive, of which the larger one counts."""
    with open_profile(write_nccl(tmp_path / "report.sqlite", payload, **schema_tables())) as profile:
        group = str(2**64 - 77)
        assert rows(profile.sql(COLLECTIVES, arrow=True)) == [("allgather", group, 4, 4000), ("sendrecv", group, 4, 128)]
        assert rows(profile.sql("SELECT kind, direction FROM trace.kernel ORDER BY kernel_id", arrow=True)) == [
            ("communication", None),
            ("communication", "both"),
        ]


def cut_payload(*numbers: Any) -> dict[str, Any]:
    return {"binaryData": as_bytes(*numbers)["binaryData"][:-1]}


def of_other_size(*numbers: Any) -> dict[str, Any]:
    content = as_bytes(*numbers)["binaryData"]
    return {"binaryData": content[:16] + struct.pack("<Q", 4) + content[24:]}


@pytest.mark.parametrize(
    "payload", [cut_payload, of_other_size, lambda *_: {"binaryData": b"\1\0"}, lambda *_: {"binaryData": b""}]
)
def test_bytes_that_do_not_fit_their_schema_say_nothing(payload: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    with open_profile(write_nccl(tmp_path / "report.sqlite", payload, **schema_tables())) as profile:
        assert rows(profile.sql(COLLECTIVES, arrow=True)) == NOT_KNOWN


@pytest.mark.parametrize(
    ("column", "value"), [("offset", 17), ("offset", -1), ("offset", "8"), ("type", 19), ("name", "size"), ("schemaId", None)]
)
def test_a_schema_that_cannot_be_true_says_nothing(column: str, value: object, tmp_path: Path) -> None:
    tables = schema_tables()
    tables["NVTX_PAYLOAD_SCHEMA_ENTRIES"] = [{**one, column: value} for one in tables["NVTX_PAYLOAD_SCHEMA_ENTRIES"]]
    with open_profile(write_nccl(tmp_path / "report.sqlite", as_bytes, **tables)) as profile:
        assert rows(profile.sql(COLLECTIVES, arrow=True)) == NOT_KNOWN


def test_bytes_without_schemas_say_nothing(tmp_path: Path) -> None:
    with open_profile(write_nccl(tmp_path / "report.sqlite", as_bytes)) as profile:
        assert rows(profile.sql(COLLECTIVES, arrow=True)) == NOT_KNOWN


METRICS = {
    3: "GPC Clock Frequency [MHz]",
    4: "SMs Active [Throughput %]",
    5: "PCIe Read Requests to BAR1 [Requests]",
    6: "NVLink",
}


def sampled(*samples: tuple[int, int, int], device: int = 0) -> dict[str, list[nsys.Row]]:
    kind = 256 + device
    return {
        "GPU_METRICS": [{"timestamp": at, "typeId": kind, "metricId": metric, "value": value} for at, metric, value in samples],
        "TARGET_INFO_GPU_METRICS": [
            {"typeId": kind, "metricId": number, "metricName": name} for number, name in METRICS.items()
        ],
    }


def test_the_clock_is_that_of_the_metrics_of_the_device(tmp_path: Path) -> None:
    # Hz under the name of MHz, as Nsight Systems writes them: 32 bits with a sign. 2,526,795,000 Hz do not fit.
    samples = sampled((100, 3, 1_979_999_000), (100, 4, 55), (200, 3, 1200), (300, 3, -1_768_172_296))
    with one_rank(tmp_path, **samples) as ours:
        assert ours("SELECT start_ns - 100, clock_mhz FROM trace.clock") == [
            (BEGIN_NS, 1980),
            (BEGIN_NS + 100, 1200),
            (BEGIN_NS + 200, 2527),
        ]


def test_metrics_of_the_device_are_counters_over_time(tmp_path: Path) -> None:
    samples = sampled((1900, 4, 7), (2100, 4, 90), (2200, 4, 80), (3000, 4, 80), (5000, 4, 10), (2100, 5, 3), (2100, 6, 0))
    of_another = sampled((2100, 4, 33), device=7)
    tables = {name: [*rows, *of_another[name]] for name, rows in samples.items()}
    with open_profile(write_small(tmp_path / "report.sqlite", **tables)) as profile:
        found = profile.rows("FROM pmu.sample")
        shown = ("metric", "unit", "sample_count", "mean", "min", "max", "computing_count", "computing_mean")
        # Kernels run from 2000 to 7100, those that compute up to 2400 and from 4000 to 4300.
        assert [tuple(row[name] for name in shown) for row in found] == [
            ("NVLink", None, 1, 0, 0, 0, 1, 0),
            ("PCIe Read Requests to BAR1 [Requests]", "count", 1, 3, 3, 3, 1, 3),
            ("SMs Active [Throughput %]", "%", 4, 65, 10, 90, 2, 85),
        ]
        counters = "SELECT counter, unit, time_ns - {}, value FROM timeline.counter ORDER BY counter, time_ns"
        assert rows(profile.sql(counters.format(BEGIN_NS), arrow=True)) == [
            ("PCIe Read Requests to BAR1 [Requests]", "count", 2100, 3),
            *(("SMs Active [Throughput %]", "%", at, value) for at, value in ((1900, 7), (2100, 90), (2200, 80), (5000, 10))),
        ]
        events = "SELECT event FROM across.timeline_event WHERE event LIKE '%SMs Active%' LIMIT 1"
        assert json.loads(rows(profile.sql(events, arrow=True))[0][0])["args"] == {"%": 7}


def test_what_was_not_sampled_says_how_to_record_it(tmp_path: Path) -> None:
    with open_profile(write_small(tmp_path / "report.sqlite")) as profile, pytest.raises(InputError) as raised:
        profile.pmu_stats(by="sample")
    assert "--gpu-metrics-devices=all" in str(raised.value)


def test_a_report_that_nobody_exported_says_how(tmp_path: Path) -> None:
    (tmp_path / "run.nsys-rep").write_bytes(b"QDREP\0")
    for given in (tmp_path, tmp_path / "run.nsys-rep"):
        with pytest.raises(InputError) as raised:
            open_profile(given).module_stats()
        assert "nsys export --type sqlite -o run.sqlite run.nsys-rep" in str(raised.value)
    write_small(tmp_path / "run.sqlite")
    with open_profile(tmp_path) as profile:
        assert [rank["profile"] for rank in profile.ranks(arrow=True).to_pylist()] == ["run.sqlite"]


def cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def cut_in_its_last_page(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def without_rows(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master").fetchall():
            if table != "StringIds":
                database.execute(f"DROP TABLE {table}")
        database.commit()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut, ("report.sqlite", "not a readable SQLite database")),
        (cut_in_its_last_page, ("report.sqlite", "it is cut off: its last 100 bytes are missing")),
        (emptied, ("report.sqlite", "is empty", "nsys export --type sqlite")),
        (without_rows, ("report.sqlite", "holds neither kernels nor calls nor NVTX ranges", "nsys profile --trace=cuda,nvtx")),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_what_to_do(damage: Any, words: tuple[str, ...], tmp_path: Path) -> None:
    damage(write_small(tmp_path / "report.sqlite"))
    with pytest.raises(InputError) as raised:
        open_profile(tmp_path).kernel_stats()
    assert all(word in str(raised.value) for word in words)


def test_ranges_that_never_ended_are_counted(tmp_path: Path) -> None:
    text = Texts()
    file = write_tables(
        tmp_path / "report.sqlite",
        {KERNELS: [nsys.kernel(text("gemm"), 500, 600)], RANGES: [nsys.nvtx("training", 100, None), nsys.nvtx("a", 1, 2)]},
        text,
    )
    with open_profile(file) as profile:
        assert rows(profile.sql("SELECT what, reason, row_count FROM trace.set_aside", arrow=True)) == [
            ("NVTX ranges", "they have no time", 1)
        ]


def ranges_of(folder: Path, *events: nsys.Row) -> list[tuple[Any, ...]]:
    text = Texts()
    file = write_tables(folder / "report.sqlite", {KERNELS: [nsys.kernel(text("gemm"), 500, 600)], RANGES: events}, text)
    with open_profile(file) as profile:
        columns = "origin, role, domain, name, recorded_name, end_ns - start_ns"
        return rows(profile.sql(f"SELECT {columns} FROM trace.range ORDER BY start_ns", arrow=True))


def test_names_of_ranges_say_domains_modules_and_steps(tmp_path: Path) -> None:
    hook = "{'Module': 'model.layers.0.mlp', 'TrainableParams': 12}"
    assert ranges_of(
        tmp_path,
        nsys.nvtx("mine", 0, None, kind=75, domainId=2),
        nsys.nvtx("Module:Linear", 10, 20),
        nsys.nvtx(hook, 11, 19),
        nsys.nvtx("nn.Module: Linear_3", 12, 18),
        nsys.nvtx("train_step 7", 13, 17),
        nsys.nvtx("ncclAllReduce", 14, 16, domainId=1),
        nsys.nvtx("step 3", 15, 16, domainId=2),
        nsys.nvtx("loading", 16, 17, kind=60),
    ) == [
        ("NVTX", None, "Module", "Linear", "Module:Linear", 10),
        ("nn.Module", "module", None, "mlp", hook, 8),
        ("nn.Module", "module", None, "Linear", "nn.Module: Linear_3", 6),
        ("NVTX", "step", "default", "train_step 7", "train_step 7", 4),
        ("NVTX", "communication", "NCCL", "ncclAllReduce", "ncclAllReduce", 2),
        ("NVTX", None, "mine", "step 3", "step 3", 1),
        ("NVTX", None, "loading", "loading", "loading", 1),
    ]


FSDP = (
    nsys.nvtx("FSDP::post_forward (blocks.2._checkpoint_wrapped_module), op_id = 1", 10, 20),
    nsys.nvtx("FSDP::pre_forward (blocks.3._checkpoint_wrapped_module), op_id = 2", 30, 40),
    nsys.nvtx("FSDP::pre_forward (blocks.3._checkpoint_wrapped_module), op_id = 3", 30, 40, tid=101),
    nsys.nvtx("FSDP::post_forward (blocks.3._checkpoint_wrapped_module), op_id = 4", 90, 95),
    nsys.nvtx("FSDP::pre_forward (blocks.4._checkpoint_wrapped_module), op_id = 5", 100, 110),
)


def test_fsdp_says_where_a_module_began_and_ended(tmp_path: Path) -> None:
    """Calls that the recording cuts, or of which another thread has the end, are none; where hooks name modules, none are."""
    assert ranges_of(tmp_path / "fsdp", *FSDP) == [("FSDP", "module", None, "blocks", "blocks.3", 65)]
    hooked = ranges_of(tmp_path / "hooks", *FSDP, nsys.nvtx("nn.Module: Net_0", 1, 200))
    assert hooked == [("nn.Module", "module", None, "Net", "nn.Module: Net_0", 199)]


MODULES = """
SELECT rank_id, parent_module, module, kind, count(*), sum(duration_ns)::BIGINT
FROM module.kernel WHERE kind <> 'copy' GROUP BY ALL ORDER BY ALL
"""


@pytest.mark.slow
def test_a_run_of_two_devices_has_the_modules_of_the_same_run_as_databases_of_ascend(tmp_path: Path) -> None:
    shape = Shape(
        task_queue=False, schedule_kernels=False, nn_module_ranges="instead", gradient_hooks=True, equal_sequences=True
    )
    generate(tmp_path / "npu", shape, ranks=2)
    database = export_run(tmp_path / "npu", tmp_path / "report.sqlite")
    with open_profile(tmp_path / "npu") as npu, open_profile(database) as gpu:
        assert rows(gpu.sql(MODULES, arrow=True)) == rows(npu.sql(MODULES, arrow=True))
