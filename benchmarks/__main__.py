"""Measures the main job, `module-stats --export_type db`, on generated profiles, beside the bare read and msprof-analyze.

    python -m benchmarks                                   10 k and 100 k kernels, the peer up to 100 k
    python -m benchmarks --kernels 1000000 --peer-up-to 1000000 --write
    python -m benchmarks --kernels 10000000 --forms db --peer-up-to 0 --memory-limit 3GB
    python -m benchmarks --kernels 550000 --forms text cut --peer-up-to 0        a text export of 2 GB
    python -m benchmarks --kernels 100000 --forms db --ranks 64

Each figure is the median of --runs whole processes, taken in turn; its ratio to the main job of this checkout is the median of
the rounds. `python -m benchmarks.commands --help` measures the other commands.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bare_read import TEXT_FILES
from benchmarks.jobs import (
    BARE,
    CACHE,
    CHECKOUT,
    FORMS,
    MAIN_JOB,
    MODES,
    OURS,
    PEER,
    bare_read,
    forget,
    generate,
    our_job,
    peer_job,
)
from benchmarks.measure import cost_of, in_turn
from benchmarks.report import Case, print_case, write_report


def checked_out(revision: str, folder: Path) -> Path:
    """The files of another revision."""
    if not folder.exists():
        archive = subprocess.run(["git", "archive", revision], cwd=CHECKOUT, check=True, capture_output=True)
        folder.mkdir()
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def phases(words: tuple[str, ...], profiles: Path, scratch: Path) -> dict[str, float]:
    result = scratch / "phases.json"
    command = [sys.executable, "-m", "benchmarks.phases", str(time.time()), str(result), *words]
    command += ["-d", str(profiles), "-o", str(scratch / "out")]
    forget()
    cost_of(command, CHECKOUT, cache=CACHE.name)
    found: dict[str, float] = json.loads(result.read_text(encoding="utf-8"))
    return found


def measured(given: argparse.Namespace, scratch: Path, kernels: int, mode: str, form: str) -> Case:
    """One profile, and all that is run on it."""
    profiles, output = scratch / "profiles", scratch / "out"
    generate(profiles, kernels, mode, form, given.ranks)
    words = (*MAIN_JOB, "--memory-limit", given.memory_limit) if given.memory_limit else MAIN_JOB
    jobs = {OURS: our_job(words, profiles, output), BARE: bare_read(profiles)}
    if given.against:
        other = checked_out(given.against, scratch.parent / "other")
        jobs[given.against] = our_job(words, profiles, scratch / "other_out", other)
    if given.ranks > 1:
        first = min(profiles.glob("*_ascend_pt"))
        jobs["one rank, one thread"] = our_job((*words, "--threads", "1"), first, output)
    if form == "db" and kernels * given.ranks <= given.peer_up_to:
        jobs[PEER] = peer_job("module_statistic", profiles, scratch / "peer")
    files = [file for name in (*TEXT_FILES, "ascend_pytorch_profiler*.db") for file in profiles.rglob(name)]
    return Case(
        kernels,
        mode,
        form,
        given.ranks,
        sum(file.stat().st_size for file in files),
        in_turn(jobs, given.runs),
        phases(words, profiles, scratch) if given.ranks == 1 else {},
    )


def main() -> None:
    parser = argparse.ArgumentParser("benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, nargs="+", default=[10_000, 100_000], help="sizes of a rank")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS[:2])
    parser.add_argument("--ranks", type=int, default=1, help="so many ranks, beside one of them on one thread")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-up-to", type=int, default=100_000, metavar="KERNELS", help="run msprof-analyze too")
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
