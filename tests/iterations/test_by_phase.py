"""The answers by phase: each phase has what the simulated server ran in its passes, and all phases are the whole."""

from collections import Counter
from pathlib import Path

from prof_analysis import open_profile
from prof_analysis.analyses import ANALYSES
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.serving import serve, write


def test_each_phase_has_what_ran_in_its_passes(tmp_path: Path) -> None:
    (rank, _) = serve(24, drafts=2, seed=1)
    asked = ("kernel_stats", "module_stats", "op_stats", "mfu", "free_time", "communication_stats")
    with open_profile(write(rank, tmp_path, "kineto")) as profile:
        analyses = [ANALYSES[name.replace("_", "-")] for name in asked]
        tables = [table for one in analyses for table in (*one.tables, one.rows["phase"].table)]
        build_at_once(profile, *tables, "iterations", "free.gap")
        by_phase = {name: arrow_of(getattr(profile, name)(by="phase")).to_pylist() for name in asked}
        rows = arrow_of(profile.iterations()).to_pylist()
        (whole,) = profile.rows("SELECT sum(duration_ns)::BIGINT AS ns, count(*) AS count FROM trace.kernel")
        idle = profile.rows("SELECT sum(end_ns - start_ns)::BIGINT AS ns FROM free.gap")[0]["ns"]
    kernels, modules, communication = Counter[str](), Counter[tuple[str, str | None]](), Counter[str]()
    for one in rank.passes:
        for kind, start, end, module in one.kernels:
            kernels[one.phase] += end - start
            modules[one.phase, module.rpartition("/")[2] or None] += end - start
            communication[one.phase] += (end - start) * (kind == "sum")

    def summed(name: str, column: str) -> Counter[str]:
        total = Counter[str]()
        for row in by_phase[name]:
            total[row["phase"]] += row[column]
        return total

    assert summed("kernel_stats", "total_ns") == kernels
    assert summed("op_stats", "device_self_ns") == kernels
    assert summed("module_stats", "own_kernel_duration_ns") == kernels
    assert {(row["phase"], row["module"]): row["own_kernel_duration_ns"] for row in by_phase["module_stats"]} == modules
    assert summed("communication_stats", "total_ns") == communication
    assert sum(summed("kernel_stats", "total_ns").values()) == whole["ns"]
    assert sum(summed("op_stats", "calls").values()) == whole["count"], "each op launched one kernel"
    assert sum(summed("free_time", "total_ns").values()) == idle
    computing = {row["phase"]: row["duration_ns"] for row in by_phase["mfu"]}
    assert computing == {phase: kernels[phase] - communication[phase] for phase in kernels}
    elapsed = Counter[str]()
    for row in rows:
        elapsed[row["phase"]] += row["duration_ns"]
    assert {row["phase"]: row["elapsed_ns"] for row in by_phase["mfu"]} == elapsed


def test_a_profile_without_passes_has_no_phases(kept: Path, kept_sample: Path) -> None:
    with open_profile(kept_sample, cache=kept) as profile:
        assert arrow_of(profile.kernel_stats(by="phase")).to_pylist() == []
