"""FLOPs that torch_npu recorded while the ops ran: which kernels they go to, and what is odd about them."""

from pathlib import Path
from typing import Any

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
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


def test_odd_messages_are_found_and_change_nothing(tmp_path: Path) -> None:
    messages = ["12.5-mm", "-12-mm", "mm", "0-mm", "99999999999999999999-mm", "12-"]
    ops = [Op("aten::mm", 10 * n + 2, 10 * n + 4, (Matmul(f"k{n}", 10 * n, 10 * n + 5, **MATMUL),)) for n in range(6)]
    write_profile(tmp_path, ops, [recorded(message, 10 * n, 10 * n + 8) for n, message in enumerate(messages)])
    with open_profile(tmp_path) as profile:
        assert profile.mfu("kernel")[["flops", "flops_source"]].drop_duplicates().values.tolist() == [[SHAPE_FLOPS, "shapes"]]
        audit = profile.table("mfu.audit")
    assert audit[["finding", "name"]].values.tolist() == [["not a recording", message] for message in messages]


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
    reason = "more FLOPs than its peak allows in its time (see MfuAudit)"
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


def test_recorded_rows_of_a_buffer_are_no_more_trusted_than_its_shapes(tmp_path: Path) -> None:
    """torch_npu multiplies all rows of the input of a grouped matmul with SwiGLU; those of the plain one it takes by group."""
    about: dict[str, Any] = {"types": "INT8;INT8", "inputs": "96,64;4,64,48"}
    ops = [
        Op("npu::swiglu", 10, 20, (Matmul("all rows", 100, 200, type="GroupedMatmulSwigluQuant", outputs="96,24", **about),)),
        Op("npu::grouped", 30, 40, (Matmul("by group", 300, 400, type="GroupedMatmul", outputs="96,48", **about),)),
    ]
    ranges = [recorded("589824-npu_grouped_matmul_swiglu_quant_v2", 5, 25), recorded("24576-npu_grouped_matmul", 28, 45)]
    write_profile(tmp_path, ops, ranges)
    with open_profile(tmp_path) as profile:
        kernels = arrow_of(profile.mfu("kernel")).to_pylist()
    assert [(row["name"], row["flops"], row["flops_source"], row["flops_upper_bound"]) for row in kernels] == [
        ("all rows", None, None, 589824),
        ("by group", 24576, "recorded", None),
    ]
