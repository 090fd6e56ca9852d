"""What hardware counters add to MFU: the FLOPs of grouped matmuls, and which kernels multiply no matrices."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Matmul, write_chip, write_profile

ROWS = says("rows of the groups", "not in the shapes")
NO_FORMULA = says("no formula for the operator type")
INT8: dict[str, Any] = {"types": "INT8;INT8;FLOAT", "inputs": "6656,6144;8,6144,4096", "outputs": "6656,2048"}
ALL_ROWS = 2 * 6656 * 6144 * 4096
A_ROW = 2 * 6144 * 4096
US = 1000


def grouped(name: str, start: int, cycles: int, ratio: float, **about: Any) -> Kernel:
    """A grouped matmul of 1 ms, of which counters of all cores were recorded."""
    pmu = {"aic_total_cycles": cycles, about.pop("ratio_name", "aic_mac_ratio"): ratio}
    return Matmul(name, start, start + 1000 * US, type="GroupedMatmulSwigluQuant", pmu=pmu, **{**INT8, **about})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("counters")
    cycles = 24 * 1800 * 1000
    kernels = [
        grouped("one token", 0, cycles, 0.04),
        grouped("long groups", 1000 * US, cycles, 0.25),
        grouped("full buffer", 2000 * US, cycles, 0.5),
        grouped("arithmetic set", 3000 * US, cycles, 0.25, ratio_name="aic_mac_int8_ratio"),
        grouped("two types", 4000 * US, cycles, 0.25, types="DT_BF16;INT8;FLOAT"),
        grouped("no ratio", 5000 * US, cycles, 0.9, ratio_name="aic_scalar_ratio"),
        Matmul("no counters", 6000 * US, 6001 * US, type="GroupedMatmul", **INT8),
    ]
    write_profile(folder, unlinked=kernels)
    write_chip(folder)
    with open_profile(folder) as profile:
        rows = {row["name"]: row for row in arrow_of(profile.mfu("kernel")).to_pylist()}
        (rows["rank"],) = arrow_of(profile.mfu("rank")).to_pylist()
        rows["operators"] = profile.table("mfu.operator_mfu", arrow=True).to_pydict()
    return rows


@pytest.mark.slow
def test_busy_cycles_say_the_flops_of_long_groups(found: dict[str, dict[str, Any]]) -> None:
    quarter = 24 * 1800 * 1000 * 16384 // 4
    assert quarter > 256 * 8 * A_ROW
    for name in ("long groups", "arithmetic set"):
        row = found[name]
        assert (row["flops"], row["flops_source"], row["efficiency"], row["reason"]) == (quarter, "counters", 0.25, None)
    full = found["full buffer"]
    assert (full["flops"], full["flops_source"], full["flops_upper_bound"]) == (ALL_ROWS, "counters", None)


@pytest.mark.slow
def test_groups_of_a_token_or_two_have_no_flops_since_the_cube_pads_them(found: dict[str, dict[str, Any]]) -> None:
    """One token is 32 rows by the cycles, and 6656 by the shapes: neither is an answer, the lower one is a bound."""
    row = found["one token"]
    assert (row["flops"], row["efficiency"], row["reason"]) == (None, None, ROWS)
    assert row["flops_upper_bound"] == round(24 * 1800 * 1000 * 0.04 * 16384) < 256 * 8 * A_ROW


@pytest.mark.slow
def test_without_counters_that_tell_all_rows_are_the_bound(found: dict[str, dict[str, Any]]) -> None:
    for name in ("two types", "no ratio", "no counters"):
        row = found[name]
        assert (row["flops"], row["flops_upper_bound"], row["reason"]) == (None, ALL_ROWS, ROWS)


@pytest.mark.slow
def test_sums_hold_what_counters_say_and_name_them(found: dict[str, dict[str, Any]]) -> None:
    rank = found["rank"]
    assert (rank["flops_sources"], rank["reasons"]) == ("counters", ROWS)
    assert rank["flops"] == sum(found[name]["flops"] for name in ("long groups", "full buffer", "arithmetic set"))
    assert (rank["known_duration_ns"], rank["cube_duration_ns"]) == (3000 * US, 6001 * US)
    assert found["operators"]["kernel_name"] == []


def vector(name: str, start: int, type_: str, pmu: dict[str, float] | None, core: str = "AI_CORE") -> Kernel:
    return Kernel(name, start, start + 10, type=type_, core=core, pmu=pmu)


AT_REST, AT_WORK = {"mac_ratio": 0.0, "mac_time": 0.0, "vec_ratio": 0.6}, {"mac_ratio": 0.0, "mac_time": 4.0, "vec_ratio": 0.1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ((), {"mm": None, "works": NO_FORMULA, "MyGemm": NO_FORMULA}),
        # Where vector cores are apart, AI_CORE is a cube core, whatever the name says.
        (
            (vector("add", 1000, "Add", None, "AI_VECTOR_CORE"),),
            {"mm": None, "works": NO_FORMULA, "MyGemm": NO_FORMULA, "Cast": NO_FORMULA},
        ),
    ],
    ids=["one kind of core", "two kinds of cores"],
)
def test_kernels_whose_matrix_unit_rests_are_no_matmuls_without_a_formula(
    tmp_path: Path, others: tuple[Kernel, ...], expected: dict[str, str | None]
) -> None:
    kernels = [
        Matmul("mm", 0, 100, pmu={"mac_ratio": 0.5}),
        vector("rests", 200, "Mul", AT_REST),
        vector("another without counters", 300, "Mul", None),
        vector("works", 400, "Unheard", AT_WORK),
        vector("Cast", 500, "Cast", None),
        vector("MyGemm", 600, "MyGemm", None),
    ]
    write_profile(tmp_path, unlinked=[*kernels, *others])
    write_chip(tmp_path)
    with open_profile(tmp_path) as profile:
        found = {row["name"]: row["reason"] for row in arrow_of(profile.mfu("kernel")).to_pylist()}
        assert not [name for name, reason in found.items() if "matrix unit" in (reason or "")]
        (rank,) = arrow_of(profile.mfu("rank")).to_pylist()
        ops = profile.mfu("op")
    assert found == expected
    assert rank["cube_duration_ns"] == 100 + 10 * (len(expected) - 1) == ops["duration_ns"].sum()
    assert rank["duration_ns"] == 150 + 10 * len(others)


@pytest.mark.slow
def test_flops_without_a_peak_are_in_every_level(tmp_path: Path) -> None:
    """Of FLOAT nobody recorded whether it ran as HF32: its FLOPs are known, its peak is not."""
    kernels = [Matmul(n, s, s + 100, types=t) for n, s, t in (("half", 0, "FLOAT16;FLOAT16"), ("single", 200, "FLOAT;FLOAT"))]
    write_profile(tmp_path, unlinked=kernels)
    write_chip(tmp_path)
    with open_profile(tmp_path) as profile:
        flops = profile.mfu("kernel")["flops"].tolist()
        (op,), (rank,) = (arrow_of(profile.mfu(level)).to_pylist() for level in ("op", "rank"))
    one = 2 * 16**3
    assert flops == [one, one]
    for row in (op, rank):
        assert (row["flops"], row["known_flops"], row["flops_duration_ns"], row["known_duration_ns"]) == (
            2 * one,
            one,
            200,
            100,
        )
        assert row["achieved_tflops"] == 2 * one / 200 / 1000
        assert row["possible_flops"] == 24 * 1800 * 8192 * 100 // 1000
        assert row["efficiency"] == pytest.approx(one / row["possible_flops"])


@pytest.mark.slow
def test_kernels_without_a_formula_appear_with_how_busy_the_matrix_unit_was(
    tmp_path: Path, command: Callable[..., Result]
) -> None:
    """Also where no type of the rank has a formula, as in a model of Triton kernels alone."""
    lines = (
        "Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,aicore_time(us),aic_mac_ratio,aiv_time(us)",
        "matmul_kernel,matmul_kernel,MIX_AIC,10.000,3.000,N/A,2.5,0.4,0.1",
        "matmul_kernel,matmul_kernel,MIX_AIC,20.000,1.000,N/A,0.9,0.8,0.1",
        "copy_kernel,copy_kernel,MIX_AIC,30.000,5.000,N/A,4.5,0,0.1",
        "add_kernel,add_kernel,AI_VECTOR_CORE,40.000,5.000,N/A,0,0,4.5",
    )
    (tmp_path / "kernel_details.csv").write_text("\n".join((*lines, "")), encoding="utf-8")
    with open_profile(tmp_path) as profile:
        profile.mfu("op")
        (row,) = profile.rows("SELECT type, duration_ns, known_share, mac_ratio, reasons FROM mfu.op")
        assert profile.rows("FROM across.mfu_left_out") == [
            {"reason": says("matrix unit worked", NO_FORMULA), "kernel_count": 2, "duration_ns": 4000, "mac_ratio": 0.5}
        ]
    assert row == {
        **{"type": "matmul_kernel", "duration_ns": 4000, "known_share": 0.0, "mac_ratio": 0.5},
        "reasons": says("matrix unit worked", NO_FORMULA),
    }
    said = " ".join(command("mfu", "-d", tmp_path).stdout.split())
    assert "without FLOPs: 4.00 us in 2 kernels" in said and "it worked for 50.0% of the time of the cube cores" in said
