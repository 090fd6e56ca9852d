"""FLOPs that torch_npu recorded while the ops ran: which kernels they go to, and what is odd about them."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Matmul, Op, Range, write_chip, write_profile

MATMUL: dict[str, Any] = {"inputs": "64,32;32,48", "outputs": "64,48"}
SHAPE_FLOPS = 2 * 64 * 32 * 48


def recorded(message: str, start: int, end: int, tid: int = 1) -> Range:
    return Range(message, start, end, tid, domain="mfu_flops")


def test_the_flops_of_a_range_go_to_its_matmuls_in_sum(tmp_path: Path) -> None:
    """A transposition beside the matmul gets nothing, two halves of it share by time, another thread's op gets nothing."""
    ops = [
        Op(
            "aten::mm",
            110,
            150,
            (
                Matmul("transposed", 200, 210, type="TransData", core="AI_VECTOR_CORE"),
                Matmul("first half", 300, 310, **MATMUL),
                Matmul("second half", 320, 340, **MATMUL),
            ),
        ),
        Op("aten::mm", 120, 140, (Matmul("other thread", 400, 440, **MATMUL),), tid=2),
        Op("aten::mm", 180, 220, (Matmul("straddling", 500, 540, **MATMUL),)),
        Op("custom::op", 310, 320, (Matmul("unknown type", 600, 640, type="MyCube"), Matmul("cast", 650, 660, type="Cast"))),
    ]
    ranges = [
        recorded("1000000000-matmul", 100, 200),
        recorded("77-inner", 105, 160),
        recorded("501-mine", 300, 330),
    ]
    write_profile(tmp_path, ops, ranges)
    with open_profile(tmp_path) as profile:
        kernels = profile.mfu("kernel").set_index("name")
        audit = profile.table("mfu.audit", arrow=True).to_pylist()
    assert kernels["flops"].dropna().astype(int).to_dict() == {
        "first half": 25,  # 77 * 10 / 30, rounded down
        "second half": 52,
        "other thread": SHAPE_FLOPS,
        "straddling": SHAPE_FLOPS,
        "unknown type": 501,
    }
    assert kernels["flops_source"].dropna().to_dict() == {
        "first half": "recorded",
        "second half": "recorded",
        "other thread": "shapes",
        "straddling": "shapes",
        "unknown type": "recorded",
    }
    assert kernels.loc["first half", "flops_name"] == "inner"
    assert [(row["finding"], row["name"], row["flops"], row["other_flops"]) for row in audit] == [
        ("recorded otherwise than the shapes", "77-inner", 77, 2 * SHAPE_FLOPS),
        ("recorded, but no kernel to take it", "1000000000-matmul", 1000000000, None),
    ]


@pytest.mark.slow
def test_more_than_possible_is_listed_and_in_no_sum(tmp_path: Path) -> None:
    peak_of_100_ns = 24 * 1800 * 8192 // 10
    ops = [
        Op("aten::mm", 110, 150, (Matmul("too fast", 200, 300, **MATMUL),)),
        Op("aten::mm", 310, 350, (Matmul("at its peak", 400, 500, **MATMUL),)),
    ]
    ranges = [recorded(f"{2 * peak_of_100_ns}-mm", 100, 200), recorded(f"{peak_of_100_ns}-mm", 300, 360)]
    write_profile(tmp_path, ops, [*ranges, Range("Linear", 105, 160), Range("Net", 305, 355)])
    write_chip(tmp_path)
    with open_profile(tmp_path) as profile:
        too_fast, at_its_peak = arrow_of(profile.mfu("kernel")).to_pylist()
        sums = [arrow_of(profile.mfu(level)).to_pylist() for level in ("rank", "module", "op")]
        audit = profile.table("mfu.audit", arrow=True).to_pylist()
        operators = profile.table("mfu.operator_mfu")
        modules = profile.module_stats()
    reason = says("more FLOPs than its peak", "MfuAudit")
    expected = {
        "name": "too fast", "efficiency": None, "flops": None, "flops_source": None, "achieved_tflops": None,
        "flops_upper_bound": 2 * peak_of_100_ns, "reason": reason,
    }  # fmt: skip
    assert {name: too_fast[name] for name in expected} == expected
    assert (at_its_peak["efficiency"], at_its_peak["reason"]) == (1.0, None)
    (rank,), (linear, net), (op,) = sums
    for row in (rank, op):
        assert (row["efficiency"], row["flops"], row["known_duration_ns"], row["cube_duration_ns"]) == (
            1.0,
            peak_of_100_ns,
            100,
            200,
        )
        assert (row["known_share"], row["cube_known_share"], row["reasons"]) == (0.5, 0.5, reason)
    assert (linear["efficiency"], linear["flops"], net["efficiency"]) == (None, None, 1.0)
    assert [(row["finding"], row["name"], row["efficiency"], row["flops"]) for row in audit] == [
        ("above the peak", "too fast", 2.0, 2 * peak_of_100_ns),
        ("recorded otherwise than the shapes", f"{2 * peak_of_100_ns}-mm", None, 2 * peak_of_100_ns),
        ("recorded otherwise than the shapes", f"{peak_of_100_ns}-mm", None, peak_of_100_ns),
    ]
    assert operators["kernel_name"].tolist() == ["at its peak"]
    assert modules["avg_mfu"].tolist() == ["200.0%", "100.0%"]  # as msprof-analyze 8.3 has it
