"""Finds out which variables the SQL of a table reads: with other values of them it is another table, with others the same."""

import re
from functools import cache

from prof_analysis.engine.macros import called_in
from prof_analysis.engine.tables import in_building_order, source_tables
from prof_analysis.options import Options

# With a name that is not written out, the second group is empty.
_READ = re.compile(r"\b(getvariable)\s*\(\s*(?:'(\w+)'\s*\))?", re.IGNORECASE)


@cache
def variables_read(source: str, table: str) -> frozenset[str]:
    """Return the variables that the SQL of a table reads, or that of a table or macro that it is made with."""
    tables = source_tables(source)
    bodies = " ".join(tables[name].body for name in in_building_order(tables, (table,)))
    names = {name.lower() for _, name in _READ.findall(f"{bodies} {called_in(bodies)}")}
    return frozenset(Options().variables()) if "" in names else frozenset(names)
