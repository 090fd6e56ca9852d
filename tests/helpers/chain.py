"""Builds one table from given rows of tables far in front of it, by way of all between: cheaper than a whole profile."""

from collections.abc import Mapping, Sequence

from prof_analysis.engine.rows_of import TEXTS, Row, rows_of
from prof_analysis.engine.tables import all_tables


def built(name: str, given: Mapping[str, Sequence[Row]]) -> list[dict[str, object]]:
    """Return the rows of a table; tables of trace that are not given have no rows, all others are built of them."""
    tables = all_tables()
    made: dict[str, Sequence[Row]] = dict(given)

    def made_of(table: str) -> list[dict[str, object]]:
        needs = sorted(tables[table].read - {TEXTS})
        for need in needs:
            if need not in made:
                made[need] = [] if need.startswith("trace.") else made_of(need)
        return rows_of(table, {need: made[need] for need in needs})

    return made_of(name)
