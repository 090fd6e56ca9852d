"""Damages profiles in every way there is, asks them, and holds the answers against those of the undamaged ones.

    python -m benchmarks.trials --list                                the profiles and the damages, by name
    python -m benchmarks.trials --quick                               60 cases, those of the slow tests
    python -m benchmarks.trials --profiles sample --damages 'db-*times*'
    python -m benchmarks.trials --output FILE                         everything, and the table into a file

Each command is a process with a limit of time. A case is right, right with a warning, a clear error, silent and wrong, a
traceback, a hang or a changed input; from silent and wrong on it must not be, and the command ends with 1. Where nothing in the
profile could tell the damage, the reason stands beside it. An untouched profile gives no warning.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.trials.cases import DAMAGES, Case, chosen, run, short
from benchmarks.trials.profiles import subjects
from benchmarks.trials.table import table


def main(words: Sequence[str] | None = None) -> int:
    """Run the cases that are chosen, print each one and the table; return 1 if one of them must not be."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.trials", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--profiles", nargs="+", default=["*"], metavar="PATTERN")
    parser.add_argument("--damages", nargs="+", default=["*"], metavar="PATTERN")
    parser.add_argument("--quick", action="store_true", help="the fixed short form, on the sample and on generated profiles")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="of one command (60)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table there too")
    parser.add_argument("--list", action="store_true", help="name the profiles and the damages, and run nothing")
    given = parser.parse_args(words)
    cases: list[Case] = []
    with TemporaryDirectory(prefix="trials_") as scratch:
        known = subjects(Path(scratch) / "made")
        if given.list:
            rows = [f"{one.name}  {one.kind}" for one in known] + [f"{name}" for name in DAMAGES]
            sys.stdout.write("\n".join(rows) + "\n")
            return 0
        pairs = chosen(known, given.profiles, given.damages)
        pairs = short(pairs) if given.quick else pairs
        for case in run(pairs, Path(scratch) / "case", given.limit):
            cases.append(case)
            sys.stdout.write(f"{case}\n")
            sys.stdout.flush()
    text = table(cases)
    sys.stdout.write(text)
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    return int(any(case.outcome.is_bad for case in cases))


if __name__ == "__main__":
    sys.exit(main())
