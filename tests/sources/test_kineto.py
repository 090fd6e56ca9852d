"""Traces of torch.profiler on GPUs: found by content, read to the nanosecond, every kernel in its place or with its reason."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.kineto import BASE_NS, HEAD, event, flow, kernel, launch, module, op, write_trace
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, write_profile

GEMM = "void cutlass::Kernel<float, 4>(Params)"
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
FORWARD, BACKWARD = {"Sequence number": 5, "Fwd thread id": 0}, {"Sequence number": 5, "Fwd thread id": 1}
ENGINE = "autograd::engine::evaluate_function: "
REDUCED = {"Collective name": "allreduce", "Process Group Name": "0", "In msg nelems": 8, "dtype": "BFloat16"}
# A step of a model with one layer: forward on thread 1, backward on thread 2, gradients reduced on stream 9, all one step.
STEP = [
    event("user_annotation", "ProfilerStep#3", 0, 90_000),
    module("Net_0", 1_000, 20_000, number=1),
    module("Linear_0", 2_000, 19_000, number=2),
    op("aten::linear", 3_000, 18_000, 10, arguments={**FORWARD, "Input Dims": [[2, 3], [], [[4], [5, 6]]]}),
    op("aten::addmm", 4_000, 17_000, 11, arguments={**FORWARD, "Input type": ["float", "Scalar"]}),
    launch(5_000, 6_000, 1, 11),
    launch(7_000, 8_000, 2, 11, name="cudaMemcpyAsync"),
    op(f"{ENGINE}AddmmBackward0", 30_000, 45_000, 20, tid=2, arguments=BACKWARD),
    op("AddmmBackward0", 31_000, 44_000, 21, tid=2, arguments=BACKWARD),
    launch(32_000, 33_000, 3, 21, tid=2),
    op(f"{ENGINE}torch::autograd::AccumulateGrad", 46_000, 49_000, 22, tid=2),
    launch(47_000, 48_000, 4, 22, tid=2),
    flow(1, 4_000, 1, is_start=True),
    flow(1, 31_000, 2, is_start=False),
    launch(60_000, 61_000, 5),
    kernel(GEMM, 500, 1_500, 77),
    kernel(GEMM, 10_000, 20_001, 1),
    kernel("Memcpy DtoD (Device -> Device)", 21_000, 22_000, 2, category="gpu_memcpy"),
    kernel(GEMM, 40_000, 60_000, 3),
    kernel(NCCL, 55_000, 80_000, 4, stream=9, arguments=REDUCED),
    kernel("triton_poi_fused_add_0", 81_000, 82_000, 5),
]
KERNELS = """
    SELECT name, kind, type, start_ns - {base} AS start_ns, duration_ns, location, reason, op_name, parent_module, module
    FROM module.kernel ORDER BY start_ns
