"""Attention by the arguments in marks: areas of masks against a count of their elements, ragged batches, and odd marks."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

from prof_analysis import open_profile
from tests.helpers.empty_database import empty_database
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Frame, Kernel, Matmul, Op, Range, write_profile

FAR = 2147483647


def mask(sparse_mode: int, rows: int, columns: int, before: int, after: int, prefix: int) -> np.ndarray[Any, Any]:
    """The elements that an attention computes, as CANN describes its modes."""
    row, column = np.arange(rows)[:, None], np.arange(columns)[None, :]
    shift = columns - rows
    kept = {
        0: (column - row <= after) & (row - column <= before),
        1: column >= 0,
        2: column <= row,
        3: column <= row + shift,
        4: (column - row - shift <= after) & (row + shift - column <= before),
        5: (column < prefix) | (column <= row + shift),
        6: (column < prefix) | (column <= row + shift),
    }[sparse_mode]
    return kept & np.ones((rows, columns), bool)


def test_the_area_of_every_mask_is_the_count_of_its_elements() -> None:
    sizes = (range(7), (1, 2, 5, 8), (1, 3, 5, 9), (-3, 0, 2, FAR), (-3, 0, 2, FAR), (0, 2, 9))
    cases = [(*case[:5], min(case[5], case[2])) for case in itertools.product(*sizes)]
    names = ["sparse_mode", "rows", "columns", "before", "after", "prefix"]
    with empty_database() as connection:
        connection.register("cases", pyarrow.table({name: [case[n] for case in cases] for n, name in enumerate(names)}))
        found = connection.execute(f"SELECT mask_area({', '.join(names)}) FROM cases").fetchall()
    assert [row[0] for row in found] == [int(mask(*case).sum()) for case in cases]


def attention(name: str, q: str, k: str, v: str, statistics: str, **about: Any) -> Kernel:
    types = "DT_BF16;DT_BF16;DT_BF16;DT_BF16;UINT8;DT_BF16;BOOL;INT64;INT64;INT64"
    inputs = f"{q};{k};{v};;;;{about.pop('mask', '2048,2048')};;;"
    outputs = f"{statistics};{statistics};;{q}"
    return Matmul(name, 0, 0, type="FlashAttentionScore", core="MIX_AIC", inputs=inputs, types=types, outputs=outputs, **about)


# Name, kernel, arguments in the mark, FLOPs or the reason for none.
BNSD = ("2,4,{q},64", "2,4,{k},64", "2,4,{k},64", "2,4,{q},8")
TND = ("100,4,64", "120,2,64", "120,2,64", "100,4,8")
FLOPS_PER_ELEMENT = 2 * 4 * (64 + 64)


def square(q: int, k: int) -> tuple[str, str, str, str]:
    a, b, c, d = (text.format(q=q, k=k) for text in BNSD)
    return a, b, c, d


def area(*arguments: int) -> int:
    sparse_mode, rows, columns, before, after, prefix = (*arguments, *(FAR, FAR, 0)[len(arguments) - 3 :])
    return int(mask(sparse_mode, rows, columns, before, after, prefix).sum())


CASES: list[tuple[str, tuple[str, str, str, str], object, int | tuple[str, ...]]] = [
    ("all", square(30, 50), {"input_layout": "BNSD", "sparse_mode": 0}, 2 * 30 * 50),
    (
        "band",
        square(30, 50),
        {"input_layout": "BNSD", "sparse_mode": 0, "pre_tockens": 5, "next_tockens": 2},
        2 * area(0, 30, 50, 5, 2, 0),
    ),
    ("causal", square(30, 30), {"input_layout": "BNSD", "sparse_mode": 2}, 2 * 30 * 31 // 2),
    ("upper left", square(50, 30), {"input_layout": "BNSD", "sparse_mode": 2}, 2 * area(2, 50, 30)),
    ("lower right", square(30, 50), {"input_layout": "BNSD", "sparse_mode": 3}, 2 * area(3, 30, 50)),
    (
        "lower band",
        square(30, 50),
        {"input_layout": "BNSD", "sparse_mode": 4, "pre_tockens": 7, "next_tockens": 0},
        2 * area(4, 30, 50, 7, 0, 0),
    ),
    (
        "prefix",
        square(30, 50),
        {"input_layout": "BNSD", "sparse_mode": 6, "prefix": [10, 40]},
        area(6, 30, 50, 0, 0, 10) + area(6, 30, 50, 0, 0, 40),
    ),
    ("sdpa", square(30, 30), {"is_causal": True}, 2 * 30 * 31 // 2),
    ("sdpa all", square(30, 30), {"is_causal": False}, 2 * 30 * 30),
    ("BSH", ("2,30,256", "2,30,128", "2,30,128", "2,4,30,8"), {"input_layout": "BSH", "sparse_mode": 2}, 2 * 30 * 31 // 2),
    ("SBH", ("30,2,256", "30,2,128", "30,2,128", "2,4,30,8"), {"input_layout": "SBH", "sparse_mode": 2}, 2 * 30 * 31 // 2),
    ("BSND", ("2,30,4,64", "2,30,2,64", "2,30,2,64", "2,4,30,8"), {"input_layout": "BSND", "sparse_mode": 2}, 2 * 30 * 31 // 2),
    (
        "ragged",
        TND,
        {"input_layout": "TND", "sparse_mode": 0, "actual_seq_qlen": [40, 100], "actual_seq_kvlen": [50, 120]},
        40 * 50 + 60 * 70,
    ),
    (
        "ragged causal",
        TND,
        {"input_layout": "TND", "sparse_mode": 3, "actual_seq_qlen": [40, 100, 0], "actual_seq_kvlen": [50, 120, 0]},
        area(3, 40, 50) + area(3, 60, 70),
    ),
    ("no lengths", TND, {"input_layout": "TND", "sparse_mode": 2}, ("mark", "no lengths")),
    (
        "negative length",
        TND,
        {"input_layout": "TND", "sparse_mode": 2, "actual_seq_qlen": [60, 40], "actual_seq_kvlen": [60, 90]},
        ("lengths in the mark", "do not fit"),
    ),
    (
        "too long",
        TND,
        {"input_layout": "TND", "sparse_mode": 2, "actual_seq_qlen": [101], "actual_seq_kvlen": [120]},
        ("lengths in the mark", "do not fit"),
    ),
    (
        "huge",
        TND,
        {"input_layout": "TND", "sparse_mode": 2, "actual_seq_qlen": [2**63], "actual_seq_kvlen": [120]},
        ("mark", "no lengths"),
    ),
    ("no mode", square(30, 30), {"input_layout": "BNSD"}, ("sparse_mode in the mark", "not known")),
    ("mode 7", square(30, 30), {"input_layout": "BNSD", "sparse_mode": 7}, ("sparse_mode in the mark", "not known")),
    ("no prefix", square(30, 50), {"input_layout": "BNSD", "sparse_mode": 6}, ("mark", "no prefix")),
    (
        "wrong layout",
        square(30, 30),
        {"input_layout": "SBH", "sparse_mode": 2},
        ("layout in the mark", "does not fit"),
    ),
    ("unknown layout", square(30, 30), {"input_layout": "ABCD", "sparse_mode": 2}, ("layout in the mark", "not known")),
    (
        "cut",
        square(30, 30),
        '{"input_layout": "BNSD", "spar',
        ("arguments in the mark", "cannot be read", "cuts long messages"),
    ),
    ("no object", square(30, 30), "[1, 2]", ("layout in the mark", "not known")),
    ("unmarked", square(30, 30), None, ("what the mask leaves out", "not in the shapes")),
]


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("marked")
    ops, ranges = [], []
    for number, (name, shapes, arguments, _) in enumerate(CASES):
        start = 1000 * number
        if arguments is not None:
            message = arguments if isinstance(arguments, str) else json.dumps(arguments)
            ranges.append(Range(message, start + 100, start + 100, domain="flash_attn_args", event_type=0))
        kernel = attention(name, *shapes)
        ops.append(Op("npu::npu_fusion_attention", start + 200, start + 300, (Matmul(**{**vars(kernel), "end": start + 900}),)))
    write_profile(folder, ops, ranges)
    with open_profile(folder) as profile:
        return {row["name"]: row for row in arrow_of(profile.mfu("kernel")).to_pylist()}


@pytest.mark.parametrize(("name", "expected"), [(case[0], case[3]) for case in CASES], ids=[case[0] for case in CASES])
def test_flops_by_the_arguments_in_a_mark(
    marked: dict[str, dict[str, Any]], name: str, expected: int | tuple[str, ...]
) -> None:
    row = marked[name]
    if isinstance(expected, tuple):
        assert (row["flops"], row["reason"]) == (None, says(*expected))
    else:
        assert (row["flops"], row["flops_source"]) == (expected * FLOPS_PER_ELEMENT, "marks")


def test_a_mark_is_for_the_next_attention_of_its_thread_and_for_its_backward(tmp_path: Path) -> None:
    causal = json.dumps({"input_layout": "BNSD", "sparse_mode": 2})
    everything = json.dumps({"input_layout": "BNSD", "sparse_mode": 0})
    shapes = square(30, 30)
    backward = Matmul(
        "backward",
        900,
        990,
        type="FlashAttentionScoreGrad",
        core="MIX_AIC",
        formats="ND",
        output_formats="ND",
        inputs=f"{shapes[0]};{shapes[1]};{shapes[2]};{shapes[0]};2048,2048;{shapes[3]};{shapes[3]}",
        types="DT_BF16;DT_BF16;DT_BF16;DT_BF16;BOOL;FLOAT;FLOAT",
        outputs=shapes[0],
    )

    def run(name: str, end: int) -> tuple[Kernel]:
        return (Matmul(**{**vars(attention(name, *shapes)), "end": end}),)

    ops = [
        Op("npu::npu_fusion_attention", 200, 300, run("marked", 400), sequence_number=7),
        Op("npu::npu_fusion_attention", 350, 380, run("not marked again", 500)),
        Op("npu::npu_fusion_attention", 150, 170, run("other thread", 450), tid=2),
        Op("NpuFusionAttentionBackward0", 700, 800, (backward,), tid=3, backward_of=0, sequence_number=7),
    ]
    ranges = [
        Range(causal, 100, 100, domain="flash_attn_args", event_type=0),
        Range(everything, 100, 100, tid=4, domain="flash_attn_args", event_type=0),
        Range("Net", 50, 600),
    ]
    write_profile(tmp_path, ops, ranges, frames=[Frame("file.py(1): f", 0, 1)])
    with open_profile(tmp_path) as profile:
        kernels = profile.mfu("kernel").set_index("name")
    elements = 2 * 30 * 31 // 2
    assert kernels["flops"].dropna().to_dict() == {
        "marked": elements * FLOPS_PER_ELEMENT,
        "backward": elements * FLOPS_PER_ELEMENT // 2 * 5,
    }
    assert kernels.loc[["marked", "backward"], "flops_source"].tolist() == ["marks", "marks"]
