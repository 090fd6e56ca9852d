"""Finds the variables that the SQL of a table reads: only other values of these make it another table."""

import re
from functools import lru_cache

from prof_analysis.common.answer_options import USUAL
from prof_analysis.engine.macros import called_in
from prof_analysis.engine.remembered import recall
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import has_text_ids, source_tables

VARIABLES = "variables"
# The group is empty where the name is not a literal.
_READ = re.compile(r"\bgetvariable\b(?:\s*\(\s*'(\w+)'\s*\))?", re.IGNORECASE)


def variables_named(table: Table) -> frozenset[str]:
    """Return the variables that the SQL of a table reads itself or through macros."""
    names = {name.lower() for name in _READ.findall(table.body + called_in(table.body))}
    return frozenset(USUAL.variables()) if "" in names else frozenset(names)


@lru_cache(maxsize=1024)  # Our tables are few; those of users must not be kept for ever.
def variables_read(source: str, table: str, own: tuple[Table, ...] = ()) -> frozenset[str]:
    """Return the variables that the SQL of a table reads, itself or through the tables and macros that it uses."""
    if not own and (known := recall(f"{VARIABLES} {source}", table)) is not None:
        return frozenset(known)
    tables = source_tables(source, own)
    if table not in tables:  # A raw table reads no variables.
        return frozenset()
    texts = ("trace.string",) if has_text_ids(tables[table]) and table != "trace.string" else ()
    return variables_named(tables[table]).union(*(variables_read(source, need, own) for need in (*tables[table].read, *texts)))
