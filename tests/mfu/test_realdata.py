"""MFU of the real profiles: totals that are known by other means, and what msprof-analyze 8.3.0 says of AlexNet."""

from pathlib import Path

import pandas as pd
import pytest

from prof_analysis import open_profile
from tests.helpers.asking import PEER_COLUMNS
from tests.helpers.frames import arrow_of
from tests.helpers.says import says

MASKED = says("what the mask leaves out", "not in the shapes")
LENGTHS = says("lengths of the sequences are", "not in the shapes")
PAGED = says("lengths of the sequences", "paged cache", "not in the shapes")


@pytest.mark.slow
def test_avg_mfu_of_alexnet_is_that_of_msprof_analyze_8_3(realdata: Path) -> None:
    file = realdata / "expected" / "alexnet_ddp_910b_mstx.msprof-analyze-8.3.0.csv"
    columns = {**PEER_COLUMNS, "avg_mfu": "avgMFU"}
    expected = pd.read_csv(file, keep_default_na=False)[list(columns.values())].query("avgMFU != ''")
    with open_profile(realdata / "alexnet_ddp_910b_mstx") as profile:
        found = profile.module_stats().dropna(subset="avg_mfu").rename(columns=columns)[list(columns.values())]
    assert expected["avgMFU"].tolist() == ["1.86%", "4.06%", "7.2%", "8.95%", "1.84%", "4.06%", "7.0%", "9.18%"]
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected.reset_index(drop=True), check_dtype=False)


@pytest.mark.slow
def test_float_kernels_of_an_older_database_need_a_given_peak(realdata: Path) -> None:
    kernels = {}
    for given in (None, {"fp32": 353.9}):
        with open_profile(realdata / "alexnet_ddp_910b_mstx", peak_tflops=given) as profile:
            kernels[given is not None] = profile.sql(
                "FROM mfu.kernel_efficiency WHERE type LIKE 'Conv%' ORDER BY rank_id, start_ns"
            )
    assert kernels[False].groupby("rank_id").size().to_dict() == {0: 14, 1: 14}
    assert kernels[False]["efficiency"].isna().all()
    assert list(set(kernels[False]["reason"])) == [says("FLOAT ran as HF32", "give its peak", "fp32=99.5")]
    assert kernels[True].groupby("rank_id")["efficiency"].count().to_dict() == {0: 14, 1: 14}
    first = kernels[True].iloc[0]
    assert (first["name"], round(first["efficiency"], 4)) == ("Conv2D1", 0.0404)
    assert round(first["padded_flops"] / first["flops"] * first["efficiency"], 4) == 0.1077


@pytest.mark.slow
def test_the_text_export_tells_the_chip_and_hf32(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b" / "text" / "level1", rank_list=[0]) as profile:
        peaks = profile.sql("SELECT data_type, peak_tflops, peak_from FROM mfu.peak ORDER BY ALL").values.tolist()
        kernels = profile.sql("SELECT count(efficiency) AS known, max(efficiency) AS highest FROM mfu.kernel_efficiency").iloc[
            0
        ]
    assert peaks == [
        ["fp32", 24 * 1800 * 2048 / 1e6, "cube_utilization(%): 24 cores x 1800 MHz x 2048"],
        ["hf32", 24 * 1800 * 4096 / 1e6, "cube_utilization(%): 24 cores x 1800 MHz x 4096"],
    ]
    assert kernels["known"] == 23
    assert 0.7 < kernels["highest"] < 0.8


@pytest.mark.parametrize(
    ("source", "rank_id", "count", "flops", "time_ns", "efficiency", "highest"),
    [
        pytest.param("qwen3_0.6b_pp2dp2_910b", 0, 336, 10_823_317_585_920, 58_022_860, 0.690, 0.829, marks=pytest.mark.slow),
        ("qwen3_0.6b_pp2dp2_910b", 2, 342, 18_470_506_856_448, 121_234_180, 0.564, 0.859),
        ("qwen3_32b_vllm_a3/qwen3-32b_pf_4112tok.csv", None, 257, 16_384_726_384_640, 63_090_002, 0.734, None),
        pytest.param(
            "qwen3_32b_vllm_a3/qwen3-32b_dc_16tok.csv",
            None,
            257,
            63_850_659_840,
            5_315_302,
            0.034,
            None,
            marks=pytest.mark.slow,
        ),
    ],
)
@pytest.mark.slow
def test_matmuls_of_qwen3(
    realdata: Path,
    source: str,
    rank_id: int | None,
    count: int,
    flops: int,
    time_ns: int,
    efficiency: float,
    highest: float | None,
) -> None:
    with open_profile(realdata / source, rank_list=None if rank_id is None else [rank_id]) as profile:
        (rank,) = arrow_of(profile.mfu("rank")).to_pylist()
        kernels = profile.mfu("kernel")
    assert (rank["flops"], rank["known_duration_ns"], round(rank["efficiency"], 3)) == (flops, time_ns, efficiency)
    known, unknown = kernels.dropna(subset="efficiency"), kernels[kernels["efficiency"].isna()]
    assert len(known) == count
    assert highest is None or round(known["efficiency"].max(), 3) == highest
    reason = MASKED if rank_id is not None else LENGTHS if "pf" in source else PAGED
    reasons = unknown.groupby("reason")["flops_upper_bound"].count().to_dict()
    assert list(reasons.items()) == [(reason, 56 if rank_id is not None else 64)]
    if "pf" in source:
        layers = known[known["input_shapes"] != '"1,5120;9496,5120"']
        assert layers["flops"].sum() == 2 * 31_129_600 * 64 * 4112
