"""Hardware counters: every column of small profiles, both sources, any metrics and chip, and real files computed directly."""

import csv
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_export import export_text
from fixtures.text_style import TextStyle
from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_chip, write_profile

START = 1_700_000_000_000_000_000
FIGURES = (
    *("kernel_count", "duration_ns", "known_duration_ns", "known_share", "bound"),
    *("compute_ns", "memory_ns", "on_chip_ns", "scalar_ns", "wait_ns", "unbound_ns"),
    *(
        "aic_duration_ns",
        "aic_kernel_count",
        "aic_uncounted_count",
        "aic_uncounted_ns",
        "aic_time_share",
        "aic_mac_ratio",
        "aic_scalar_ratio",
        "aic_mte1_ratio",
        "aic_mte2_ratio",
    ),
    *("aic_fixpipe_ratio", "cube_utilization", "aic_l2_read_hit_rate", "aic_l2_write_hit_rate"),
    *(
        "aiv_duration_ns",
        "aiv_kernel_count",
        "aiv_uncounted_count",
        "aiv_uncounted_ns",
        "aiv_time_share",
        "aiv_vec_ratio",
        "aiv_scalar_ratio",
        "aiv_mte2_ratio",
        "aiv_mte3_ratio",
    ),
    *("aiv_l2_read_hit_rate", "aiv_l2_write_hit_rate"),
    *("occupancy", "occupancy_duration_ns", "few_blocks_ns", "blocks_per_sm", "warps_per_sm", "registers_per_thread"),
    *("shared_memory_bytes", "reason"),
)
NO_COUNTERS = "no counters were recorded"


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 9) if isinstance(value, float) else value for name, value in row.items()}


