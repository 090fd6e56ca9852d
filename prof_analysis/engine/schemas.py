"""Says what the tables of a schema hold: a line of sql/schemas.txt, in the order in which data flows through the schemas."""

from collections.abc import Mapping
from functools import cache

from prof_analysis.engine.statements import sql_folder


@cache
def schemas() -> Mapping[str, str]:
    """Return what the tables of each schema hold."""
    lines = (sql_folder() / "schemas.txt").read_text(encoding="utf-8").splitlines()
    return {name: meaning for name, _, meaning in (line.partition(": ") for line in lines)}
