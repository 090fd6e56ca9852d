"""Rules on planted GPU traces: where they are right, where they are nearly so and must be silent, and what the win is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import found_by
from tests.helpers.kineto import HEAD, event, kernel, launch, op, write_trace

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
    [
        pytest.param(LONG, 5560 * US, "c10::BFloat16", True, id="a tenth of the peak"),
        pytest.param(LONG, 1700 * US, "c10::BFloat16", False, id="a third of it"),
        pytest.param(DECODING, 400 * US, "c10::BFloat16", False, id="decoding at the bandwidth of the memory"),
    ],
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
    [
        pytest.param("Memcpy HtoD (Pageable -> Device)", 5, False, True, id="pageable"),
        pytest.param("Memcpy HtoD (Pageable -> Device)", 5, True, False, id="beside kernels"),
        pytest.param("Memcpy HtoD (Pageable -> Device)", 19, False, False, id="nearly as fast"),
        pytest.param("Memcpy HtoD (Pinned -> Device)", 5, False, False, id="pinned"),
    ],
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
    [
        pytest.param(60 * MS, False, True, id="three fifths"),
        pytest.param(4 * MS, False, False, id="less than a tenth"),
        pytest.param(60 * MS, True, False, id="kernels that are not recorded"),
    ],
)
def test_host_work_before_the_first_kernel(tmp_path: Path, before: int, launches: bool, is_found: bool) -> None:
    found = findings(tmp_path, preprocessing(before, launches), "late_first_kernel")
    if not is_found:
        assert found == []
        return
    (finding,) = found
    assert finding["time_ns"] == before + US
    assert finding["evidence"].endswith("60.0 ms of it are in decode_images; 60.0 ms are in data.py(7): preprocess")


@pytest.mark.parametrize(("busy", "is_found"), [(1760, True), (3 * MS, True), (4 * MS, False)])
def test_a_device_with_hardly_any_work(tmp_path: Path, busy: int, is_found: bool) -> None:
    events = [event("user_annotation", "ProfilerStep#1", 0, 80 * MS), op("aten::mm", 10, 60 * MS, 1)]
    events += [launch(100, 200, 1, 1), kernel("gemm", 300, 300 + busy, 1)]
    found = findings(tmp_path, events, "idle_device")
    assert [one["time_ns"] for one in found] == ([busy] if is_found else [])


def test_what_to_do_is_of_the_device(tmp_path: Path) -> None:
    """No finding on a GPU names what NPUs alone have."""
    for name, events in {
        "attention": attentions(LONG, 5560 * US, "flash_fwd_kernel"),
        "copies": copies("Memcpy HtoD (Pageable -> Device)", 5),
        "host": preprocessing(60 * MS),
    }.items():
        with open_profile(write_trace(tmp_path / f"{name}.json", events, H100)) as profile:
            said = profile.rows("SELECT what_to_do FROM advice.finding")
        assert said
        assert not [
            row for row in said if re.search(r"(?i)\bnpu|torch_npu|torch\.npu|ascend|hccl|mindspeed|<<|\|\|", row["what_to_do"])
        ]
