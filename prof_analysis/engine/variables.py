"""Finds out which variables the SQL of a table reads: with other values of them it is another table, with others the same."""

import re
from functools import lru_cache

from prof_analysis.engine.macros import called_in
from prof_analysis.engine.tables import Table, has_text_ids, source_tables
from prof_analysis.options import USUAL

# Where the name is not written out, the group is empty.
_READ = re.compile(r"\bgetvariable\b(?:\s*\(\s*'(\w+)'\s*\))?", re.IGNORECASE)


@lru_cache(maxsize=1024)  # Our own tables are few; what users bring along is not to be kept for ever.
def variables_read(source: str, table: str, own: tuple[Table, ...] = ()) -> frozenset[str]:
    """Return the variables that the SQL of a table reads, or that of a table or macro that it is made with."""
    tables = source_tables(source, own)
    if table not in tables:  # what a source stages reads none
        return frozenset()
    names = {name.lower() for name in _READ.findall(tables[table].body + called_in(tables[table].body))}
    named = frozenset(USUAL.variables()) if "" in names else frozenset(names)
    texts = ("trace.string",) if has_text_ids(tables[table]) and table != "trace.string" else ()
    return named.union(*(variables_read(source, need, own) for need in (*tables[table].read, *texts)))
