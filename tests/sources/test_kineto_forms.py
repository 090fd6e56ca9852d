"""Forms of traces that torch.profiler wrote in other years, on other devices and with less switched on."""

import json
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.common.errors import InputError
from tests.helpers.frames import arrow_of
from tests.helpers.kineto import BASE_NS, HEAD, event, kernel, launch, memory, module, op, write_trace
from tests.helpers.slow import quick

KERNELS = """
    SELECT kind, name, duration_ns, reason, op_name, if(parent_module = '', module, parent_module || '/' || module) AS module
    FROM module.kernel
    ORDER BY start_ns
"""
GRAPH = "## Call CompiledFxGraph fabc ##"


def old(category: str, name: str, pid: int, tid: int | str, ts: int, dur: int, **arguments: Any) -> dict[str, Any]:
    """An event of 2021: times are whole microseconds, threads are texts."""
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": arguments}


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    with open_profile(path, **options) as profile:
        assert profile.warnings == []
        return [tuple(row.values()) for row in profile.sql(KERNELS, arrow=True).to_pylist()]


@pytest.mark.slow
def test_a_trace_of_2021(tmp_path: Path) -> None:
    """Operator, Runtime and Kernel; ids in lower case; devices under another name; call stacks instead of Python functions."""
    at = 1_621_401_187_223_197
    step, stack = {"External id": 1}, {"External id": 2, "Call stack": "net.py(7): forward;torch/nn/modules/linear.py(94)"}
    external = {"external id": 2, "external ts": at}
    events = [
        old("Operator", "ProfilerStep#4", 7, "7", at - 10, 500, **step),
        old("Operator", "aten::mm", 7, "7", at, 21, **stack),
        old("Operator", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 7, "7", at + 30, 400),
        old("Runtime", "cudaLaunchKernel", 7, "7", at + 3, 5, correlation=331, **external),
        old("Runtime", "cudaMemcpyAsync", 7, "7", at + 10, 5, correlation=332, **external),
        old("Kernel", "volta_sgemm_32x32_sliced1x4_tn", 0, "stream 7", at + 103, 30, device=0, stream=7, correlation=331),
        old("Memcpy", "Memcpy HtoD (Pageable -> Device)", 0, "stream 7", at + 140, 2, device=0, stream=7, correlation=332),
        {"ph": "f", "id": 331, "pid": 0, "tid": "stream 7", "ts": at + 103, "cat": "async_gpu", "name": "async_gpu", "bp": "e"},
    ]
    file = tmp_path / "worker0.pt.trace.json"
    devices = [{"id": 0, "name": "Tesla V100", "multiProcessorCount": 80}]
    file.write_text(json.dumps({"schemaVersion": 1, "computeProperties": devices, "traceEvents": events}, indent=2))
    assert rows(file) == [
        ("compute", "volta_sgemm_32x32_sliced1x4_tn", 30_000, "outside every module", "aten::mm", None),
        ("copy", "Memcpy HtoD (Pageable -> Device)", 2_000, "outside every module", "aten::mm", None),
    ]
    with open_profile(file) as profile:
        (step_time, *_) = arrow_of(profile.step_time()).to_pylist()
        threads = profile.sql("SELECT DISTINCT tid % 4294967296 AS tid FROM trace.op")["tid"].tolist()
    assert (step_time["step_id"], step_time["computing_ns"], step_time["copying_not_overlapped_ns"]) == (4, 30_000, 2_000)
    assert threads == [7]


def test_an_id_of_the_call_itself_is_no_op(tmp_path: Path) -> None:
    """In 2022 the runtime carries its correlation as External id, which is also that of an op somewhere else."""
    events = [
        op("aten::relu", 0, 1_000, 9),
        op("aten::mm", 2_000, 9_000, 3),
        launch(3_000, 4_000, 9, 9),
        kernel("gemm", 20_000, 30_000, 9, arguments={"External id": 9}),
    ]
    assert rows(write_trace(tmp_path / "trace.json", events)) == [
        ("compute", "gemm", 10_000, "outside every module", "aten::mm", None)
    ]


