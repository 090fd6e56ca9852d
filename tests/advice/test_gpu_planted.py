"""Rules on planted GPU traces: where they are right, where they are nearly so and must be silent, and what the win is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import found_by
from tests.helpers.kineto import HEAD, event, kernel, launch, module, op, write_trace
from tests.helpers.slow import quick

US, MS = 1000, 1_000_000
H100 = {**HEAD, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]}
# At the peak of 989.4 TFLOPS the products of 4 x 16 heads of 128 over 4096 tokens take 0.556 ms.
LONG = [[4, 16, 4096, 128]] * 3
# One query for each sequence reads all keys and values.
DECODING = [[64, 16, 1, 128], [64, 16, 4096, 128], [64, 16, 4096, 128]]


def findings(folder: Path, events: list[str], rule: str) -> list[dict[str, Any]]:
    with open_profile(write_trace(folder / "trace.json", events, H100)) as profile:
        return [row for row in found_by(profile, rule) if row["rule"] == rule]


def attentions(dims: list[list[int]], duration: int, name: str, data_type: str = "c10::BFloat16") -> list[str]:
    """Four attentions, each launched long before the device comes to it."""
    events = [event("user_annotation", "ProfilerStep#1", 0, 100 * US)]
    arguments = {
        "Input Dims": [*dims, [], [], [], []],
        "Input type": [data_type] * 3 + ["Scalar"] * 4,
        "Concrete Inputs": ["", "", "", "0.", "False", "False", "0.088"],
    }
    for number in range(1, 5):
        start, on_device = 10 * US * number, MS + duration * number
        events += [
            op("aten::_scaled_dot_product_flash_attention", start, start + 5 * US, number, arguments=arguments),
            launch(start + US, start + 2 * US, number, number),
            kernel(name, on_device, on_device + duration, number),
        ]
    return events


@pytest.mark.parametrize(
    ("dims", "duration", "data_type", "is_found"),
    quick(
        [
            pytest.param(LONG, 5560 * US, "c10::BFloat16", True, id="a tenth of the peak"),
            pytest.param(LONG, 1700 * US, "c10::BFloat16", False, id="a third of it"),
            pytest.param(DECODING, 400 * US, "c10::BFloat16", False, id="decoding at the bandwidth of the memory"),
        ],
        0,
    ),
)
def test_attention_far_below_the_peak(
    tmp_path: Path, dims: list[list[int]], duration: int, data_type: str, is_found: bool
) -> None:
    found = findings(tmp_path, attentions(dims, duration, "flash_fwd_kernel", data_type), "slow_attention")
    if not is_found:
        assert found == []
        return
    (finding,) = found
    # Without the cause, at half of the peak, the four take 4.45 ms: the run becomes shorter by the rest.
    removed = 4 * (duration - 1112 * US)
    assert abs(finding["win_ns"] - removed) < removed // 100
    assert finding["evidence"].startswith("4 kernels run at 10.0% of the peak of bf16 for 22.2 ms")
    assert (finding["kind"], finding["kernel_type"]) == ("upper bound", "flash_fwd_kernel")
    assert "FlashAttention 3" in finding["what_to_do"]


def copies(name: str, rate_gb_s: int, beside: bool = False) -> list[str]:
    """Ten copies of 10 MB at a rate, and beside them kernels or not."""
    size = 10_000_000
    events = [event("user_annotation", "ProfilerStep#1", 0, 50 * MS)]
    for number in range(1, 11):
        start, duration = 2 * MS * number, size // rate_gb_s
        events += [
            op("aten::to", start - 100 * US, start - 10 * US, number),
            launch(start - 50 * US, start - 40 * US, number, 1),
        ]
        events += [kernel(name, start, start + duration, number, 9, "gpu_memcpy", {"bytes": size})]
        if beside:
            at = 100 + number
            events += [launch(start - 90 * US, start - 80 * US, at, 1), kernel("gemm", start - US, start + duration + US, at)]
    return events


@pytest.mark.parametrize(
    ("name", "rate_gb_s", "beside", "is_found"),
    quick(
        [
            pytest.param("Memcpy HtoD (Pageable -> Device)", 5, False, True, id="pageable"),
            pytest.param("Memcpy HtoD (Pageable -> Device)", 5, True, False, id="beside kernels"),
            pytest.param("Memcpy HtoD (Pageable -> Device)", 19, False, False, id="nearly as fast"),
            pytest.param("Memcpy HtoD (Pinned -> Device)", 5, False, False, id="pinned"),
        ],
        0,
    ),
)
def test_copies_from_pageable_memory(tmp_path: Path, name: str, rate_gb_s: int, beside: bool, is_found: bool) -> None:
    found = findings(tmp_path, copies(name, rate_gb_s, beside), "pageable_copy")
    if not is_found:
        assert found == []
        return
    (finding,) = found
    # At 20 GB/s the ten would take 5 ms in place of 20.
    assert (finding["win_ns"], finding["time_ns"]) == (15 * MS, 20 * MS)
    assert finding["evidence"] == "10 copies move 95.4 MiB in 20.0 ms, 5.0 GB/s"
    assert finding["title"] == "Copies from pageable memory of the host are slow"


def preprocessing(before: int, launches: bool = False) -> list[str]:
    """A step of 40 ms on the device whose host works before its first launch, or launches what is not recorded."""
    events = [event("user_annotation", "ProfilerStep#1", 0, before + 50 * MS), op("decode_images", 10, before - 10 * US, 1)]
    events += [event("python_function", "data.py(7): preprocess", 5, before - 5 * US, 1, 1, {"Python id": 1})]
    events += [launch(100 * US, 101 * US, 999, 1)] if launches else []
    for number in range(4):
        start = before + 10 * MS * number
        events += [op("aten::mm", start, start + 20 * US, 2 + number), launch(start + US, start + 9 * US, 2 + number, 1)]
        events += [kernel("gemm", start + 10 * US, start + 10 * MS, 2 + number)]
    return events


@pytest.mark.parametrize(
    ("before", "launches", "is_found"),
    quick(
        [
            pytest.param(60 * MS, False, True, id="three fifths"),
            pytest.param(4 * MS, False, False, id="less than a tenth"),
            pytest.param(60 * MS, True, False, id="kernels that are not recorded"),
        ],
        0,
    ),
)
def test_host_work_before_the_first_kernel(tmp_path: Path, before: int, launches: bool, is_found: bool) -> None:
    found = findings(tmp_path, preprocessing(before, launches), "late_first_kernel")
    if not is_found:
        assert found == []
        return
    (finding,) = found
    assert finding["time_ns"] == before + US
    assert finding["evidence"].endswith("60.0 ms of it are in decode_images; 60.0 ms are in data.py(7): preprocess")


@pytest.mark.parametrize(("busy", "is_found"), quick([(1760, True), (3 * MS, True), (4 * MS, False)], 0))
def test_a_device_with_hardly_any_work(tmp_path: Path, busy: int, is_found: bool) -> None:
    events = [event("user_annotation", "ProfilerStep#1", 0, 80 * MS), op("aten::mm", 10, 60 * MS, 1)]
    events += [launch(100, 200, 1, 1), kernel("gemm", 300, 300 + busy, 1)]
    found = findings(tmp_path, events, "idle_device")
    assert [one["time_ns"] for one in found] == ([busy] if is_found else [])


@pytest.mark.parametrize(
    "events",
    quick(
        [
            pytest.param(preprocessing(60 * MS), id="host"),
            pytest.param(attentions(LONG, 5560 * US, "flash_fwd_kernel"), id="attention"),
            pytest.param(copies("Memcpy HtoD (Pageable -> Device)", 5), id="copies"),
        ],
        0,
    ),
)
def test_what_to_do_is_of_the_device(tmp_path: Path, events: list[str]) -> None:
    """No finding on a GPU names what NPUs alone have."""
    with open_profile(write_trace(tmp_path / "trace.json", events, H100)) as profile:
        said = profile.rows("SELECT what_to_do FROM advice.finding")
    assert said
    assert not [
        row for row in said if re.search(r"(?i)\bnpu|torch_npu|torch\.npu|ascend|hccl|mindspeed|<<|\|\|", row["what_to_do"])
    ]


def strided(rate_gb_s: int, size: int, beside: bool = False) -> list[str]:
    """Twenty negations of a tensor of halves at a rate, of which half is read and half written."""
    arguments = {"Input Dims": [[size // 2048, 1024]], "Input type": ["c10::Half"]}
    events = [event("user_annotation", "ProfilerStep#1", 0, 50 * MS)]
    duration = 2 * size // rate_gb_s
    for number in range(1, 21):
        host, start = 10 * US * number, MS + (duration + US) * number
        events += [
            op("aten::neg", host, host + 5 * US, number, arguments=arguments),
            launch(host + US, host + 2 * US, number, number),
        ]
        events += [kernel("void at::native::elementwise_kernel<neg_kernel_cuda>", start, start + duration, number)]
        if beside:
            at = 100 + number
            events += [launch(host + 3 * US, host + 4 * US, at, 1), kernel("gemm", start - US, start + duration, at, 9)]
    return events


@pytest.mark.parametrize(
    ("rate_gb_s", "size", "beside", "is_found"),
    quick(
        [
            pytest.param(670, 2**26, False, True, id="a fifth of the bandwidth"),
            pytest.param(1400, 2**26, False, False, id="just above two fifths of it"),
            pytest.param(670, 2**26, True, False, id="beside other kernels"),
            pytest.param(20, 2**18, False, False, id="too small to fill the device"),
        ],
        0,
    ),
)
def test_ops_element_by_element_far_below_the_bandwidth(
    tmp_path: Path, rate_gb_s: int, size: int, beside: bool, is_found: bool
) -> None:
    found = findings(tmp_path, strided(rate_gb_s, size, beside), "slow_memory")
    if not is_found:
        assert found == []
        return
    (finding,) = found
    # At 80 % of 3,350 GB/s, the twenty take a quarter of their time.
    now, removed = (20 * (2 * size // rate) for rate in (rate_gb_s, 2680))
    assert abs(finding["win_ns"] - (now - removed)) <= 40
    assert finding["evidence"] == "20 kernels move 2.50 GiB in 4.0 ms, 670 of the 3,350 GB/s of NVIDIA H100 SXM; of shape " + (
        "32768,1024: 670 GB/s"
    )
    assert "contiguous()" in finding["what_to_do"]


def products(duration: int, count: int, between: bool = False) -> list[str]:
    """Ten loops over products of [64, 512] and [512, 512], and another kernel behind each loop or each product."""
    arguments = {"Input Dims": [[64, 512], [512, 512]], "Input type": ["c10::BFloat16"] * 2}
    events, at, on_device = [event("user_annotation", "ProfilerStep#1", 0, 50 * MS)], 0, 5 * MS
    for _ in range(10):
        for place in range(count):
            at += 1
            events += [op("aten::mm", 10 * US * at, 10 * US * at + 5 * US, at, arguments=arguments)]
            events += [launch(10 * US * at + US, 10 * US * at + 2 * US, at, at)]
            events += [kernel("sm90_xmma_gemm_bf16bf16", on_device, on_device + duration, at)]
            on_device += duration
            if between or place == count - 1:
                other = 1000 + at
                events += [op("aten::relu", 10 * US * at + 6 * US, 10 * US * at + 9 * US, other)]
                events += [launch(10 * US * at + 7 * US, 10 * US * at + 8 * US, other, other)]
                events += [kernel("relu_kernel", on_device, on_device + 2 * US, other)]
                on_device += 2 * US
    return events


@pytest.mark.parametrize(
    ("duration", "count", "between", "is_found"),
    quick(
        [
            pytest.param(8 * US, 8, False, True, id="a loop over eight"),
            pytest.param(8 * US, 2, False, False, id="two"),
            pytest.param(8 * US, 8, True, False, id="each needs the one before it"),
            pytest.param(51 * US, 8, False, False, id="long ones"),
        ],
        0,
    ),
)
def test_small_products_one_after_another(tmp_path: Path, duration: int, count: int, between: bool, is_found: bool) -> None:
    found = findings(tmp_path, products(duration, count, between), "small_matmuls")
    if not is_found:
        assert found == []
        return
    (finding,) = found
    # One batched product takes the place of eight.
    assert finding["win_ns"] == 10 * (count - 1) * duration
    assert finding["evidence"].startswith(
        "80 matmuls of 64,512;512,512 in 10 runs, 8 in each with nothing between them, take 640.0 us"
    )


GROUP = {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}
JOB = {**H100, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2, "pg_config": [GROUP]}}


def all_reduces(count: int, size: int, duration: int, late: int = 0, covered: bool = False) -> list[str]:
    """All-reduces of halves over two ranks; `late` is how much later this rank comes to each."""
    arguments = {"Collective name": "allreduce", "In msg nelems": size // 2, "Out msg nelems": size // 2, "dtype": "BFloat16"}
    arguments |= {"Group size": 2, "Process Group Name": "0", "Process Group Description": "default_pg"}
    events = [event("user_annotation", "ProfilerStep#1", 0, (duration + MS) * count + 10 * MS)]
    for number in range(1, count + 1):
        start, host = 2 * MS + (duration + 100 * US) * number + late, 10 * US * number
        events += [launch(host, host + US, number, number), op("c10d::allreduce_", host - US, host + 2 * US, number)]
        events += [
            kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", start, start + duration - late, number, 20, arguments=arguments)
        ]
        if covered:
            at = 1000 + number
            events += [launch(host + 3 * US, host + 4 * US, at, 1), kernel("gemm", start - US, start + duration, at)]
    return events


def found_in_job(folder: Path, of_ranks: list[list[str]], rule: str) -> list[dict[str, Any]]:
    for rank, events in enumerate(of_ranks):
        job = {**JOB, "distributedInfo": {**JOB["distributedInfo"], "rank": rank}}
        write_trace(folder / f"rank{rank}.json", events, job)
    with open_profile(folder) as profile:
        return [row for row in found_by(profile, rule) if row["rule"] == rule]


@pytest.mark.parametrize(
    ("size", "duration", "covered", "is_found"),
    quick(
        [
            # Between two ranks, a bus bandwidth of 175 MB / 4 ms is 43.75 of 450 GB/s.
            pytest.param(175_000_000, 4 * MS, False, True, id="a tenth of the links"),
            pytest.param(175_000_000, 970 * US, False, False, id="just above two fifths"),
            pytest.param(175_000_000, 4 * MS, True, False, id="covered"),
            pytest.param(16_000_000, 4 * MS, False, False, id="not large"),
        ],
        0,
    ),
)
def test_collectives_far_below_their_links(tmp_path: Path, size: int, duration: int, covered: bool, is_found: bool) -> None:
    ranks = [all_reduces(4, size, duration, covered=covered) for _ in range(2)]
    found = found_in_job(tmp_path, ranks, "slow_collective")
    if not is_found:
        assert found == []
        return
    # At 70 % of the links each would take 175 MB / 315 GB/s.
    removed = 4 * (duration - round(175_000_000 / 315))
    assert sorted((row["rank_id"], row["kind"]) for row in found) == [(rank, "upper bound") for rank in range(2)]
    assert all(abs(row["win_ns"] - removed) <= 4 for row in found)
    assert "reaches a bus bandwidth of 43.8 GB/s, the links have 450 GB/s" in found[0]["evidence"]


def test_waiting_for_a_late_rank_is_not_won_by_faster_links(tmp_path: Path) -> None:
    """One rank waits 1 ms in each of four for the other."""
    ranks = [all_reduces(4, 175_000_000, 4 * MS, late=MS if rank == 1 else 0) for rank in range(2)]
    found = found_in_job(tmp_path, ranks, "slow_collective")
    removed = {rank: 4 * (3 * MS - round(175_000_000 / 315)) for rank in range(2)}
    assert all(abs(row["win_ns"] - removed[row["rank_id"]]) <= 4 for row in found)
    assert {row["rank_id"] for row in found if "4.0 ms of it is in waiting for late ranks" in row["evidence"]} == {0}


def test_one_rank_of_slow_collectives_may_wait(tmp_path: Path) -> None:
    """Whether the other is late is not known."""
    (finding,) = found_in_job(tmp_path, [all_reduces(4, 175_000_000, 4 * MS)], "slow_collective")
    assert (finding["win_ns"], finding["kind"]) == (None, "hint")
    assert finding["evidence"].endswith("the other ranks are not here to say how long this one waits for them")


@pytest.mark.parametrize(
    ("count", "size", "covered", "is_found"),
    quick(
        [
            pytest.param(40, 20_000, False, True, id="forty"),
            pytest.param(9, 20_000, False, False, id="nine"),
            pytest.param(40, 2_000_000, False, False, id="not small"),
            pytest.param(40, 20_000, True, False, id="covered"),
        ],
        0,
    ),
)
def test_many_small_collectives(tmp_path: Path, count: int, size: int, covered: bool, is_found: bool) -> None:
    found = found_in_job(tmp_path, [all_reduces(count, size, 50 * US, covered=covered)], "small_collectives")
    if not is_found:
        assert found == []
        return
    (finding,) = found
    # One takes the place of forty.
    assert finding["win_ns"] == 39 * 50 * US
    assert finding["evidence"].startswith(
        "40 operators of 19.5 KiB on average, 40 in a step, take 2.0 ms without computing, 50.0 us each"
    )
    assert "all_reduce_coalesced" in finding["what_to_do"]


def casts(duration: int, is_in_module: bool = True) -> list[str]:
    """Ten products of 100 us and a cast behind each, in a module or behind it."""
    arguments = {"Input Dims": [[64, 64], [64, 64], []], "Input type": ["c10::BFloat16", "float", "Scalar"]}
    events = [event("user_annotation", "ProfilerStep#1", 0, 50 * MS)]
    on_device = 5 * MS
    for number in range(1, 11):
        host = 20 * US * number
        events += [module("Linear_0", host - US, host + (12 if is_in_module else 5) * US)]
        events += [op("aten::mm", host, host + 4 * US, number), launch(host + US, host + 2 * US, number, number)]
        events += [op("aten::copy_", host + 6 * US, host + 10 * US, 100 + number, arguments=arguments)]
        events += [launch(host + 7 * US, host + 8 * US, 100 + number, 100 + number)]
        events += [kernel("gemm", on_device, on_device + 100 * US, number)]
        name = "void at::native::bfloat16_copy_kernel_cuda"
        events += [kernel(name, on_device + 100 * US, on_device + 100 * US + duration, 100 + number)]
        on_device += 100 * US + duration
    return events


@pytest.mark.parametrize(
    ("duration", "is_in_module", "is_found"),
    quick(
        [
            pytest.param(10 * US, True, True, id="a tenth"),
            pytest.param(2 * US, True, False, id="less than two hundredths"),
            pytest.param(10 * US, False, False, id="outside modules"),
        ],
        0,
    ),
)
def test_casts_as_a_share(tmp_path: Path, duration: int, is_in_module: bool, is_found: bool) -> None:
    found = findings(tmp_path, casts(duration, is_in_module), "type_conversion")
    if not is_found:
        assert found == []
        return
    (finding,) = found
    assert finding["win_ns"] == 10 * duration
    assert finding["evidence"] == "10 casts take 100.0 us, 9.1% of computing; from float to c10::BFloat16 alone 100.0 us"


def logging(between: int, has_stacks: bool = True, in_op: bool = False) -> list[str]:
    """Three steps of two products of 1 ms, and the host at work behind each step."""
    events, at, number = [], 0, 0
    for step in range(1, 4):
        begin = at
        for _ in range(2):
            number += 1
            events += [op("aten::mm", at, at + 20 * US, number), launch(at + 5 * US, at + 10 * US, number, number)]
            on_device = begin + 20 * US + (MS if number % 2 == 0 else 0)
            events += [kernel("gemm", on_device, on_device + MS, number)]
            at += 25 * US
        at = begin + 2 * MS + 20 * US
        events += [event("user_annotation", f"ProfilerStep#{step}", begin, at)]
        if in_op:
            events += [op("write_logs", at, at + between, 1000 + step)]
        if has_stacks:
            of_call = {"Python id": step}
            events += [event("python_function", "train.py(88): log_metrics", at, at + between, arguments=of_call)]
        at += between
    return events


@pytest.mark.parametrize(
    ("between", "has_stacks", "in_op", "function"),
    quick(
        [
            pytest.param(6 * MS, True, False, "; 12.0 ms of it in train.py(88): log_metrics", id="named by its stack"),
            pytest.param(6 * MS, False, False, "code outside modules", id="without stacks"),
            pytest.param(50 * US, True, False, None, id="short"),
            pytest.param(6 * MS, True, True, None, id="in an op"),
        ],
        0,
        1,
    ),
)
def test_host_work_between_steps_by_its_function(
    tmp_path: Path, between: int, has_stacks: bool, in_op: bool, function: str | None
) -> None:
    found = findings(tmp_path, logging(between, has_stacks, in_op), "python_between_ops")
    if function is None:
        assert found == []
        return
    (finding,) = found
    # The device waits as long as the host works, but for what it had still to do when the step ended on the host.
    assert 2 * (between - 100 * US) <= finding["win_ns"] <= 2 * (between + 100 * US)
    assert finding["title"] == "Python keeps the host busy between steps"
    assert finding["evidence"].endswith(function)
    assert ("with_stack" in finding["what_to_do"]) is not has_stacks
