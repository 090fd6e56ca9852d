"""The peak that MFU is measured by: cores, clock and data type of the device, what the user gives, and the real clock."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Matmul, edit, write_chip, write_profile

MATMUL: dict[str, Any] = {"inputs": "64,32;32,48", "outputs": "64,48"}
TYPES = {
    "half": "FLOAT16;FLOAT16", "brain": "DT_BF16;DT_BF16", "eight": "INT8;INT8", "single": "FLOAT;FLOAT",
    "mixed": "FLOAT16;INT8", "four": "DT_INT4;DT_INT4", "none": "N/A"
}  # fmt: skip
UNKNOWN_HF32 = says("FLOAT ran as HF32", "give its peak", "fp32=99.5")


def kernels(hf32: str = "N/A", device: int = 0) -> list[Kernel]:
    return [
        Matmul(name, 1000 * n, 1000 * n + 100, types=types, hf32=hf32, device=device, **MATMUL)
        for n, (name, types) in enumerate(TYPES.items())
    ]


def peaks(folder: Path, **options: Any) -> dict[str, tuple[float | None, str | None]]:
    """By data type, the peak and where it is from, or why there is none."""
    with open_profile(folder, **options) as profile:
        rows = profile.table("mfu.peak", arrow=True).to_pylist()
    return {row["data_type"]: (row["peak_tflops"], row["reason"] or row["peak_from"]) for row in rows}


def test_the_peak_is_that_of_the_cores_the_clock_and_the_data_type(tmp_path: Path) -> None:
    write_profile(tmp_path, unlinked=kernels())
    write_chip(tmp_path, cores=20, clock_mhz="1650")
    product = "info.json.0: 20 cores x 1650 MHz x"
    assert peaks(tmp_path) == {
        "fp16": (270.336, f"{product} 8192"),
        "bf16": (270.336, f"{product} 8192"),
        "int8": (540.672, f"{product} 16384"),
        "fp32 or hf32": (None, UNKNOWN_HF32),
        "fp16 and int8": (None, says("no peak", "fp16 and int8")),
        "int4": (None, says("no peak", "int4")),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("hf32", "operations"), [("YES", 4096), ("NO", 2048)])
def test_float_has_a_rate_of_its_own(tmp_path: Path, hf32: str, operations: int) -> None:
    """msprof-analyze measures both by that of FP16, and shows a half or a quarter of what they reach."""
    write_profile(tmp_path, unlinked=kernels(hf32))
    write_chip(tmp_path)
    data_type = "hf32" if hf32 == "YES" else "fp32"
    assert peaks(tmp_path)[data_type] == (24 * 1800 * operations / 1e6, f"info.json.0: 24 cores x 1800 MHz x {operations}")


@pytest.mark.slow
def test_what_the_user_gives_counts_first_then_what_is_published(tmp_path: Path) -> None:
    write_profile(tmp_path, unlinked=kernels())
    write_chip(tmp_path)
    given = peaks(tmp_path, peak_tflops={"fp16": 376, "fp32": 353.9, "int4": 1500.5})
    assert given["fp16"] == (376.0, "given for fp16")
    assert given["bf16"] == (353.8944, "info.json.0: 24 cores x 1800 MHz x 8192")
    assert given["fp32 or hf32"] == (353.9, "given for fp32")
    assert given["int4"] == (1500.5, "given for int4")
    published = peaks(tmp_path, peak_tflops="published")
    assert published["fp16"] == (376.0, "published for 376T")
    assert published["int8"] == (752.0, "published for 376T")
    assert published["fp32 or hf32"] == (None, UNKNOWN_HF32)


@pytest.mark.parametrize("wrong", [{"fp61": 1}, {"fp16": 0}, {"fp16": -1}, {"fp16": float("nan")}, "nonsense"])
def test_a_wrong_peak_is_refused(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(InputError, match="peak_tflops"):
        open_profile(tmp_path, peak_tflops=wrong)


@pytest.mark.slow
@pytest.mark.parametrize("odd", quick(["NA", "-5"], 0))
def test_without_cores_and_clock_the_reason_says_what_to_give(tmp_path: Path, odd: str) -> None:
    write_profile(tmp_path, unlinked=kernels())
    write_chip(tmp_path, cores=odd, clock_mhz="1800")
    reason = says("no info.json", "no cube_utilization(%)", "cores and clock", "give the peak of fp16")
    assert peaks(tmp_path)["fp16"] == (None, reason)
    assert peaks(tmp_path, peak_tflops={"fp16": 376})["fp16"] == (376.0, "given for fp16")


@pytest.mark.slow
def test_each_device_of_a_folder_has_its_own_peak(tmp_path: Path) -> None:
    database = write_profile(tmp_path, unlinked=[*kernels(), *kernels(device=1)])
    edit(database, "CREATE TABLE NPU_INFO (id INTEGER, name TEXT); INSERT INTO NPU_INFO VALUES (0, 'a'), (1, 'b');")
    write_chip(tmp_path, cores=24, device=0)
    write_chip(tmp_path, cores=20, device=1)
    with open_profile(tmp_path) as profile:
        found = profile.sql("SELECT device_id, peak_tflops FROM mfu.peak WHERE data_type = 'fp16' ORDER BY ALL")
    assert found.values.tolist() == [[0, 353.8944], [1, 294.912]]


@pytest.mark.slow
def test_the_real_clock_stands_beside_the_rated_one(tmp_path: Path) -> None:
    """A kernel that ran half of its time at 1,800 and half at 900 MHz could do three quarters of its peak."""
    samples = "INSERT INTO AICORE_FREQ VALUES (0, 0, 1800), (0, 150, 900), (0, 400, 1800);"
    slowed, full, early = (Matmul(n, s, s + 100, **MATMUL) for n, s in (("slowed", 100), ("full", 500), ("early", -50)))
    database = write_profile(tmp_path, unlinked=[slowed, full, early])
    edit(database, f"CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER); {samples}")
    write_chip(tmp_path)
    with open_profile(tmp_path) as profile:
        rows = {row["name"]: row for row in arrow_of(profile.mfu("kernel")).to_pylist()}
        ranks = profile.mfu("rank")
    assert ranks["efficiency_at_measured_clock"].isna().all()
    mfu = 2 * 64 * 32 * 48 * 1000 / (24 * 1800 * 8192 * 100)
    assert {row["efficiency"] for row in rows.values()} == {mfu}
    assert (rows["slowed"]["measured_clock_mhz"], rows["slowed"]["efficiency_at_measured_clock"]) == (
        1350.0,
        pytest.approx(mfu / 0.75),
    )
    assert (rows["full"]["measured_clock_mhz"], rows["full"]["efficiency_at_measured_clock"]) == (1800.0, mfu)
    assert (rows["early"]["measured_clock_mhz"], rows["early"]["efficiency_at_measured_clock"]) == (None, None)
