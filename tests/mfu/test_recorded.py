"""FLOPs that torch_npu recorded while the ops ran: which kernels they go to, and what is odd about them."""

from pathlib import Path
from typing import Any

from prof_analysis import open_profile
from tests.small_profile import Matmul, Op, Range, write_chip, write_profile

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


def test_more_than_possible_is_kept_and_listed(tmp_path: Path) -> None:
    peak_of_100_ns = 24 * 1800 * 8192 // 10
    op = Op("aten::mm", 110, 150, (Matmul("too fast", 200, 300, **MATMUL),))
    write_profile(tmp_path, [op], [recorded(f"{2 * peak_of_100_ns}-mm", 100, 200)])
    write_chip(tmp_path)
    with open_profile(tmp_path) as profile:
        assert profile.mfu("kernel")["mfu"].tolist() == [2.0]
        assert profile.mfu("rank")["mfu"].tolist() == [2.0]
        audit = profile.table("mfu.audit")
    assert audit[["finding", "name", "mfu"]].values.tolist()[0] == ["mfu above 1", "too fast", 2.0]
