"""The profiles that are measured, and the commands that run on them."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Cost, cost_of

CHECKOUT = Path(__file__).parent.parent
OURS = "prof-analysis"
PEER = "msprof-analyze"
BARE = "bare read"
MAIN_JOB = ("module-stats",)
MODES = ("inference", "training")
FORMS = ("db", "text", "cut")
Job = Callable[[], Cost]
# The cache of all runs.
CACHE = TemporaryDirectory()


def generate(folder: Path, kernels: int, mode: str, form: str, ranks: int, records: tuple[str, ...] = ()) -> None:
    """Make the profiles; `cut` is a text export whose trace breaks off at 90 % of its bytes, `records` are further switches."""
    words = [sys.executable, "-m", "fixtures.generate", str(folder), "--ranks", str(ranks), "--mode", mode]
    words += ["--kernels", str(kernels), "--exports", "db" if form == "db" else "text", *records]
    subprocess.run(words, cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL)
    if form == "cut":
        for file in folder.rglob("trace_view.json"):
            with file.open("r+b") as trace:
                trace.truncate(file.stat().st_size * 9 // 10)


def our_job(
    words: tuple[str, ...], profiles: Path, output: Path | None, checkout: Path = CHECKOUT, limit_s: float | None = None
) -> Job:
    """Return the job that runs a command of prof-analysis, one that writes files into `output`, with the code of a checkout."""
    command = [sys.executable, "-m", "prof_analysis", *words, "-d", str(profiles), *(["-o", str(output)] if output else [])]

    def ask() -> Cost:
        forget()
        return cost_of(command, checkout, limit_s, cache=CACHE.name)

    return ask


def forget() -> None:
    """Remove what the cache has of profiles: each run is a first question. What it has of the program itself stays."""
    for entry in Path(CACHE.name).glob("*/"):
        shutil.rmtree(entry)


def bare_read(profiles: Path) -> Job:
    """Return the job that reads the columns of the main job and does nothing with them."""
    return lambda: cost_of([sys.executable, "-m", "benchmarks.bare_read", str(profiles)], CHECKOUT)


def peer_job(recipe: str, profiles: Path, output: Path, limit_s: float | None = None) -> Job:
    """Return the job that runs a recipe of msprof-analyze, which wants files that only their owner can write."""
    output.mkdir(mode=0o750)
    for file in [profiles, *profiles.rglob("*")]:
        file.chmod(0o750 if file.is_dir() else 0o640)
    command = [str(Path(sys.executable).with_name(PEER)), "-m", recipe, "-d", str(profiles), "-o", str(output)]
    return lambda: cost_of([*command, "--export_type", "db"], output, limit_s)