@pytest.mark.parametrize(
    ("of_call", "reason", "op_name"), [(58, "outside every module", "aten::mm"), (57, "no host launch", None)]
)
def test_rocm_links_by_external_ids_of_calls_alone(of_call: int, reason: str, op_name: str | None, tmp_path: Path) -> None:
    """Without correlations the id of a call is that of its kernel, unless two calls have one."""

    def call(name: str, start: int, end: int, external: int) -> str:
        return event("cuda_runtime", name, start, end, arguments={"External id": external})

    events = [
        op("aten::mm", 0, 9_000, 58),
        op("aten::mm", 10_000, 19_000, 1_025),
        call("hipGetDeviceProperties", 11_000, 12_000, 57),
        call("hipExtModuleLaunchKernel", 13_000, 14_000, of_call),
        event("kernel", "Cijk_Ailk", 20_000, 30_000, tid=0, pid=2, arguments={"External id": 58}),
        event("kernel", "Cijk_Alik", 31_000, 33_000, tid=0, pid=2, arguments={"External id": 58}),
    ]
    file = write_trace(tmp_path / "trace.json", events)
    with open_profile(file) as profile:
        found = profile.sql(
            "SELECT name, duration_ns, reason, op_name, op_start_ns FROM module.kernel ORDER BY start_ns", arrow=True
        ).to_pylist()
    of_op = {"reason": reason, "op_name": op_name, "op_start_ns": None if op_name is None else BASE_NS + 10_000}
    assert found == [
        {"name": "Cijk_Ailk", "duration_ns": 10_000, **of_op},
        {"name": "Cijk_Alik", "duration_ns": 2_000, **of_op},
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("has_calls", "reason"), [(True, "launch outside any op"), (False, "cut at the profile edge")])
def test_a_trace_without_ops_has_all_kernels(has_calls: bool, reason: str, tmp_path: Path) -> None:
    events = [kernel("gemm", 20_000, 30_000, 1), kernel("Memset (Device)", 31_000, 31_500, 2, category="gpu_memset")]
    calls = [launch(1_000, 2_000, 1), launch(3_000, 4_000, 2, name="cudaMemsetAsync")]
    file = write_trace(tmp_path / "trace.json", [*events, *(calls if has_calls else [])])
    assert rows(file) == [
        ("compute", "gemm", 10_000, reason, None, None),
        ("copy", "Memset (Device)", 500, reason, None, None),
    ]
    with open_profile(file) as profile:
        answers = set(profile.ranks()["answers"][0])
        assert {"kernel-stats", "step-time", "slow-ranks"} <= answers
        assert not answers & {"op-stats", "module-stats"}
        for command in answers:
            getattr(profile, command.replace("-", "_"))()


@pytest.mark.slow
def test_inductor_launches_triton_kernels_from_ops_of_its_own(tmp_path: Path) -> None:
    kernel_of = {"kernel_backend": "triton", "kernel_file": "/tmp/c.py", "stream": 7, "grid": "grid(1,)"}
    events = [
        module("Net_0", 0, 9_000, number=1),
        op("Torch-Compiled Region: 0/0", 1_000, 8_000, 1),
        event("user_annotation", GRAPH, 1_500, 7_500, arguments={"External id": 2}),
        op("triton_poi_fused_add_relu_0", 2_000, 4_000, 3, arguments=kernel_of),
        event("cuda_driver", "cuLaunchKernelEx", 2_500, 3_500, arguments={"cbid": 652, "correlation": 5, "External id": 3}),
        op("extern_kernels.mm", 4_500, 7_000, 4),
        op("aten::mm", 4_600, 6_900, 6),
        launch(5_000, 6_000, 6, 6, name="cudaLaunchKernelExC"),
        event("gpu_user_annotation", GRAPH, 9_999, 31_001, 7, 0),
        kernel("triton_poi_fused_add_relu_0", 10_000, 20_000, 5),
        kernel("nvjet_tst_128x64_64x8_1x2_h_bz_NNT", 21_000, 31_000, 6, arguments={"graph id": 0, "graph node id": 0}),
    ]
    file = write_trace(tmp_path / "trace.json", events)
    assert rows(file) == [
        ("compute", "triton_poi_fused_add_relu_0", 10_000, None, "triton_poi_fused_add_relu_0", "Net"),
        ("compute", "nvjet_tst_128x64_64x8_1x2_h_bz_NNT", 10_000, None, "aten::mm", "Net"),
    ]
    with open_profile(file) as profile:
        assert profile.sql("SELECT DISTINCT model_id FROM trace.kernel WHERE model_id IS NOT NULL").empty
        assert profile.sql("SELECT name FROM trace.range WHERE origin = 'record_function'")["name"].tolist() == [GRAPH]


