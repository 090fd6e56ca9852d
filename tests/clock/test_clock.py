"""The real clock beside the rated one: spans, kernels below it, and what that cost at most."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from fixtures.text_export import export_text
from fixtures.text_style import TextStyle
from prof_analysis import InputError, Profile, open_profile
from tests.helpers import kineto
from tests.helpers.says import says
from tests.helpers.small_profile import HostCall, Kernel, Op, edit, write_chip, write_profile


def rows(profile: Profile, table: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values())[2:] for row in profile.rows(f"FROM {table}")]


BOUND_BY_MEMORY = {"aic_total_time": 100, "aic_mac_ratio": 0.1, "aic_mte2_ratio": 0.9}
BOUND_BY_COMPUTING = {"aic_total_time": 100, "aic_mac_ratio": 0.9, "aic_mte2_ratio": 0.1}
# 1800 MHz from 900, 900 MHz from 1200 to 1400 and again from 1500 to 1900, between them and then 1800.
SAMPLES = [(900, 1800), (950, 1800), (1200, 900), (1400, 1800), (1500, 900), (1900, 1800)]


def with_clock(folder: Path, samples: list[tuple[int, int]] | None = None, device: int = 0) -> Path:
    """Kernels at 1000..1100 (rated), 1150..1250 (half of it slow), 1200..1300 (all of it), 1350..1450 (half), 1600..1650."""
    kernels = (
        Kernel("a", 1000, 1100, type="MatMulV3"),
        Kernel("b", 1150, 1250, type="MatMulV3", pmu=BOUND_BY_COMPUTING),
        Kernel("c", 1200, 1300, type="Mul", pmu=BOUND_BY_MEMORY),
        Kernel("d", 1350, 1450, type="Mul"),
        Kernel("e", 1600, 1650, type="Unique", core="AI_CPU"),
        Kernel("hcom_allReduce_", 1700, 2000, "communication"),
    )
    path = write_profile(
        folder,
        [Op("ProfilerStep#1", 100, 200), Op("op", 110, 120, kernels)],
        steps=[(1, 100, 200)],
        calls=[HostCall("x", 1, 2)],
    )
    values = ", ".join(f"({device}, {at}, {mhz})" for at, mhz in (SAMPLES if samples is None else samples))
    edit(
        path,
        "CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER); "
        f"INSERT INTO AICORE_FREQ VALUES {values}",
    )
    return path


SPANS = [
    (0, 1000, 1200, 200, 1800, 1800, 150),
    (0, 1200, 1400, 200, 900, 1800, 150),
    (0, 1400, 1500, 100, 1800, 1800, 50),
    (0, 1500, 1900, 400, 900, 1800, 50),
    (0, 1900, 2000, 100, 1800, 1800, 0),
]
# Of b half runs at half the clock: 25 ns; of c all: 50; of d half: 25. That of the CPU is no kernel of the cores.
LOST = [("Mul", 2, 200, 1125.0, 2, 75, 0, 50), ("MatMulV3", 2, 200, 1575.0, 1, 25, 25, 0)]


def test_spans_kernels_and_cost_at_most(tmp_path: Path) -> None:
    with_clock(tmp_path / "0_ascend_pt")
    write_chip(tmp_path / "0_ascend_pt", clock_mhz=1800)
    with open_profile(tmp_path) as profile:
        assert rows(profile, "clock.span") == SPANS
        assert rows(profile, "clock.kernel_type") == LOST
        assert rows(profile, "clock.device") == [
            (
                0,
                1800,
                "info.json.0",
                "900, 1800",
                1000,
                400,
                600,
                200,
                (150 + 50) / 400 * 1800 + (150 + 50) / 400 * 900,
                100,
                25,
            )
        ]
        assert profile.rows("FROM across.clock_kernel_type")[0] == {
            "type": "Mul", "kernel_count": 2, "duration_ns": 200, "mean_clock_mhz": 1125.0, "below_count": 2, "lost_ns": 75,
            "computing_lost_ns": 0,
        }  # fmt: skip


def test_without_a_rated_clock_the_highest_seen_is_taken_and_said(tmp_path: Path, command: Callable[..., Result]) -> None:
    with_clock(tmp_path / "0_ascend_pt")
    result = command("clock", tmp_path)
    lines = result.stdout.splitlines()
    assert says("rated clock of 1 device is not recorded", "highest clock seen") in lines
    assert says("1 device computed below the rated clock", "at most 100 ns (25.0% of computing)", "1 rank") in lines


@pytest.mark.slow
def test_json_says_where_the_rated_clock_comes_from(tmp_path: Path, command: Callable[..., Result]) -> None:
    with_clock(tmp_path / "0_ascend_pt")
    answer = json.loads(command("clock", tmp_path, "--json").stdout)
    assert answer["summary"]["devices"][0]["origin"] == "the highest clock seen"


@pytest.mark.slow
def test_text_exports_give_the_clock_of_their_database(tmp_path: Path) -> None:
    path = with_clock(tmp_path / "0_ascend_pt")
    write_chip(tmp_path / "0_ascend_pt", clock_mhz=1800)
    export_text(path, TextStyle())
    path.unlink()
    with open_profile(tmp_path) as profile:
        assert rows(profile, "clock.span") == SPANS
        assert [row[:6] for row in rows(profile, "clock.kernel_type")] == [row[:6] for row in LOST]


def test_a_device_that_records_no_clock_is_said_to(tmp_path: Path) -> None:
    write_profile(tmp_path / "a" / "0_ascend_pt", [Op("op", 1, 2, (Kernel("a", 10, 20),))])
    with open_profile(tmp_path / "a") as profile, pytest.raises(InputError, match="no samples of the clock"):
        profile.clock()
    trace = kineto.write_trace(
        tmp_path / "t.json", [kineto.op("a", 1, 9, 1), kineto.launch(2, 3, 1, 1), kineto.kernel("k", 10, 20, 1)]
    )
    with open_profile(trace) as profile, pytest.raises(InputError, match="no samples of the clock in this format"):
        profile.clock()


@pytest.mark.slow
def test_the_clock_of_alexnet_never_fell(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b_mstx") as profile:
        found = profile.rows("SELECT rank_id, rated_mhz, clocks, lost_ns FROM clock.device")
    assert [tuple(row.values()) for row in found] == [(0, 1800, "1800", 0), (1, 1800, "1800", 0)]
