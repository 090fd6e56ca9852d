"""Measures `compare` of two generated runs, beside the main job on one of them and `msprof-analyze compare`.

    python -m benchmarks.compare                                       10 k and 100 k kernels a run
    python -m benchmarks.compare --kernels 1000000 --peer-limit 1800 --write

In the new run a kernel is slower, an op is fused and a layer was added. msprof-analyze compares modules of the Python tracer,
so both runs have these. Each figure is the median of --runs whole processes, taken in turn. What is measured is kept in
compare.jsonl, so that sizes can be measured one after the other.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.jobs import CACHE, CHECKOUT, MAIN_JOB, OURS, PEER, Job, forget, our_job
from benchmarks.measure import Cost, cost_of, in_turn, ratio_of, typical
from benchmarks.report import about, table, write_section

COMPARE = "compare"
CHANGES = ("--slower", "SiLU[0]", "--fused", "--extra-layer", "1")
COLUMNS = ("kernels a run", "MB a run", "what", "wall s", "CPU s", "peak MB", "x main job", "x its CPU", "x compare")
Costs = dict[str, list[Cost]]


def make_run(folder: Path, kernels: int, changes: tuple[str, ...]) -> int:
    """Simulate a run of one rank, and return its bytes; msprof-analyze wants files that only their owner can write."""
    words = [sys.executable, "-m", "fixtures.generate", str(folder), "--ranks", "1", "--kernels", str(kernels)]
    words += ["--nn-module-ranges", "beside", "--spread", "3", *changes]
    subprocess.run(words, cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL)
    for file in [folder, *folder.rglob("*")]:
        file.chmod(0o750 if file.is_dir() else 0o640)
    return sum(file.stat().st_size for file in folder.rglob("*.db"))


def compare_job(base: Path, new: Path, output: Path) -> Job:
    """Return the job that compares two runs, with nothing in the cache."""
    command = [sys.executable, "-m", "prof_analysis", "compare", str(base), str(new), "-o", str(output), "--export_type", "db"]

    def ask() -> Cost:
        forget()
        return cost_of(command, CHECKOUT, cache=CACHE.name)

    return ask


def peer_job(base: Path, new: Path, output: Path, limit_s: float) -> Job:
    """Return the job of msprof-analyze, which writes a workbook."""
    output.mkdir(mode=0o750)
    ranks = [str(next(run.glob("*_ascend_pt"))) for run in (new, base)]
    command = [str(Path(sys.executable).with_name(PEER)), "compare", "-d", ranks[0], "-bp", ranks[1], "-o", str(output)]
    return lambda: cost_of(command, output, limit_s)


def measured(kernels: int, runs: int, peer_limit_s: float) -> tuple[float, Costs]:
    """Return the megabytes of a run, and what each job cost."""
    with TemporaryDirectory(prefix="benchmarks_") as folder:
        base, new, scratch = (Path(folder, name) for name in ("base", "new", "scratch"))
        size = make_run(base, kernels, ())
        make_run(new, kernels, CHANGES)
        jobs = {OURS: our_job(MAIN_JOB, base, scratch / "main"), COMPARE: compare_job(base, new, scratch / "compare")}
        if peer_limit_s:
            scratch.mkdir()
            jobs[PEER] = peer_job(base, new, scratch / "peer", peer_limit_s)
        return size / 1e6, in_turn(jobs, runs)


def rows_of(kernels: int, megabytes: float, costs: Costs) -> list[tuple[str, ...]]:
    """Return a row for each job."""
    rows = []
    for name, of_job in costs.items():
        cost = typical(of_job)
        row = [f"{kernels:,}", f"{megabytes:,.0f}", f"`{MAIN_JOB[0]}` of one run" if name == OURS else f"`{name}`"]
        row += [f"{'' if cost.is_whole else '> '}{cost.wall_s:.2f}", f"{cost.cpu_s:.2f}", f"{cost.peak_bytes / 1e6:,.0f}"]
        row += [str(ratio_of(of_job, costs[OURS])), str(ratio_of(of_job, costs[OURS], lambda one: one.cpu_s))]
        rows.append((*row, str(ratio_of(of_job, costs[COMPARE]))))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        "benchmarks.compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernels", type=int, nargs="*", default=[10_000, 100_000], help="sizes of a run; none: write alone")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-limit", type=float, default=600, metavar="SECONDS", help="stop msprof-analyze; 0: leave it out")
    parser.add_argument("--results", type=Path, default=Path("compare.jsonl"), help="what was measured so far")
    parser.add_argument("--write", action="store_true", help="put all that was measured into benchmarks/README.md")
    given = parser.parse_args()
    for kernels in given.kernels:
        megabytes, costs = measured(kernels, given.runs, given.peer_limit)
        as_rows = {name: [asdict(one) for one in of_job] for name, of_job in costs.items()}
        with given.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"kernels": kernels, "megabytes": megabytes, "costs": as_rows}) + "\n")
        for row in rows_of(kernels, megabytes, costs):
            print("  ".join(row), flush=True)
    if given.write:
        rows = {}
        for one in map(json.loads, given.results.read_text(encoding="utf-8").splitlines()):
            costs = {name: [Cost(**run) for run in of_job] for name, of_job in one["costs"].items()}
            rows[one["kernels"]] = rows_of(one["kernels"], one["megabytes"], costs)
        lines = [about("benchmarks.compare"), "", *table(COLUMNS, [row for kernels in sorted(rows) for row in rows[kernels]])]
        write_section(Path(__file__).parent / "README.md", "compare", lines)


if __name__ == "__main__":
    main()
