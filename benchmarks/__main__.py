"""Measures the main job, `module-stats --export_type db`, on generated profiles, beside the bare read and msprof-analyze.

    python -m benchmarks                                   10 k and 100 k kernels, the peer up to 100 k
    python -m benchmarks --kernels 1000000 --peer-up-to 1000000 --write
    python -m benchmarks --kernels 10000000 --forms db --peer-up-to 0 --memory-limit 3GB
    python -m benchmarks --kernels 550000 --forms text cut --peer-up-to 0        a text export of 2 GB
    python -m benchmarks --kernels 100000 --forms db --ranks 64

Each figure is the best of --runs whole processes, taken in turn, and stands beside its ratio to the main job of this checkout.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bare_read import TEXT_FILES
from benchmarks.measure import Cost, best_of, cost_of
from benchmarks.report import OURS, Case, print_case, write_report

CHECKOUT = Path(__file__).parent.parent
MODES = ("inference", "training")
FORMS = ("db", "text", "cut")


def generate(folder: Path, kernels: int, mode: str, form: str, ranks: int) -> None:
    """Make the profiles; `cut` is a text export whose trace breaks off at 90 % of its bytes."""
    words = [sys.executable, "-m", "fixtures.generate", str(folder), "--ranks", str(ranks), "--mode", mode]
    words += ["--kernels", str(kernels), "--exports", "db" if form == "db" else "text"]
    subprocess.run(words, cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL)
    if form == "cut":
        for file in folder.rglob("trace_view.json"):
            with file.open("r+b") as trace:
                trace.truncate(file.stat().st_size * 9 // 10)


def main_job(checkout: Path, profiles: Path, output: Path, options: list[str]) -> Callable[[], Cost]:
    words = [sys.executable, "-m", "prof_analysis", "module-stats", "-d", str(profiles), "-o", str(output), *options]
    return lambda: cost_of(words, checkout)


def bare_read(profiles: Path) -> Callable[[], Cost]:
    return lambda: cost_of([sys.executable, "-m", "benchmarks.bare_read", str(profiles)], CHECKOUT)


def peer_job(profiles: Path, output: Path) -> Callable[[], Cost]:
    output.mkdir(mode=0o750)
    for file in [profiles, *profiles.rglob("*")]:
        file.chmod(0o750 if file.is_dir() else 0o640)
    command = str(Path(sys.executable).with_name("msprof-analyze"))
    words = [command, "-m", "module_statistic", "-d", str(profiles), "-o", str(output), "--export_type", "db"]
    return lambda: cost_of(words, output)


def checked_out(revision: str, folder: Path) -> Path:
    """The files of another revision."""
    if not folder.exists():
        archive = subprocess.run(["git", "archive", revision], cwd=CHECKOUT, check=True, capture_output=True)
        folder.mkdir()
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def phases(profiles: Path, scratch: Path, options: list[str]) -> dict[str, float]:
    result = scratch / "phases.json"
    words = ["module-stats", "-d", str(profiles), "-o", str(scratch / "out"), *options]
    command = [sys.executable, "-m", "benchmarks.phases", str(time.time()), str(result), *words]
    subprocess.run(command, cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found: dict[str, float] = json.loads(result.read_text(encoding="utf-8"))
    return found


def measured(given: argparse.Namespace, scratch: Path, kernels: int, mode: str, form: str) -> Case:
    """One profile, and all that is run on it."""
    profiles, output = scratch / "profiles", scratch / "out"
    generate(profiles, kernels, mode, form, given.ranks)
    options = ["--memory-limit", given.memory_limit] if given.memory_limit else []
    jobs = {OURS: main_job(CHECKOUT, profiles, output, options), "bare read": bare_read(profiles)}
    if given.against:
        other = checked_out(given.against, scratch.parent / "other")
        jobs[given.against] = main_job(other, profiles, scratch / "other_out", options)
    if given.ranks > 1:
        first = min(profiles.glob("*_ascend_pt"))
        jobs["one rank, one thread"] = main_job(CHECKOUT, first, output, [*options, "--threads", "1"])
    costs: dict[str, list[Cost]] = {name: [] for name in jobs}
    for _ in range(given.runs):
        for name, job in jobs.items():
            costs[name].append(job())
    if form == "db" and kernels * given.ranks <= given.peer_up_to:
        costs["msprof-analyze"] = [peer_job(profiles, scratch / "peer")()]
    files = [file for name in (*TEXT_FILES, "ascend_pytorch_profiler*.db") for file in profiles.rglob(name)]
    return Case(
        kernels,
        mode,
        form,
        given.ranks,
        sum(file.stat().st_size for file in files),
        {name: best_of(runs) for name, runs in costs.items()},
        phases(profiles, scratch, options) if given.ranks == 1 else {},
    )


def main() -> None:
    parser = argparse.ArgumentParser("benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, nargs="+", default=[10_000, 100_000], help="sizes of a rank")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS[:2])
    parser.add_argument("--ranks", type=int, default=1, help="so many ranks, beside one of them on one thread")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-up-to", type=int, default=100_000, metavar="KERNELS", help="msprof-analyze, once a profile")
    parser.add_argument("--against", metavar="REV", help="another revision of this repository")
    parser.add_argument("--memory-limit", help="that of the main job, as in 3GB")
    parser.add_argument("--write", action="store_true", help="put the figures and the plot into benchmarks/README.md")
    given = parser.parse_args()
    cases = []
    with TemporaryDirectory(prefix="benchmarks_") as folder:
        for kernels in given.kernels:
            for mode in given.modes:
                for form in given.forms:
                    scratch = Path(folder, "case")
                    scratch.mkdir()
                    cases.append(measured(given, scratch, kernels, mode, form))
                    print_case(cases[-1])
                    shutil.rmtree(scratch)
    if given.write:
        write_report(cases, Path(__file__).parent)


if __name__ == "__main__":
    main()
