"""Measures what pictures cost beside the main job: the report, and the trace with its events a second.

    python -m benchmarks.pictures PROFILES --runs 3

Each figure is the median of --runs whole processes without a cache, taken in turn. Events a second are those of the whole
command, and of the time that it takes beyond the main job.
"""

import argparse
import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.jobs import our_job
from benchmarks.measure import in_turn, ratio_of, typical


def events_below(folder: Path) -> int:
    """Count the events of all traces below a folder: each has a line, and the object around them two."""
    count = 0
    for file in folder.rglob("timeline_*.json.gz"):
        with gzip.open(file) as lines:
            count += sum(1 for _ in lines) - 2
    return count


def main() -> None:
    parser = argparse.ArgumentParser(
        "benchmarks.pictures", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profiles", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    profiles = given.profiles.absolute()
    with TemporaryDirectory() as scratch:
        out, page = Path(scratch) / "out", Path(scratch) / "report.html"
        jobs = {
            "module-stats": our_job(("module-stats", "--export-type", "db", "--cache", "none"), profiles, out),
            "report": our_job(("report", "--cache", "none"), profiles, page),
            "trace": our_job(("module-stats", "--export-type", "trace", "--cache", "none"), profiles, out),
        }
        costs = in_turn(jobs, given.runs)
        events, page_mb = events_below(out), page.stat().st_size / 1e6
    print("| what | wall s | CPU s | x main job | x its CPU | peak MB | |")
    print("|---|---|---|---|---|---|---|")
    main_job = costs["module-stats"]
    for name, of_job in costs.items():
        cost = typical(of_job)
        wall, cpu = ratio_of(of_job, main_job), ratio_of(of_job, main_job, lambda one: one.cpu_s)
        more = f"{page_mb:.1f} MB" if name == "report" else ""
        if name == "trace":
            beyond_s = cost.cpu_s - typical(main_job).cpu_s
            more = f"{events:,} events, {events / cost.cpu_s:,.0f} a CPU second, {events / beyond_s:,.0f} beyond the main job"
        print(f"| `{name}` | {cost.wall_s:.2f} | {cost.cpu_s:.2f} | {wall} | {cpu} | {cost.peak_bytes / 1e6:,.0f} | {more} |")


if __name__ == "__main__":
    main()