OTHERS = {
    "xpu": ("xpu_runtime", "urEnqueueKernelLaunchWithArgsExp", "kernel"),
    "mtia": ("mtia_runtime", "runtime_launch", "mtia_ccp_events"),
    "privateuse1": ("privateuse1_driver", "myLaunch", "kernel"),
    "any device": ("runtime", "launch", "kernel"),
}


@pytest.mark.parametrize("device", quick(OTHERS, 1))
def test_other_devices_have_categories_of_their_own(device: str, tmp_path: Path) -> None:
    runtime, call, work = OTHERS[device]
    events = [
        module("Net_0", 0, 9_000, number=1),
        op("aten::mm", 1_000, 8_000, 1),
        event(runtime, call, 2_000, 3_000, arguments={"correlation": 4, "External id": 1}),
        event(work, "gemm", 20_000, 30_000, 7, 0, {"device": 0, "correlation": 4}),
    ]
    file = write_trace(tmp_path / "trace.json", events)
    assert rows(file) == [("compute", "gemm", 10_000, None, "aten::mm", "Net")]
    with open_profile(file) as profile:
        assert profile.sql("SELECT stream_id FROM trace.kernel")["stream_id"].tolist() == [7]


def test_waits_and_copies_of_mtia_compute_nothing(tmp_path: Path) -> None:
    """Its events are of one category; the device waits for an event in some of them, and copies in others."""
    events = [
        launch(500, 900, 1),
        kernel("fba_gemm", 1_000, 5_000, 1, category="mtia_ccp_events"),
        kernel("event_wait", 5_000, 9_000, 2, category="mtia_ccp_events"),
        kernel("dma_request", 9_000, 9_500, 3, category="mtia_ccp_events"),
    ]
    with open_profile(write_trace(tmp_path / "trace.json", events)) as profile:
        assert profile.warnings == []
        work = profile.sql("SELECT kind, name, start_ns - min(start_ns) OVER () FROM trace.kernel ORDER BY 3").values.tolist()
        copies = profile.sql("SELECT direction, duration_ns FROM trace.copy").values.tolist()
        waits = profile.sql("SELECT stream_id, end_ns - start_ns FROM trace.stream_wait").values.tolist()
        audit = profile.sql("SELECT what, place, duration_ns FROM trace.work_audit ORDER BY place").values.tolist()
    assert work == [["compute", "fba_gemm", 0], ["copy", "dma_request", 8_000]]
    assert (copies, waits) == ([["other", 500]], [[7, 4_000]])
    assert sorted(audit) == [["copy", "copy", 500], ["kernel", "kernel", 4_000], ["kernel", "no work", 4_000]]


def test_what_is_no_work_counts_nowhere(tmp_path: Path) -> None:
    """Spans, counters, overhead, waits of streams and ranges on the device lie beside the kernels, under ids that are words."""
    events = [
        op("aten::mm", 1_000, 8_000, 1),
        launch(2_000, 3_000, 4, 1),
        kernel("gemm", 20_000, 30_000, 4),
        event("Trace", "PyTorch Profiler (0)", 0, 99_000, "PyTorch Profiler", "Spans"),
        event("overhead", "Buffer Flush", 40_000, 90_000, 0, -1),
        event("cuda_sync", "Stream Wait Event", 21_000, 22_000, 7, 0, {"stream": 7, "correlation": 9}),
        event("cuda_event", "cudaEventRecord", 23_000, 24_000, 7, 0, {"stream": 7, "correlation": 8}),
        event("gpu_user_annotation", "ProfilerStep#1", 19_999, 30_001, 7, 0),
        event("hardware_counters", "sm__cycles", 25_000, 26_000, "", "GPU 0 Counters"),
        '{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 1, "ts": 1.5, "args": {}}',
        '{"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 99.000}',
        '{"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces", "tid": "Trace", "ts": 0.000}',
    ]
    assert rows(write_trace(tmp_path / "trace.json", events)) == [
        ("compute", "gemm", 10_000, "outside every module", "aten::mm", None)
    ]


