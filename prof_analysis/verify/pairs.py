"""The tables that are compared: each of sql/verify/, with the table of msprof-analyze that its head names."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from prof_analysis.common.errors import InputError
from prof_analysis.engine.directives import Beside
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.table_file import KNOWN
from prof_analysis.engine.tables import documented_tables

SCHEMA = "verify"


@dataclass(frozen=True)
class Pair:
    """A table of ours and the one of msprof-analyze beside it.

    `types` has the type of each column of ours. `known` is a SELECT on `difference` that explains rows; "" for none.
    """

    table: str
    beside: Beside
    types: Mapping[str, str]
    known: str


def pairs_of(recipes: Collection[str] = ()) -> list[Pair]:
    """Return the pairs of some recipes of msprof-analyze, or all, by recipe. Raises InputError for a recipe without a pair."""
    tables = [table for name, table in documented_tables().items() if name.startswith(f"{SCHEMA}.")]
    found = [
        Pair(table.name, table.beside, {one.shown_name: one.shown_type for one in table.columns}, _known(table.name))
        for table in tables
        if table.beside
    ]
    known = sorted({pair.beside.recipe for pair in found})
    for recipe in recipes:
        if recipe not in known:
            raise InputError(f"--mode {recipe}: is not compared; what is: {', '.join(known)}")
    return sorted(
        (pair for pair in found if not recipes or pair.beside.recipe in recipes),
        key=lambda pair: (pair.beside.recipe, pair.table),
    )


def _known(table: str) -> str:
    file = sql_folder() / f"{table.replace('.', '/')}{KNOWN}"
    return file.read_text(encoding="utf-8") if file.exists() else ""
