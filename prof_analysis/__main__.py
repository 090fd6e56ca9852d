"""`python -m prof_analysis` is the command `prof-analysis`."""

from prof_analysis.cli import run

run()
