"""Bytes, rates and matmuls: how fast a kernel could be at best."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.says import says
from tests.helpers.small_profile import HostCall, Kernel, Launch, Matmul, Op, Range, write_profile

# 1 MiB in and 1 MiB out in 1 us.
COPY = Kernel("copy", 1000, 2000, type="TensorMove", inputs="1024,512", outputs="1024,512", types="FLOAT16")


def test_matmuls_by_module_and_shape(tmp_path: Path) -> None:
    """At a peak of 1 TFLOPS, 1,000 FLOPs take 1 ns; the copy moves 2,097 bytes in 1 ns."""
    fp16 = "FLOAT16;FLOAT16"
    plain = [Matmul("mm", at, at + 64, inputs="16,100;100,10", outputs="16,10", types=fp16) for at in (3000, 4000)]
    # Two dims before the last one are rows where the weight has no batch.
    folded = Matmul("mm", 5000, 5100, inputs="2,3,8;8,4", outputs="2,3,4", types=fp16)
    batched = Matmul("mm", 6000, 6100, inputs="5,3,8;5,8,4", outputs="5,3,4", types=fp16, type="BatchMatMulV2")
    turned = Matmul("mm", 7000, 7100, inputs="64,16;64,10", outputs="16,10", types=fp16)
    ops = [
        Op("aten::mm", 100, 200, (COPY, *plain)),
        Op("aten::bmm", 300, 400, (folded, batched, turned)),
    ]
    write_profile(tmp_path / "0_ascend_pt", ops, [Range("Net", 90, 210)])
    with open_profile(tmp_path, peak_tflops={"fp16": 1}) as profile:
        rows = profile.rows("SELECT * EXCLUDE (profile, rank_id) FROM roofline.matmul ORDER BY module, input_shapes")
    assert [tuple(row.values()) for row in rows] == [
        ("Net", "aten::mm", "MatMulV3", '"16,100;100,10"', "fp16", 2, 128, 128, 64000, 64, 0.5, 16, 10, 100, 20, 11040, 5),
        (None, "aten::bmm", "MatMulV3", '"2,3,8;8,4"', "fp16", 1, 100, 100, 384, 0, 0.00384, 6, 4, 8, 8, 208, 0),
        (None, "aten::bmm", "BatchMatMulV2", '"5,3,8;5,8,4"', "fp16", 1, 100, 100, 960, 0, 0.0096, 3, 4, 8, 8, 680, 0),
        (None, "aten::bmm", "MatMulV3", '"64,16;64,10"', "fp16", 1, 100, 100, 20480, 20, 0.2048, 16, 10, 64, 20, 3648, 1),
    ]


@pytest.mark.slow
def test_a_slow_matmul_says_why_and_wins_nothing_where_the_device_waits_for_the_host(tmp_path: Path) -> None:
    fp16 = "FLOAT16;FLOAT16"
    good = Matmul("mm", 3000, 4000, inputs="512,512;512,2", outputs="512,2", types=fp16)
    slow = Matmul("mm", 5000, 6000, inputs="1,1000;1000,50", outputs="1,50", types=fp16)
    last = Kernel("late", 90_000, 90_010, type="Fill", core="AI_VECTOR_CORE")
    for late in (False, True):
        launches = [
            Launch(100, 105, (COPY,)),
            Launch(110, 115, (good,)),
            Launch(120, 125, (slow,)),
            Launch(80_000 if late else 130, 80_005 if late else 135, (last,)),
        ]
        folder = tmp_path / str(late)
        calls = [HostCall("aclrtOther", 100, 101)]
        write_profile(folder / "0_ascend_pt", [Op("aten::mm", 90, 100_000)], launches=launches, calls=calls)
        with open_profile(folder, peak_tflops={"fp16": 1.25}) as profile:
            columns = "profile, rank_id, title, module, op, kernel_type, evidence, count, time_ns, win_ns, kind, doc, sql"
            rows = profile.rows(f"SELECT {columns} FROM advice.slow_matmul")
        assert [" can be won" in row["evidence"] for row in rows] == [late]
        assert [tuple(row.values()) for row in rows] == [
            (
                "0_ascend_pt",
                0,
                says("Matmuls use little of the peak"),
                None,
                "aten::mm",
                "MatMulV3",
                says(
                    "1 matmul runs at 8.0% of the peak of fp16 for 1.0 us",
                    "of shape 1,1000;1000,50: 8.0% of the peak",
                    "only 1 row, only 50 columns, an inner axis of 100 bytes, no multiple of 256",
                    "83.9% is attainable",
                    *(("0 can be won", "waits for the host") if late else ()),
                ),
                1,
                1000,
                0 if late else 905,
                "upper bound",
                "docs/rules.md#slow-matmul",
                "SELECT duration_ns, critical_ns, efficiency, type, input_shapes FROM roofline.matmul ORDER BY "
                "duration_ns DESC LIMIT 50",
            )
        ]