@pytest.mark.slow
def test_modules_lie_on_the_thread_that_called_them(tmp_path: Path) -> None:
    """Two threads run the same model at the same time."""
    events = []
    for tid in (1, 2):
        events += [
            module(f"Net_{tid}", 0, 9_000, tid, tid),
            module(f"Linear_{tid}", 500, 8_500, tid, 10 + tid),
            op("aten::mm", 1_000, 8_000, tid, tid),
            launch(2_000 + tid, 3_000, tid, tid, tid),
            kernel(f"gemm{tid}", 10_000 * tid, 10_000 * tid + 100 * tid, tid),
        ]
    assert rows(write_trace(tmp_path / "trace.json", events)) == [
        ("compute", "gemm1", 100, None, "aten::mm", "Net/Linear"),
        ("compute", "gemm2", 200, None, "aten::mm", "Net/Linear"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("size", quick([1, 71], 1))
def test_a_trace_on_demand_names_its_job_after_the_events(size: int, tmp_path: Path) -> None:
    """With ranks as texts, and any number of process groups."""
    groups = [
        {"pg_name": str(one), "pg_desc": f"group {one}", "backend_config": "cuda:nccl", "pg_size": 2, "ranks": f"[{one}, 5]"}
        for one in range(size)
    ]
    job = {
        "backend": "nccl",
        "rank": 5,
        "world_size": 128,
        "pg_count": str(size),
        "pg_config": groups,
        "nccl_version": "unknown",
    }
    head = {"schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}
    reduced = {"Collective name": "allreduce", "Process Group Name": str(size - 1)}
    file = write_trace(tmp_path / "t.json", [kernel("ncclDevKernel_Generic(x)", 1, 3, 0, arguments=reduced)], head,
                       {"distributedInfo": job, "traceName": "/tmp/t.json"})  # fmt: skip
    with open_profile(file) as profile:
        assert profile.ranks()[["rank_id", "rank_id_from"]].to_numpy().tolist() == [[5, "distributedInfo"]]
        assert profile.sql("SELECT count(DISTINCT group_name) AS n FROM trace.parallel_group")["n"].tolist() == [size]
        (row,) = arrow_of(profile.communication_stats()).to_pylist()
    assert (row["group_name"], row["group_label"]) == (str(size - 1), f"group {size - 1}")


ALL_REDUCES = {
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)": "allreduce",
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8>(Params)": "allreduce",
    "void c10d::symmetric_memory::(anonymous namespace)::one_shot_all_reduce_kernel<float, 16>(float**)": "allreduce",
    "void deep_ep::internode::dispatch<false, 8, false>(int4*, float*)": "dispatch",
    "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot>(half const*)": "allreduce",
    "mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(mori::moe::EpDispatchCombineArgs)": "dispatch",
    "void rocshmem::barrier_all_kernel(rocshmem::Context*)": None,
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)": "allreduce",
    "rcclGenericKernel<1, false>(ncclDevComm*)": None,
    "void at::native::reduce_kernel<512, 1>(at::native::ReduceOp<float>)": "-",
    "void deep_ep::layout::get_dispatch_layout<256>(long const*)": "-",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL_REDUCES)
def test_collectives_that_engines_bring_along_are_communication(name: str, tmp_path: Path) -> None:
    expected = ALL_REDUCES[name]
    file = write_trace(tmp_path / "trace.json", [kernel(name, 1_000, 2_000, 0)], HEAD)
    with open_profile(file) as profile:
        (found,) = profile.sql("SELECT kind FROM trace.kernel")["kind"]
        assert found == ("compute" if expected == "-" else "communication")
        if expected != "-":
            assert arrow_of(profile.communication_stats())["type"].to_pylist() == [expected]


@pytest.mark.slow
def test_ranges_say_who_made_them(tmp_path: Path) -> None:
    events = [
        event("user_annotation", "ProfilerStep#7", 0, 90_000),
        event("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1_000, 5_000),
        event("user_annotation", "nccl:all_reduce", 10_000, 11_000),
        event("user_annotation", "loss", 20_000, 30_000),
        kernel("gemm", 40_000, 50_000, 1),
    ]
    with open_profile(write_trace(tmp_path / "trace.json", events)) as profile:
        found = arrow_of(profile.mstx_stats()).to_pylist()
    assert {row["message"]: (row["domain"], row["producer"], row["host_total_ns"]) for row in found} == {
        "ProfilerStep#7": ("default", "profiler step", 90_000),
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__": ("default", "dataloader", 4_000),
        "all_reduce": ("nccl", "communication", 1_000),
        "loss": ("loss", "user", 10_000),
    }


@pytest.mark.slow
def test_a_blocking_copy_waits_for_the_device(tmp_path: Path) -> None:
    """On ROCm a value is read with hipMemcpyWithStream, which returns when the device has done all before it."""
    events = [
        op("aten::item", 0, 30_000, 1),
        event("cuda_runtime", "hipMemcpyWithStream", 1_000, 29_000, arguments={"correlation": 1, "External id": 1}),
        op("aten::mul", 30_000, 40_000, 2),
        event("cuda_runtime", "hipMemcpyAsync", 31_000, 33_000, arguments={"correlation": 2, "External id": 2}),
        launch(35_000, 36_000, 3, 2),
        kernel("first", 500, 2_000, 0),
        kernel("last", 40_000, 50_000, 3),
    ]
    with open_profile(write_trace(tmp_path / "trace.json", events)) as profile:
        causes = {row["cause"]: row["total_ns"] for row in arrow_of(profile.free_time()).to_pylist()}
    assert causes == {"waiting in a synchronise": 27_000, "inside an op": 6_000, "between queue and device": 5_000}


@pytest.mark.parametrize("space", quick(["", " "], 1))
def test_bytes_of_copies_and_of_memory_are_read_together(space: str, tmp_path: Path) -> None:
    """Copies have "bytes", memory "Bytes": for DuckDB these are one name."""
    events = [
        op("aten::copy_", 0, 3_000, 1),
        launch(1_000, 2_000, 4, 1),
        kernel("Memcpy HtoD", 20_000, 30_000, 4, category="gpu_memcpy", arguments={"bytes": 4096}),
        memory(512, 16, 500, (512, 1024)).replace('"Bytes":', f'"Bytes"{space}:'),
        event("cpu_op", "Bytes", 5_000, 6_000),
    ]
    with open_profile(write_trace(tmp_path / "trace.json", events)) as profile:
        profile.provide(("across.copy", "allocation.block", "trace.op"))
        assert profile.rows("SELECT size_bytes FROM across.copy WHERE direction = 'all'") == [{"size_bytes": 4096}]
        assert profile.rows("SELECT size_bytes FROM allocation.block") == [{"size_bytes": 512}]
        assert profile.rows("SELECT name FROM trace.op WHERE name = 'Bytes'") == [{"name": "Bytes"}]


def test_ranges_of_counters_are_no_kernels(tmp_path: Path) -> None:
    """Kineto gives each the same part of the recording. `ranks` and the question refuse with one sentence."""
    events = [event("user_annotation", "ProfilerStep#1", 0, 50_000)]
    for number in range(1, 6):
        at = 1000 * number
        counters = {"smsp__inst_executed.sum": 1234.0}
        events += [op("aten::mm", at, at + 500, number), launch(at + 100, at + 200, number, number)]
        events += [event("cuda_profiler_range", "sgemm", 10_000 * (number - 1), 10_000 * number, 0, 0, counters)]
    with open_profile(write_trace(tmp_path / "trace.json", events)) as profile:
        with pytest.raises(InputError, match=r"ranges of counters \(cuda_profiler_range\) are in their place") as raised:
            profile.kernel_stats()
        reason = str(raised.value).partition("can answer this: ")[2]
        assert "record once more without profiler_metrics" in reason
        assert reason.partition("; host time")[0] in str(profile.ranks()["missing"].tolist())
        assert profile.op_stats()["calls"].sum() == 5
