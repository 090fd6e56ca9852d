"""MFU beside what msprof-analyze 8.3.0 and 26.2.0 wrote of one profile: the same where they are right, each error shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.peer.record_mfu import RECORDED, write_int64_profile, write_mfu_profile

# Kernel list: what 8.3.0 writes as avgMFU, what is right, and why.
ERRORS_OF_8_3 = {
    "causal, more queries": ("258.91%", "129.45%"),  # the area over Sk * Sk in place of Sq * Sk
    "causal, more keys": ("", "129.45%"),  # the formula is guarded by head dims in place of lengths
    "shared keys": ("53.94%", "86.3%"),  # the heads of the keys in place of those of the queries
    "value dim": ("129.45%", "107.88%"),  # the dim of the keys in place of that of the values
    "ragged causal": ("43.15%", "21.58%"),  # the mask is not looked at
    "negative length": ("74.04%", ""),  # a length below 0 counts
}
# Kernel: mfu of OperatorMFU of 26.2.0, and what is right.
ERRORS_OF_26_2 = {
    "transform": (0.2427, None),  # every kernel of a range gets all FLOPs
    "mm of another thread": (38.8361, 0.0001),  # a range takes the ops of all threads
    "mm": (1.2945, None),  # more than its peak
}


@pytest.mark.slow
def test_avg_mfu_and_operator_mfu_beside_msprof_analyze(tmp_path: Path) -> None:
    recorded: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    write_mfu_profile(tmp_path)
    with open_profile(tmp_path) as profile:
        modules = profile.sql("SELECT kernel_list, coalesce(avg_mfu, '') AS avg_mfu FROM module.statistic", arrow=True)
        kernels = profile.sql("SELECT kernel_name, mfu FROM mfu.operator_mfu", arrow=True)
        found = {row["kernel_list"]: row["avg_mfu"] for row in modules.to_pylist()}
        found_26 = {row["kernel_name"]: row["mfu"] for row in kernels.to_pylist()}
        rows = {row["name"]: row for row in arrow_of(profile.mfu("kernel")).to_pylist()}
    expected = recorded["8.3.0"]
    assert {name: (expected[name], found[name]) for name in ERRORS_OF_8_3} == ERRORS_OF_8_3
    same = expected.keys() - ERRORS_OF_8_3.keys() - {"mm of another thread"}  # which is of no module here
    assert {name: found[name] for name in same} == {name: expected[name] for name in same}
    assert len(same) == 10
    # The FLOPs hold the whole diagonal; avgMFU counts half of it, as 8.3.0 does.
    assert rows["causal"]["flops"] == 2 * 32 * (128 + 128) * 4096 * 4097 // 2
    # FLOAT is measured by its own peak; avgMFU keeps that of FP16, which is four times as high.
    assert (found["mm float"], rows["mm float"]["data_type"], round(rows["mm float"]["efficiency"], 4)) == (
        "4.05%",
        "fp32",
        0.1618,
    )
    expected_26 = dict(recorded["26.2.0"])
    assert {name: (expected_26[name], found_26.get(name)) for name in ERRORS_OF_26_2} == ERRORS_OF_26_2
    assert {name: found_26[name] for name in expected_26.keys() - ERRORS_OF_26_2.keys()} == {"mm beside": 0.0405}


def test_an_odd_data_type_is_a_reason_for_its_kernel_alone(tmp_path: Path) -> None:
    """In 26.2.0 it leaves all ranks without a result."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert recorded["26.2.0, int64"] == []
    write_int64_profile(tmp_path)
    with open_profile(tmp_path) as profile:
        kernels = profile.sql(
            "SELECT name, mfu IS NOT NULL AS has_mfu, reason FROM mfu.kernel_efficiency", arrow=True
        ).to_pylist()
    assert kernels == [
        {"name": "mm int64", "has_mfu": False, "reason": "no peak is known for int64"},
        {"name": "mm", "has_mfu": True, "reason": None},
    ]
