"""Checks users' input for rules: thresholds, and in own rules the required recordings."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from prof_analysis.common.capabilities import CAPABILITIES
from prof_analysis.common.errors import InputError
from prof_analysis.common.options import USUAL
from prof_analysis.engine.database import connect
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import documented_tables


def check_thresholds(given: Mapping[str, float] | None) -> None:
    """Raise InputError, which names similar thresholds, where one that is given does not exist."""
    if not given:
        return
    table = documented_tables()["advice.threshold"]
    with connect(USUAL.variables(), threads=1) as connection:
        names = [".".join(row) for row in connection.execute(f"SELECT rule, name FROM ({table.body})").fetchall()]
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 3, 0.5)
            meant = f"did you mean {' or '.join(near)}? " if near else ""
            raise InputError(f"there is no threshold {name}: {meant}`prof-analysis table advice.threshold -d PATH` lists all")


def check_requirements(own: Iterable[Table]) -> None:
    """Raise InputError if an own table requires a capability that no rank can have."""
    for table in own:
        for name in sorted({name for one in table.requires for name in one} - CAPABILITIES.keys()):
            raise InputError(f"{table.name}: requires {name}, which does not exist; there are {', '.join(CAPABILITIES)}")
