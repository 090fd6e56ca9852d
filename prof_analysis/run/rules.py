"""Checks the thresholds that users give for rules."""

from collections.abc import Mapping
from difflib import get_close_matches

from prof_analysis.common.errors import InputError
from prof_analysis.engine.gathering import names_of_thresholds
from prof_analysis.engine.table_file import Table


def check_thresholds(given: Mapping[str, float] | None, tables: Mapping[str, Table]) -> None:
    """Raise InputError, which names similar thresholds, where one that is given does not exist."""
    names = names_of_thresholds(tables) if given else []
    for name in given or ():
        if name not in names:
            near = get_close_matches(name, names, 3, 0.5)
            meant = f"did you mean {' or '.join(near)}? " if near else ""
            raise InputError(f"there is no threshold {name}: {meant}`prof-analysis table advice.threshold -d PATH` lists all")
