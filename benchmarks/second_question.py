"""Measures what the cache saves: each command without a cache, and all of them after one another with one.

    python -m benchmarks.second_question PROFILES --runs 3

Each figure is the median of --runs whole processes, taken in turn. `first` is with an empty cache, `after others` with what the
commands above have left there, and `again` with the answer itself.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.jobs import CACHE, CHECKOUT
from benchmarks.measure import Cost, cost_of, typical

COMMANDS = ("module-stats", "kernel-stats", "communication-stats", "op-stats", "step-time", "mfu", "free-time")
CASES = ("no cache", "first", "after others", "again")


def asked(command: str, profiles: Path, scratch: Path, *options: str) -> Cost:
    words = [sys.executable, "-m", "prof_analysis", command, "-d", str(profiles), "-o", str(scratch / "out"), *options]
    return cost_of(words, CHECKOUT, cache=CACHE.name)


def measured(profiles: Path, scratch: Path, commands: list[str]) -> dict[tuple[str, str], Cost]:
    """The costs of one round, by command and by what the cache had."""
    found = {}
    for number, command in enumerate(commands):
        found[command, "no cache"] = asked(command, profiles, scratch, "--cache", "none")
        found[command, "first"] = asked(command, profiles, scratch, "--cache", str(scratch / f"cache_{number}"))
        for case in CASES[2:]:
            found[command, case] = asked(command, profiles, scratch, "--cache", str(scratch / "cache"))
    return found


def print_costs(costs: dict[tuple[str, str], Cost], commands: list[str]) -> None:
    print(f"| CPU s (wall s) | {' | '.join(CASES)} | after others / no cache |")
    print("|---" * (len(CASES) + 2) + "|")
    for command in commands:
        cells = [f"{costs[command, case].cpu_s:.2f} ({costs[command, case].wall_s:.2f})" for case in CASES]
        ratio = costs[command, "after others"].cpu_s / costs[command, "no cache"].cpu_s
        print(f"| {command} | {' | '.join(cells)} | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        "benchmarks.second_question", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profiles", type=Path)
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS))
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    rounds = []
    for _ in range(given.runs):
        with TemporaryDirectory() as scratch:
            rounds.append(measured(given.profiles.absolute(), Path(scratch), given.commands))
    print_costs({key: typical([one[key] for one in rounds]) for key in rounds[0]}, given.commands)


if __name__ == "__main__":
    main()
