"""Times the main job, `module-stats --export_type db`, on a generated rank; against another revision and msprof-analyze.

    python benchmarks/main_job.py --kernels 1000000 --against 339dc20
    python benchmarks/main_job.py --kernels 100000 --peer

Each figure is the best of --runs whole processes, taken in turn in one run, and stands as a ratio beside that of this checkout.
CPU time is less disturbed by what else the machine does than wall time.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Cost:
    wall_s: float
    cpu_s: float


def cost_of(words: list[str], folder: Path) -> Cost:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(time.perf_counter() - start, cpu_s)


def main_job(checkout: Path, profiles: Path, scratch: Path) -> Callable[[], Cost]:
    words = [sys.executable, "-m", "prof_analysis", "module-stats", "-d", str(profiles), "-o", str(scratch / "out")]
    return lambda: cost_of(words, checkout)


def peer_job(profiles: Path, scratch: Path) -> Callable[[], Cost]:
    command = str(Path(sys.executable).with_name("msprof-analyze"))
    output = scratch / "peer"
    output.mkdir(mode=0o750)
    for file in [profiles, *profiles.rglob("*")]:
        file.chmod(0o750 if file.is_dir() else 0o640)
    words = [command, "-m", "module_statistic", "-d", str(profiles), "-o", str(output), "--export_type", "db"]
    return lambda: cost_of(words, scratch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--against", metavar="REV", help="another revision of this repository")
    parser.add_argument("--peer", action="store_true", help="msprof-analyze too, once")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for mode in ("inference", "training"):
            profiles = scratch / mode
            generate = [sys.executable, "-m", "fixtures.generate", str(profiles), "--ranks", "1", "--mode", mode]
            subprocess.run([*generate, "--kernels", str(given.kernels)], cwd=CHECKOUT, check=True)
            jobs = {"this checkout": main_job(CHECKOUT, profiles, scratch)}
            if given.against:
                other = scratch / "other"
                if not other.exists():
                    archive = subprocess.run(["git", "archive", given.against], cwd=CHECKOUT, check=True, capture_output=True)
                    other.mkdir()
                    subprocess.run(["tar", "-x", "-C", str(other)], input=archive.stdout, check=True)
                jobs[given.against] = main_job(other, profiles, scratch)
            costs: dict[str, list[Cost]] = {name: [] for name in jobs}
            for _ in range(given.runs):
                for name, job in jobs.items():
                    costs[name].append(job())
            if given.peer:
                costs["msprof-analyze"] = [peer_job(profiles, scratch)()]
            wall_s = {name: min(cost.wall_s for cost in runs) for name, runs in costs.items()}
            cpu_s = {name: min(cost.cpu_s for cost in runs) for name, runs in costs.items()}
            print(f"{mode}, {given.kernels:,} kernels, {os.cpu_count()} cores")
            for name in costs:
                ratio = f"{wall_s[name] / wall_s['this checkout']:.2f} x wall, {cpu_s[name] / cpu_s['this checkout']:.2f} x CPU"
                print(f"  {name:20} {wall_s[name]:8.2f} s wall {cpu_s[name]:8.2f} s CPU   {ratio}")


if __name__ == "__main__":
    main()