"""
COLUMNS = ("name", "kind", "type", "start_ns", "duration_ns", "location", "reason", "op_name", "parent_module", "module")
OUTSIDE, UNLINKED = "outside modules", "linked to no op"
FUNCTION = "cutlass::Kernel"
ADDMM = ("inside modules", None, "aten::addmm", "Net", "Linear")
COPY, TRITON = "Memcpy DtoD (Device -> Device)", "triton_poi_fused_add_0"
IN_PLACE = [
    (GEMM, "compute", FUNCTION, 500, 1_000, UNLINKED, "cut at the profile edge", None, None, None),
    (GEMM, "compute", FUNCTION, 10_000, 10_001, *ADDMM),
    (COPY, "copy", "Memcpy DtoD", 21_000, 1_000, *ADDMM),
    (GEMM, "compute", FUNCTION, 40_000, 20_000, "inside modules", None, "AddmmBackward0", "Net", "[Backward]Linear"),
    (NCCL, "communication", NCCL[:40], 55_000, 25_000, OUTSIDE, "gradient hooks",
     f"{ENGINE}torch::autograd::AccumulateGrad", None, None),
    (TRITON, "compute", TRITON, 81_000, 1_000, UNLINKED, "launch outside any op", None, None, None),
]  # fmt: skip


def kernels(path: Path, base: int = BASE_NS, **options: Any) -> list[tuple[Any, ...]]:
    """The kernels of a trace with their places."""
    with open_profile(path, **options) as profile:
        return [
            tuple(row[column] for column in COLUMNS) for row in profile.sql(KERNELS.format(base=base), arrow=True).to_pylist()
        ]


@pytest.mark.parametrize("name", quick(["trace.json", "host_1.pt.trace.json.gz", "trace_view.json"], 1))
def test_every_kernel_has_its_module_or_the_reason_why_it_has_none(name: str, tmp_path: Path) -> None:
    write_trace(tmp_path / name, STEP)
    assert kernels(tmp_path) == IN_PLACE
    assert kernels(tmp_path / name) == IN_PLACE


@pytest.mark.slow
def test_metadata_may_follow_the_events_or_lack(tmp_path: Path) -> None:
    late = {
        "distributedInfo": {"rank": "3", "world_size": 8, "pg_config": [{"pg_name": "0", "pg_desc": "dp", "ranks": [1, 3]}]}
    }
    after = write_trace(tmp_path / "after.json.gz", STEP, {}, {**HEAD, **late})
    assert kernels(after) == IN_PLACE
    with open_profile(after) as profile:
        assert profile.ranks()[["rank_id", "rank_id_from"]].to_numpy().tolist() == [[3, "distributedInfo"]]
        groups = profile.table("trace.parallel_group", arrow=True).to_pylist()
    assert [(g["group_name"], g["label"], g["own_position"], g["position"], g["global_rank"]) for g in groups] == [
        ("0", "dp", 1, 0, 1),
        ("0", "dp", 1, 1, 3),
    ]
    absolute = [one.replace('"ts": ', f'"ts": {BASE_NS // 10**9}') for one in (_padded(one) for one in STEP)]
    bare = tmp_path / "bare.json"
    bare.write_text(f"[{','.join(absolute)}]")
    assert kernels(bare) == IN_PLACE


def _padded(one: str) -> str:
    """An event whose time has six digits before the point, so that the seconds can be put before it."""
    begin, _, rest = one.partition('"ts": ')
    number, _, after = rest.partition(".")
    return f'{begin}"ts": {int(number):06}.{after}'


def old(category: str, name: str, start_us: int, duration_us: int, **arguments: int) -> dict[str, Any]:
    """An event of 2022."""
    times = {"ts": start_us, "dur": duration_us}
    return {"ph": "X", "cat": category, "name": name, "pid": 7, "tid": 7, **times, "args": arguments}


@pytest.mark.slow
def test_a_trace_of_2022_has_other_categories_and_whole_microseconds(tmp_path: Path) -> None:
    """Two ops of a thread can have the same times there; they are told apart by their ids, and both count."""
    at = 1_664_546_000_000_010
    events = [
        old("cpu_op", "aten::add", at, 4, **{"External id": 1}),
        old("cpu_op", "aten::view", at, 0, **{"External id": 2}),
        old("cpu_op", "aten::view", at, 0, **{"External id": 3}),
        old("Runtime", "cudaLaunchKernel", at + 1, 2, correlation=9),
        old("Kernel", "k", at + 10, 5, device=0, stream=7, correlation=9),
        old("Memset", "Memset (Device)", at + 20, 1, device=0, stream=7, correlation=0),
    ]
    file = tmp_path / "worker0.pt.trace.json"
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    with open_profile(file) as profile:
        assert profile.ranks()["rank_id"].tolist() == [0]
        assert profile.sql("SELECT count(*) AS n FROM trace.op")["n"].tolist() == [3]
        found = profile.sql("SELECT name, kind, start_ns, duration_ns, reason, op_name FROM module.kernel", arrow=True)
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("k", "compute", 1_664_546_000_000_020_000, 5_000, "outside every module", "aten::add"),
        ("Memset (Device)", "copy", 1_664_546_000_000_030_000, 1_000, "no host launch", None),
    ]


@pytest.mark.slow
def test_times_of_a_step_add_up_with_copies(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace.json", STEP)
    with open_profile(tmp_path) as profile:
        (step, rest) = arrow_of(profile.step_time()).to_pylist()
    parts = (
        "computing_ns",
        "communication_ns",
        "communication_not_overlapped_ns",
        "overlapped_ns",
        "copying_not_overlapped_ns",
    )
    assert [step[one] for one in (*parts, "free_ns", "stage_ns")] == [31_001, 25_000, 20_000, 5_000, 1_000, 19_999, 72_000]
    assert (step["step_id"], rest["step_id"], rest["computing_ns"]) == (3, None, 1_000)


def test_no_time_loses_a_digit_however_large_it_is(tmp_path: Path) -> None:
    """A double holds microseconds with three decimals up to 2^43, a hundred days."""
    starts = [2**43 * 1000 + one for one in range(-2_000, 2_000, 7)] + [10**16 + 1, 10**17 - 1, *range(3_000, 3_300)]
    write_trace(tmp_path / "trace.json", [kernel(GEMM, start, start + 1, 0) for start in starts])
    write_trace(tmp_path / "small.json", [kernel(GEMM, start, start + 1, 0) for start in starts if start < 2**43 * 1000])
    for file, expected in (("trace.json", starts), ("small.json", [start for start in starts if start < 2**43 * 1000])):
        with open_profile(tmp_path / file) as profile:
            found = profile.rows(f"SELECT start_ns - {BASE_NS} AS start_ns FROM trace.kernel ORDER BY start_ns")
        assert [row["start_ns"] for row in found] == sorted(expected)


def test_shapes_and_types_are_lists_of_tensors(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace.json", STEP)
    with open_profile(tmp_path) as profile:
        found = profile.sql(
            "SELECT name, input_shapes, input_types FROM trace.op WHERE name IN ('aten::linear', 'aten::addmm')"
        )
    assert found.sort_values("name").fillna("-").to_numpy().tolist() == [
        ["aten::addmm", "-", "float;Scalar"],
        ["aten::linear", "2,3;;4;5,6", "-"],
    ]


@pytest.mark.slow
def test_collectives_are_told_by_operation_and_group(tmp_path: Path) -> None:
    gathered = {"Collective name": "_allgather_base", "Process Group Name": "1"}
    others = [
        kernel("ncclKernel_ReduceScatter_RING_LL_Sum_half(ncclWorkElem)", 90_000, 91_000, 80),
        kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 92_000, 93_000, 81),
        kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 94_000, 97_000, 82, arguments=gathered),
    ]
    write_trace(tmp_path / "trace.json", [*STEP, *others])
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.communication_stats()).to_pylist()
        (data,) = profile.sql(
            "SELECT data_type, element_count FROM trace.communication WHERE element_count > 0", arrow=True
        ).to_pylist()
    assert [(row["type"], row["group_name"], row["op_count"], row["total_ns"]) for row in found] == [
        ("allreduce", "0", 1, 25_000),
        ("allgather", "1", 1, 3_000),
        ("reducescatter", None, 1, 1_000),
        (None, None, 1, 1_000),
    ]
    assert data == {"data_type": "BFloat16", "element_count": 8}


@pytest.mark.parametrize(
    ("name", "domain", "expected"),
    quick(
        [
            ("Module:Linear", "Module", "Linear"),
            ("layer_0", "layer", "layer_0"),
            ("forward pass", "forward pass", "forward pass"),
        ],
        0,
    ),
)
def test_ranges_of_a_chosen_name_are_modules(name: str, domain: str, expected: str, tmp_path: Path) -> None:
    mine = event("user_annotation", name, 3_500, 17_500)
    write_trace(tmp_path / "trace.json", [one for one in STEP if "nn.Module" not in one] + [mine])
    with open_profile(tmp_path, module_domains=domain) as profile:
        rows = profile.sql("SELECT module, kernel_duration_ns FROM module.tree", arrow=True).to_pylist()
    assert [tuple(row.values()) for row in rows] == [(expected, 11_001), (f"[Backward]{expected}", 20_000)]


@pytest.mark.slow
def test_counters_of_kernels_are_shown(tmp_path: Path) -> None:
    counters = {"est. achieved occupancy %": 31, "blocks per SM": 0.5, "shared memory": 16384}
    occupied = kernel(GEMM, 90_000, 91_000, 80, arguments=counters)
    write_trace(tmp_path / "trace.json", [*STEP, occupied])
    with open_profile(tmp_path) as profile:
        rows = profile.table("pmu.metric", arrow=True).to_pylist()
    assert [(row["metric"], row["unit"], row["mean"], row["kernel_count"]) for row in rows] == [
        ("blocks per SM", "count", 0.5, 1),
        ("est. achieved occupancy %", "%", 31.0, 1),
        ("shared memory", "bytes", 16384.0, 1),
    ]


def test_a_folder_can_hold_both_kinds(tmp_path: Path) -> None:
    job = {"distributedInfo": {"rank": 1, "world_size": 2}}
    write_trace(tmp_path / "gpu" / "a.json", STEP, {**HEAD, **job})
    write_profile(tmp_path / "npu" / "b_ascend_pt", [Op("aten::mm", 1, 9, (Kernel("MatMul", 10, 20),))])
    with open_profile(tmp_path) as profile:
        ranks = profile.ranks()
        assert sorted(ranks["source"]) == ["ascend_db", "kineto"]


def test_events_that_make_no_sense_are_set_aside_and_counted(tmp_path: Path) -> None:
    odd = [
        kernel(GEMM, 5_000, 4_000, 90),
        event("cpu_op", "aten::odd", 1_000, 2_000, tid="Spans", pid="Traces", arguments={"External id": "x"}),
        '{"ph": "X", "cat": "kernel", "name": "no time", "pid": 0, "tid": 7, "args": {"correlation": 91}}',
        '{"ph": "X", "cat": "kernel", "name": "word", "pid": 0, "tid": 7, "ts": "soon", "dur": 1, "args": {"correlation": 92}}',
    ]
    write_trace(tmp_path / "trace.json", [*odd, *STEP])
    with pytest.warns(ProfAnalysisWarning), open_profile(tmp_path) as profile:
        profile.kernel_stats()
        said = profile.warnings
    assert said == [
        says("trace.json", "kernels and copies set aside", "end before", 1),
        says("trace.json", "kernels and copies set aside", "no time", 2),
    ]


def test_a_trace_that_was_cut_off_gives_what_it_has(tmp_path: Path) -> None:
    whole = write_trace(tmp_path / "whole.json", STEP).read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "trace.json").write_bytes(whole[: whole.index(b"triton_poi") - 20])
    packed = gzip.compress(whole, mtime=0)
    (tmp_path / "cut" / "packed.json.gz").write_bytes(packed[: len(packed) - 12])
    with pytest.warns(ProfAnalysisWarning, match="the list of events is not closed"):
        assert kernels(tmp_path / "cut" / "trace.json") == IN_PLACE[:-1]
    with pytest.warns(ProfAnalysisWarning, match="cannot be unpacked beyond"):
        assert kernels(tmp_path / "cut" / "packed.json.gz") == IN_PLACE


def test_the_text_source_refuses_a_trace_of_kineto_for_what_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    write_trace(folder / "trace_view.json", STEP)
    with pytest.warns(ProfAnalysisWarning), open_profile(tmp_path) as profile:
        (left_out,) = profile.ranks()["left_out"]
        with pytest.raises(InputError):
            profile.op_stats()
    assert left_out == says("trace_view.json", "trace of Kineto", "not of the Ascend profiler", "give this file with -d")
    assert kernels(folder / "trace_view.json") == IN_PLACE


def test_an_ascend_trace_saved_as_an_object_is_ascend(tmp_path: Path) -> None:
    task = {"ph": "X", "name": "MatMul", "pid": 32, "tid": 3, "ts": "1000000.000", "dur": 2, "args": {"Task Type": "AI_CORE"}}
    file = tmp_path / "saved.json"
    file.write_text(json.dumps({"traceEvents": [task], "displayTimeUnit": "ns"}))
    with open_profile(file) as profile:
        assert profile.ranks()["source"].tolist() == ["ascend_text"]


ODD = [b'"x"', b"-1", b"1e400", b"null", b"9" * 20, b"{", b"]", b"\\ud800", b"NaN", "é".encode("utf-16")]


def mutated(content: bytes, draw: random.Random) -> bytes:
    """The content with bytes changed, lost, repeated or replaced, or cut off."""
    text = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        begin = draw.randrange(len(text) or 1)
        end = begin + draw.randrange(1, 60)
        how = draw.choice(("change", "lose", "repeat", "replace", "cut"))
        if how == "change":
            text[begin : begin + 1] = bytes([draw.randrange(256)])
        elif how == "repeat":
            text[begin:begin] = text[end : end + draw.randrange(1, 200)]
        elif how == "cut":
            text = text[:begin]
        else:
            text[begin:end] = draw.choice(ODD) if how == "replace" else b""
    return bytes(text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_a_damaged_trace_gives_an_answer_or_an_error_that_names_it(seed: int, tmp_path: Path) -> None:
    whole = write_trace(tmp_path / "whole.json", STEP, tail={"distributedInfo": {"rank": 0, "world_size": 2}}).read_bytes()
    damaged = tmp_path / "damaged.json"
    damaged.write_bytes(mutated(whole, random.Random(seed)))
    try:
        with open_profile(damaged) as profile:
            for ask in (profile.module_stats, profile.step_time, profile.communication_stats):
                ask()
    except InputError as error:
        assert "damaged.json" in str(error)
        assert "defect" not in str(error)