def figures(table: pa.Table, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """By the keys of a row, what of its figures is neither NULL nor 0."""
    assert table.column_names[-len(FIGURES) :] == list(FIGURES)
    return {
        tuple(row[key] for key in keys): rounded({name: row[name] for name in FIGURES if row[name] not in (None, 0)})
        for row in table.to_pylist()
    }


def aic(time: float, cycles: float, mac: float, scalar: float, mte1: float, mte2: float, fixpipe: float) -> dict[str, float]:
    return {
        "aic_total_time": time, "aic_total_cycles": cycles, "aic_mac_ratio": mac, "aic_scalar_ratio": scalar,
        "aic_mte1_ratio": mte1, "aic_mte2_ratio": mte2, "aic_fixpipe_ratio": fixpipe,
    }  # fmt: skip


def aiv(time: float, vec: float, scalar: float, mte2: float, mte3: float) -> dict[str, float]:
    return {
        "aiv_total_time": time, "aiv_total_cycles": 100, "aiv_vec_ratio": vec, "aiv_scalar_ratio": scalar,
        "aiv_mte2_ratio": mte2, "aiv_mte3_ratio": mte3,
    }  # fmt: skip


UNUSED_AIC, UNUSED_AIV = aic(0, 0, 0, 0, 0, 0, 0), aiv(0, 0, 0, 0, 0) | {"aiv_total_cycles": 0}


def kernel(start: int, duration: int, type_: str, core: str, pmu: dict[str, float] | None) -> Kernel:
    return Kernel(f"k{start}", START + start, START + start + duration, type=type_, core=core, pmu=pmu)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two matmuls, two kernels on vector cores, one on both, two without counters; as a database and as text."""
    folder = tmp_path_factory.mktemp("pmu") / "a_ascend_pt"
    linear = (
        kernel(1000, 1000, "MatMulV3", "AI_CORE", aic(900, 21600, 0.8, 0.2, 0.5, 0.7, 0.1) | UNUSED_AIV),
        kernel(3000, 3000, "MatMulV3", "AI_CORE", aic(2400, 32400, 0.4, 0.3, 0.3, 0.9, 0.2) | UNUSED_AIV),
        kernel(7000, 500, "Cast", "AI_CPU", None),
    )
    attention = (
        kernel(8000, 4000, "Attention", "MIX_AIC", aic(3000, 86400, 0.3, 0.9, 0.2, 0.6, 0.7) | aiv(3600, 0.5, 0.3, 0.4, 0.2)),
        # Cores that ran for a short part of a kernel wait, however busy they then were.
        kernel(13000, 2000, "Add", "AI_VECTOR_CORE", UNUSED_AIC | aiv(400, 0.1, 0.2, 0.95, 0.6)),
        # What runs outside the graph's control shows cycles, but no time.
        kernel(16000, 1000, "Rope", "AI_VECTOR_CORE", UNUSED_AIC | aiv(0, 0.6, 0.5, 0.1, 0.2)),
    )
    ops = [
        Op("aten::linear", START + 110, START + 120, linear),
        Op("aten::attend", START + 210, START + 220, attention),
        Op("aten::item", START + 310, START + 320, (kernel(18000, 250, "Cast", "AI_CPU", None),)),
    ]
    ranges = [
        Range("Net", START + 100, START + 300),
        Range("Linear", START + 105, START + 150),
        Range("Attention", START + 200, START + 250),
    ]
    path = write_profile(folder, ops, ranges, steps=[(1, START, START + 1000)])
    export_text(path, TextStyle(exports="both"))
    write_chip(folder)
    return folder


MATMUL = {
    "kernel_count": 2, "duration_ns": 4000, "known_duration_ns": 4000, "known_share": 1.0, "bound": "memory",
    "compute_ns": 1000, "memory_ns": 3000, "aic_duration_ns": 4000, "aic_kernel_count": 2, "aic_time_share": 3300 / 4000,
    "aic_mac_ratio": 0.5, "aic_scalar_ratio": 0.275, "aic_mte1_ratio": 0.35, "aic_mte2_ratio": 0.85,
    "aic_fixpipe_ratio": 0.175, "cube_utilization": (0.5 * 1000 + 0.25 * 3000) / 4000,
}  # fmt: skip
ATTENTION = {
    "kernel_count": 1, "duration_ns": 4000, "known_duration_ns": 4000, "known_share": 1.0, "bound": "scalar",
    "aic_kernel_count": 1, "aiv_kernel_count": 1,
    "scalar_ns": 4000, "aic_duration_ns": 4000, "aic_time_share": 0.75, "aic_mac_ratio": 0.3, "aic_scalar_ratio": 0.9,
    "aic_mte1_ratio": 0.2, "aic_mte2_ratio": 0.6, "aic_fixpipe_ratio": 0.7, "cube_utilization": 0.5,
    "aiv_duration_ns": 4000, "aiv_time_share": 0.9, "aiv_vec_ratio": 0.5, "aiv_scalar_ratio": 0.3, "aiv_mte2_ratio": 0.4,
    "aiv_mte3_ratio": 0.2,
}  # fmt: skip
ADD = {
    "kernel_count": 1, "duration_ns": 2000, "known_duration_ns": 2000, "known_share": 1.0, "bound": "wait", "wait_ns": 2000,
    "aiv_duration_ns": 2000, "aiv_kernel_count": 1,
    "aiv_time_share": 0.2, "aiv_vec_ratio": 0.1, "aiv_scalar_ratio": 0.2, "aiv_mte2_ratio": 0.95,
    "aiv_mte3_ratio": 0.6,
}  # fmt: skip
ROPE = {
    "kernel_count": 1, "duration_ns": 1000, "known_duration_ns": 1000, "known_share": 1.0, "bound": "compute",
    "compute_ns": 1000, "aiv_duration_ns": 1000, "aiv_kernel_count": 1,
    "aiv_vec_ratio": 0.6, "aiv_scalar_ratio": 0.5, "aiv_mte2_ratio": 0.1,
    "aiv_mte3_ratio": 0.2,
}  # fmt: skip
CAST = {"kernel_count": 2, "duration_ns": 750, "reason": NO_COUNTERS}
LINEAR = MATMUL | {"kernel_count": 3, "duration_ns": 4500, "known_share": 4000 / 4500}
ATTEND = ATTENTION | {
    "kernel_count": 3, "duration_ns": 7000, "known_duration_ns": 7000, "compute_ns": 1000, "wait_ns": 2000,
    "aiv_duration_ns": 7000, "aiv_kernel_count": 3,
    "aiv_time_share": 4000 / 6000, "aiv_vec_ratio": 2.8 / 7, "aiv_scalar_ratio": 2.1 / 7,
    "aiv_mte2_ratio": 3.6 / 7, "aiv_mte3_ratio": 2.2 / 7,
}  # fmt: skip
NET = ATTEND | {
    "kernel_count": 6, "duration_ns": 11500, "known_duration_ns": 11000, "known_share": 11000 / 11500, "compute_ns": 2000,
    "memory_ns": 3000, "aic_duration_ns": 8000, "aic_kernel_count": 3, "aic_time_share": 6300 / 8000, "aic_mac_ratio": 0.4,
    "aic_scalar_ratio": 0.5875, "aic_mte1_ratio": 0.275, "aic_mte2_ratio": 0.725, "aic_fixpipe_ratio": 0.4375,
    "cube_utilization": (0.3125 + 0.5) / 2,
}  # fmt: skip


@pytest.mark.parametrize("source", quick(["db", "text"], 1))
def test_counters_in_every_column_by_kernel_type_op_and_module(small: Path, source: Any) -> None:
    with open_profile(small, source=source) as profile:
        found = {
            "kernel_type": figures(arrow_of(profile.pmu_stats()), "kind", "type", "core"),
            "op": figures(arrow_of(profile.pmu_stats("op")), "op_name", "kind", "type", "core"),
            "module": figures(arrow_of(profile.pmu_stats("module")), "parent_module", "module", "depth"),
        }
        metric = arrow_of(profile.pmu_stats("metric")).to_pylist()
    types = {
        ("compute", "Attention", "MIX_AIC"): ATTENTION,
        ("compute", "MatMulV3", "AI_CORE"): MATMUL,
        ("compute", "Add", "AI_VECTOR_CORE"): ADD,
        ("compute", "Rope", "AI_VECTOR_CORE"): ROPE,
        ("compute", "Cast", "AI_CPU"): CAST,
    }
    of_op = {"Attention": "aten::attend", "MatMulV3": "aten::linear", "Add": "aten::attend", "Rope": "aten::attend"}
    expected: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {
        "kernel_type": {**types},
        "op": {(of_op[key[1]], *key): row for key, row in types.items() if key[1] != "Cast"}
        | {
            ("aten::linear", "compute", "Cast", "AI_CPU"): CAST | {"kernel_count": 1, "duration_ns": 500},
            ("aten::item", "compute", "Cast", "AI_CPU"): CAST | {"kernel_count": 1, "duration_ns": 250},
        },
        "module": {("", "Net", 1): NET, ("Net", "Linear", 2): LINEAR, ("Net", "Attention", 2): ATTEND},
    }
    for level, rows in expected.items():
        assert list(found[level]) == list(rows)
        for key, row in rows.items():
            assert found[level][key] == rounded(row), (level, key)
    # A core that was not used has no metrics; all others have those recorded, by their names there.
    attention = {row["metric"]: row for row in metric if row["type"] == "Attention"}
    assert {name.partition("_")[0] for name in attention} - {"cube"} == {"aic", "aiv"}
    assert {row["metric"].partition("_")[0] for row in metric if row["type"] == "Rope"} - {"cube"} == {"aiv"}
    assert list(attention["aic_total_time"].values())[2:] == [
        *("compute", "Attention", "MIX_AIC", "aic_total_time", "ns", 1, 4000, 3000.0, 3000.0, 3000.0)
    ]
    (mac,) = (row for row in metric if (row["type"], row["metric"]) == ("MatMulV3", "aic_mac_ratio"))
    assert list(mac.values())[5:] == ["aic_mac_ratio", "ratio", 2, 4000, 0.5, 0.4, 0.8]
    units = {row["metric"]: row["unit"] for row in metric}
    assert {name: units[name] for name in ("aic_total_time", "aic_total_cycles", "aiv_vec_ratio")} == {
        "aic_total_time": "ns", "aic_total_cycles": "cycles", "aiv_vec_ratio": "ratio"
    }  # fmt: skip


MIX_HEADER = (
    "aicore_time(us),aic_total_cycles,aic_mac_ratio,aic_mte2_ratio,aiv_time(us),aiv_total_cycles,aiv_vec_ratio,Block Dim,"
    "Mix Block Dim,Model ID"
)


@pytest.mark.slow
def test_zeros_of_cores_that_were_not_counted_are_no_measurement(tmp_path: Path, command: Callable[..., Result]) -> None:
    """In a captured graph one kind of the cores of a kernel on both shows 0; outside graphs it was counted."""
    write_details(
        tmp_path / "a_ascend_pt",
        MIX_HEADER,
        *(f"graph{n},Attention,MIX_AIC,{10 * n}.000,3.000,0.9,900,0.4,0.9,0,0,0,24,0,11" for n in range(1, 4)),
        # Its cube cores are busy enough to say what bounds it.
        "busy,Combine,MIX_AIC,50.000,3.000,2.7,900,0.4,0.9,0,0,0,24,0,11",
        # A kernel of Triton, of which neither blocks nor the graph are recorded.
        "triton,Combine,MIX_AIC,60.000,2.000,0,900,0.4,0.2,0,0,0,0,0,4294967295",
        "eager,Attention,MIX_AIC,70.000,3.000,0.9,900,0.4,0.9,2.4,800,0.5,24,48,4294967295",
        # Outside graphs no blocks of vector cores mean that it did not run there.
        "one,MatMul,MIX_AIC,80.000,3.000,2.4,900,0.9,0.1,0,0,0,24,0,4294967295",
        "pad,Pad,MIX_AIV,90.000,3.000,0,0,0,0,2.4,800,0.6,24,0,11",
    )
    with open_profile(tmp_path) as profile:
        rows = {row["type"]: row for row in arrow_of(profile.pmu_stats()).to_pylist()}
    columns = ("aic_kernel_count", "aic_uncounted_count", "aiv_kernel_count", "aiv_uncounted_count", "aiv_uncounted_ns")
    assert {type_: tuple(row[column] for column in columns) for type_, row in rows.items()} == {
        "Attention": (4, 0, 1, 3, 9000),
        "Combine": (2, 0, 0, 2, 5000),
        "MatMul": (1, 0, 0, 0, 0),
        "Pad": (0, 0, 1, 0, 0),
    }
    attention, combine = rows["Attention"], rows["Combine"]
    reason = says("one kind of the cores", "not counted")
    assert [attention[name] for name in ("aic_mac_ratio", "aiv_vec_ratio", "bound", "unbound_ns", "reason")] == [
        *(0.4, None, None, 9000, reason)
    ]
    assert [combine[name] for name in ("bound", "memory_ns", "unbound_ns", "reason")] == ["memory", 3000, 2000, None]
    result = command("pmu-stats", "-d", tmp_path)
    assert "1 of 4" in result.stdout
    assert "vector cores: not counted for 5 kernels" in " ".join(result.stdout.split())


HEADER = "Name,Type,Accelerator Core,Start Time(us),Duration(us)"


def write_details(folder: Path, header: str, *rows: str) -> None:
    folder.mkdir(parents=True)
    (folder / "kernel_details.csv").write_text("\n".join((f"{HEADER},{header}", *rows, "")), encoding="utf-8")


@pytest.mark.slow
def test_any_set_of_metrics_and_chip_gives_what_it_holds(tmp_path: Path) -> None:
    write_details(
        tmp_path / "a_caches_ascend_pt",
        "aicore_time(us),aic_total_cycles,aic_write_cache_hit,aic_write_cache_miss_allocate,aic_r0_read_cache_hit,"
        "aic_r0_read_cache_miss_allocate,aic_r1_read_cache_hit,aic_r1_read_cache_miss_allocate,aic_main_mem_read_bw(GB/s),"
        "aic_GM_to_L1_datas(KB),aic_cube_fops,aic_new_thing(dB),note,aiv_time(us),aiv_read_local_l2_hit,aiv_read_local_l2_miss,"
        "aiv_read_local_l2_victim",
        "mm,MatMulV3,AI_CORE,10.000,2.000,1.5,100,30,10,40,20,50,10,120.5,64,1000000000000,7,hi,0.0,0,0,0",
        'mm,MatMulV3,AI_CORE,20.000,6.000,"4,5",300,10,30,0,60,0,20,100.5,32,2000000000000,8,hi,0.0,0,0,0',
        "add,Add,AI_VECTOR_CORE,30.000,4.000,0.0,0,0,0,0,0,0,0,0,0,0,9,ho,3.0,3,1,1",
        "lost,Add,AI_VECTOR_CORE,40.000,4.000" + ",N/A" * 17,
    )
    write_details(
        tmp_path / "b_one_core_ascend_pt",
        "aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_time(us),scalar_ratio,mte1_time(us),"
        "mte1_ratio,mte2_time(us),mte2_ratio,mte3_time(us),mte3_ratio,icache_miss_rate,memory_bound,cube_utilization(%)",
        "mm,MatMul,AI_CORE,10.000,2.000,2.0,100,0.2,0.1,1.6,0.8,0.6,0.3,0.8,0.4,1.0,0.5,1.2,0.6,0.01,0.625,81",
        "add,Add,AI_CORE,20.000,2.000,1.0,100,0.2,0.2,0,0,0.3,0.3,0,0,0.9,0.9,0.5,0.5,0.01,4.5,0",
    )
    with open_profile(tmp_path) as profile:
        types = figures(arrow_of(profile.pmu_stats()), "profile", "type")
        metrics = {
            (row["type"], row["metric"]): (row["unit"], row["kernel_count"], row["mean"])
            for row in arrow_of(profile.pmu_stats("metric")).to_pylist()
            if row["profile"].startswith("a_")
        }
    no_pipes = says("set of counters", "no ratios of pipes")
    assert types[("a_caches_ascend_pt", "MatMulV3")] == {
        "kernel_count": 2, "duration_ns": 8000, "known_duration_ns": 8000, "known_share": 1.0, "aic_duration_ns": 8000,
        "aic_kernel_count": 2, "aic_time_share": 0.75, "aic_l2_read_hit_rate": 90 / 200, "aic_l2_write_hit_rate": 40 / 80,
        "reason": no_pipes,
    }  # fmt: skip
    assert types[("a_caches_ascend_pt", "Add")] == {
        "kernel_count": 2, "duration_ns": 8000, "known_duration_ns": 4000, "known_share": 0.5, "aiv_duration_ns": 4000,
        "aiv_kernel_count": 1, "aiv_time_share": 0.75, "aiv_l2_read_hit_rate": 0.75, "reason": no_pipes,
    }  # fmt: skip
    assert types[("b_one_core_ascend_pt", "MatMul")] == {
            "kernel_count": 1, "duration_ns": 2000, "known_duration_ns": 2000, "known_share": 1.0, "bound": "compute",
            "aic_kernel_count": 1, "aiv_kernel_count": 1,
            "compute_ns": 2000, "aic_duration_ns": 2000, "aic_time_share": 1.0, "aic_mac_ratio": 0.8, "aic_scalar_ratio": 0.3,
            "aic_mte1_ratio": 0.4, "aic_mte2_ratio": 0.5, "cube_utilization": 0.81, "aiv_duration_ns": 2000,
            "aiv_time_share": 1.0, "aiv_vec_ratio": 0.1, "aiv_mte3_ratio": 0.6,
    }  # fmt: skip
    # Of a core that runs half of the time, no pipe is busy for half of the time.
    assert types[("b_one_core_ascend_pt", "Add")]["bound"] == "wait"
    assert metrics[("MatMulV3", "aic_main_mem_read_bw")] == ("GB/s", 2, 105.5)
    assert metrics[("MatMulV3", "aic_GM_to_L1_datas")] == ("KB", 2, 40.0)
    assert metrics[("MatMulV3", "aic_cube_fops")] == ("operations", 2, 1.75e12)
    assert metrics[("MatMulV3", "aic_new_thing")] == ("dB", 2, 7.75)
    assert metrics[("Add", "aiv_read_local_l2_victim")] == ("count", 1, 1.0)
    assert not {name for _, name in metrics if name in ("note", "Name")}


@pytest.mark.slow
def test_odd_counters_leave_the_others(tmp_path: Path, command: Callable[..., Result]) -> None:
    pmu = {"aiv_total_time": 50, "aiv_vec_ratio": 0.9, "aiv_mte2_ratio": 0.1}
    kernels = [kernel(100 * number, 100, "Add", "AI_VECTOR_CORE", pmu) for number in range(3)]
    path = write_profile(tmp_path / "a_ascend_pt", [Op("aten::add", START, START + 9, tuple(kernels))])
    vec = "WHERE name = (SELECT id FROM STRING_IDS WHERE value = 'aiv_vec_ratio') AND globalTaskId"
    edit(path, f"UPDATE TASK_PMU_INFO SET value = 9e999 {vec} = 0; UPDATE TASK_PMU_INFO SET value = 'x' {vec} = 1")
    said = "1 value of TASK_PMU_INFO.value is not of type DOUBLE"
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match=said):
        (row,) = arrow_of(profile.pmu_stats()).to_pylist()
    assert (row["aiv_vec_ratio"], row["aiv_mte2_ratio"], row["known_duration_ns"], row["wait_ns"]) == (0.9, 0.1, 300, 300)
    edit(path, "DROP TABLE TASK_PMU_INFO")
    reason = ("no hardware counters (PMU)", "aic_metrics", "AiCMetrics.PipeUtilization")
    result = command("pmu-stats", "-d", tmp_path)
    assert (result.exit_code, result.stderr) == (2, says(f"error: {tmp_path}: ", "no rank can answer", *reason))


@pytest.mark.slow
def test_times_add_up_to_all_compute_time(tmp_path: Path) -> None:
    generate(tmp_path, Shape(steps=1, layers=1, bare_launches=True), ranks=1)
    with open_profile(tmp_path) as profile:
        build_at_once(profile, "pmu-stats", "module.kernel")
        rows = {level: arrow_of(profile.pmu_stats(level)).to_pylist() for level in ("kernel_type", "op", "module")}
        whole, inside = profile.sql(
            "SELECT sum(duration_ns) AS ns, sum(duration_ns) FILTER (module IS NOT NULL) AS inside FROM module.kernel "
            "WHERE kind = 'compute'",
            arrow=True,
        ).to_pylist()[0].values()  # fmt: skip
    assert inside < whole
    assert sum(row["duration_ns"] for row in rows["kernel_type"]) == whole
    assert sum(row["duration_ns"] for row in rows["op"]) == whole
    assert sum(row["duration_ns"] for row in rows["module"] if row["depth"] == 1) == inside
    for row in (*rows["kernel_type"], *rows["op"], *rows["module"]):
        bounds = sum(row[f"{bound}_ns"] for bound in ("compute", "memory", "on_chip", "scalar", "wait"))
        assert bounds == row["known_duration_ns"] <= row["duration_ns"]


@pytest.mark.slow
def test_each_level_is_what_its_kernels_give_one_by_one(tmp_path: Path) -> None:
    generate(tmp_path, Shape(steps=1, layers=2), ranks=1)
    with open_profile(tmp_path) as profile:
        build_at_once(profile, "pmu-stats", "module.kernel", "pmu.kernel_counters", "pmu.bound", "module.path")
        kernels = profile.sql(
            "SELECT kernel.kind::VARCHAR AS kind, type, core, op_name, parent_module, module, counters.*, bound, "
            "kernel.duration_ns AS kernel_ns FROM module.kernel LEFT JOIN pmu.kernel_counters AS counters "
            "USING (profile, kernel_id) LEFT JOIN pmu.bound USING (profile, kernel_id) "
            "WHERE kernel.kind = 'compute' OR counters.kernel_id IS NOT NULL",
            arrow=True,
        ).to_pylist()
        rows = {level: arrow_of(profile.pmu_stats(level)).to_pylist() for level in ("kernel_type", "op", "module")}
    keys = {"kernel_type": ("kind", "type", "core"), "op": ("op_name", "kind", "type", "core")}
    for level, given in rows.items():
        groups = defaultdict(list)
        for kernel in kernels:
            if level != "module":
                groups[tuple(kernel[name] for name in keys[level])].append(kernel)
            elif kernel["module"]:
                name = kernel["module"].removeprefix("[Backward]")
                path = (*filter(None, kernel["parent_module"].split("/")), name)
                for depth in range(1, len(path) + 1):
                    groups[(*path[:depth], name == kernel["module"])].append(kernel)
        assert len(given) == len(groups) > 1
        for row in given:
            if level == "module":
                name = row["module"].removeprefix("[Backward]")
                its = groups[(*filter(None, row["parent_module"].split("/")), name, name == row["module"])]
            else:
                its = groups[tuple(row[name] for name in keys[level])]
            assert (row["kernel_count"], row["duration_ns"]) == (len(its), sum(one["kernel_ns"] for one in its))
            for pipe in ("aic_mac_ratio", "aic_mte2_ratio", "aiv_vec_ratio", "aiv_mte2_ratio"):
                parts = [(round(one[pipe] * 10**12), one["duration_ns"]) for one in its if one[pipe] is not None]
                mean = sum(part * ns for part, ns in parts) / sum(ns for _, ns in parts) / 10**12 if parts else None
                assert row[pipe] == (mean and pytest.approx(mean, rel=1e-15)), (level, row, pipe)


PIPES = {
    "aic": ("aic_mac_ratio", "aic_scalar_ratio", "aic_mte1_ratio", "aic_mte2_ratio", "aic_fixpipe_ratio"),
    "aiv": ("aiv_vec_ratio", "aiv_scalar_ratio", "aiv_mte2_ratio", "aiv_mte3_ratio"),
}
KERNELS_OF_DATABASE = """
SELECT kind.value, core.value, startNs, endNs - startNs, globalTaskId
FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)
LEFT JOIN STRING_IDS AS kind ON kind.id = opType LEFT JOIN STRING_IDS AS core ON core.id = COMPUTE_TASK_INFO.taskType
"""
COUNTERS_OF_DATABASE = """
SELECT globalTaskId, text.value, pmu.value FROM TASK_PMU_INFO AS pmu JOIN STRING_IDS AS text ON text.id = name
"""


@dataclass(frozen=True)
class Counted:
    """A compute kernel as a file tells of it."""

    type: str
    core: str
    start_ns: int
    duration_ns: int
    counters: dict[str, float]


def kernels_of_database(path: Path) -> Iterator[Counted]:
    counters: dict[int, dict[str, float]] = defaultdict(dict)
    with closing(sqlite3.connect(path)) as database:
        for task, name, value in database.execute(COUNTERS_OF_DATABASE):
            counters[task][name] = value
        for type_, core, start, duration, task in database.execute(KERNELS_OF_DATABASE).fetchall():
            yield Counted(type_, core, start, duration, counters[task])


def kernels_of_csv(path: Path) -> Iterator[Counted]:
    names = {"aicore_time(us)": "aic_total_time", "aiv_time(us)": "aiv_total_time"}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            core = row["Accelerator Core"]
            if core not in ("COMMUNICATION", "HCCL", "AI_CPU"):
                counters = {
                    names.get(key, key): float(value)
                    for key, value in row.items()
                    if key[:3] in ("aic", "aiv", "cub") and value not in ("", "N/A")
                }
                yield Counted(row["Type"], core, 0, round(float(row["Duration(us)"]) * 1000), counters)


def computed(kernels: Iterable[tuple[Any, Counted]]) -> dict[Any, dict[str, float]]:
    """By key, the time, that with counters, and the mean of each ratio by time over kernels that used the core."""
    sums: dict[Any, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for key, one in kernels:
        row, counters = sums[key], one.counters
        row["duration_ns"] += one.duration_ns
        row["known_duration_ns"] += one.duration_ns * bool(counters)
        for part, ratios in PIPES.items():
            if counters.get(f"{part}_total_time") or counters.get(f"{part}_total_cycles"):
                row[f"{part}_duration_ns"] += one.duration_ns
                for ratio in ratios:
                    row[ratio] += counters[ratio] * one.duration_ns
                if part == "aic" and "cube_utilization(%)" in counters:
                    row["cube_utilization"] += counters["cube_utilization(%)"] / 100 * one.duration_ns
    for row in sums.values():
        for name in {*PIPES["aic"], *PIPES["aiv"], "cube_utilization"} & row.keys():
            row[name] /= row[f"{name[:3].replace('cub', 'aic')}_duration_ns"]
    return sums


def assert_alike(found: dict[Any, dict[str, Any]], expected: dict[Any, dict[str, float]]) -> None:
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        assert {figure: found[key][figure] for figure in row} == pytest.approx(dict(row), rel=1e-9), key


@pytest.mark.parametrize(
    ("folder", "types", "kernels"),
    quick(
        [
            ("alexnet_ddp_910b/db/level1", 33, 187),
            ("alexnet_ddp_910b/text/level1", 33, 187),
            ("qwen3_0.6b_pp2dp2_910b", 35, 2448),
        ],
        0,
    ),
)
def test_kernel_types_of_real_profiles_are_what_the_files_give(realdata: Path, folder: str, types: int, kernels: int) -> None:
    with open_profile(realdata / folder, rank_list=[0]) as profile:
        rows = [row for row in arrow_of(profile.pmu_stats()).to_pylist() if row["kind"] == "compute"]
    output = realdata / folder / rows[0]["profile"] / "ASCEND_PROFILER_OUTPUT"
    database = output / "ascend_pytorch_profiler_0.db"
    read = kernels_of_database(database) if database.exists() else kernels_of_csv(output / "kernel_details.csv")
    assert_alike({(row["type"], row["core"]): row for row in rows}, computed(((one.type, one.core), one) for one in read))
    assert (len(rows), sum(row["kernel_count"] for row in rows)) == (types, kernels)


@pytest.mark.slow
def test_modules_of_a_real_profile_are_what_their_kernels_give(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b_mstx", rank_list=[0]) as profile:
        build_at_once(profile, "pmu-stats", "module.kernel")
        rows = arrow_of(profile.pmu_stats("module")).to_pylist()
        inside = profile.sql(
            "SELECT start_ns, parent_module, module FROM module.kernel WHERE kind = 'compute' AND module IS NOT NULL",
            arrow=True,
        ).to_pylist()
    by_start = {one.start_ns: one for one in kernels_of_database(
        next((realdata / "alexnet_ddp_910b_mstx" / "rank0_ascend_pt").rglob("ascend_pytorch_profiler_0.db"))
    )}  # fmt: skip

    def in_all_around() -> Iterator[tuple[Any, Counted]]:
        for row in inside:
            names = [*filter(None, row["parent_module"].split("/")), row["module"].removeprefix("[Backward]")]
            for depth in range(1, len(names) + 1):
                yield (row["module"].startswith("[Backward]"), *names[:depth]), by_start[row["start_ns"]]

    found = {}
    for row in rows:
        is_backward = row["module"].startswith("[Backward]")
        names = (*filter(None, row["parent_module"].split("/")), row["module"].removeprefix("[Backward]"))
        found[is_backward, *names] = row
        # The chip is that of info.json.
        assert (row["cube_utilization"] is None) == (row["aic_duration_ns"] == 0)
    # Modules without a compute kernel have no row.
    assert_alike(found, computed(in_all_around()))
    (conv,) = (row for row in rows if row["module"] == "Conv2d")
    assert (conv["kernel_count"], conv["bound"], round(conv["aic_mac_ratio"], 4)) == (20, "memory", 0.6924)


@pytest.mark.slow
def test_the_summary_and_the_tables_that_are_written(small: Path, tmp_path: Path, command: Callable[..., Result]) -> None:
    result = command("pmu-stats", "-d", small, "-o", tmp_path, "--by", "module", "--top", "1", "--export_type", "csv")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.split() for line in result.stdout.splitlines()[:2]] == [
        ["module", "kernel", "time", "bound", "compute", "memory", "on", "chip", "scalar", "wait", "with", "counters", "mac",
         "aic", "scalar", "mte1", "aic", "mte2", "fixpipe", "vec", "aiv", "scalar", "aiv", "mte2", "mte3"],
        ["Net", "11.50", "us", "scalar", "18.2%", "27.3%", "0.0%", "36.4%", "18.2%", "95.7%", "40.0%",
         "58.8%", "27.5%", "72.5%", "43.8%", "40.0%", "30.0%", "51.4%", "31.4%"],
    ]  # fmt: skip
    parts = "compute 18.2%, memory 27.3%, on chip 0.0%, scalar 36.4%, wait 18.2%"
    assert result.stdout.splitlines()[3] == says("bounds", parts, "93.6% of the kernel time has counters", "1 rank")
    written = {path.name for path in (tmp_path / "cluster_analysis_output").iterdir()}
    assert written == {"pmu_kernel_type.csv", "pmu_op.csv", "pmu_module.csv", "pmu_metric.csv", "pmu_all_ranks.csv"}
    words = ("--by", "counter", "-d", small, "-o", tmp_path / "modules", "--export_type", "csv", "--top", "1")
    result = command("module-stats", *words)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("module  kernel time  bound ")
    assert {path.name for path in (tmp_path / "modules" / "cluster_analysis_output").iterdir()} == {
        *("module_statistic.csv", "module_tree.csv", "module_coverage.csv", "pmu_module.csv")
    }
    with open_profile(small) as profile, pytest.raises(InputError, match="by='x': give kernel_type, op, module or metric"):
        profile.pmu_stats("x")


@pytest.mark.slow
def test_counters_over_all_ranks_are_means_by_the_time_of_the_core(tmp_path: Path) -> None:
    """A rank of which only the core's time was recorded takes no part in a ratio that it lacks."""
    used: dict[str, float] = {"aic_total_time": 500, "aic_total_cycles": 100}
    counters: list[dict[str, float] | None] = [{**used, "aic_mac_ratio": 0.9}, {**used, "aic_mac_ratio": 0.1}, used, None]
    for rank, (duration, pmu) in enumerate(zip((1000, 3000, 2000, 500), counters, strict=True)):
        mm = kernel(1000, duration, "MatMulV3", "AI_CORE", pmu)
        op = Op("aten::linear", START + 110, START + 120, (mm,))
        write_profile(tmp_path / f"{rank}_ascend_pt", [op], [Range("Net", START + 100, START + 150)], rank=rank)
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match="3_ascend_pt: no hardware counters"):
        profile.pmu_stats()
        rows = profile.table("across.pmu", arrow=True).to_pylist()
    figures: dict[str, Any] = {
        "kernel_count": 4, "duration_ns": 6500, "known_duration_ns": 6000, "known_share": 6000 / 6500, "bound": "wait",
        "compute_ns": 0, "memory_ns": 0, "on_chip_ns": 0, "scalar_ns": 0, "wait_ns": 4000, "unbound_ns": 0,
        "aic_duration_ns": 6000, "aic_kernel_count": 3, "aic_uncounted_count": 0, "aic_uncounted_ns": 0,
        "aic_time_share": (500 + 500 + 500) / 6000, "aic_mac_ratio": (0.9 * 1000 + 0.1 * 3000) / 4000,
        "aic_scalar_ratio": None, "aic_mte1_ratio": None, "aic_mte2_ratio": None, "aic_fixpipe_ratio": None,
        "cube_utilization": None, "aiv_duration_ns": 0, "aiv_kernel_count": 0,
        "aiv_uncounted_count": 0, "aiv_uncounted_ns": 0, "aiv_time_share": None, "aiv_vec_ratio": None,
        "aiv_scalar_ratio": None, "aiv_mte2_ratio": None, "aiv_mte3_ratio": None,
        "occupancy": None, "occupancy_duration_ns": 0, "few_blocks_ns": 0, "blocks_per_sm": None, "warps_per_sm": None,
        "registers_per_thread": None, "shared_memory_bytes": None,
    }  # fmt: skip
    labels = ("kind", "type", "core", "op_name", "parent_module", "module")
    expected = {
        "all": (None, None, None, None, None, None),
        "kernel_type": ("compute", "MatMulV3", "AI_CORE", None, None, None),
        "module": (None, None, None, None, "", "Net"),
        "op": ("compute", "MatMulV3", "AI_CORE", "aten::linear", None, None),
    }
    assert [rounded(row) for row in rows] == [
        rounded({"level": level, **dict(zip(labels, values, strict=True)), "rank_count": 4, **figures})
        for level, values in expected.items()
    ]
