"""Tables that are kept for other questions: which ones, how a file holds them, and what is still to build where some are kept.

All trace tables are kept, and those whose head has `@keep`: what costs much to build and much reads. A file holds the columns
that a question built. Ids of texts are of use only together with the texts of the same run, so each file of a table names the
file of its texts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prof_analysis.engine.database import quote_path
from prof_analysis.engine.planning import Plan, before_guards
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.registry import with_others
from prof_analysis.engine.table_file import Table

TEXTS = "trace.string"
# Parquet would make doubles of them. A million texts of 128 bits take 45 s.
_KEPT_AS = {"HUGEINT": "VARCHAR", "UHUGEINT": "UUID"}


@dataclass(frozen=True)
class KeptTable:
    """A file that holds columns of a table, and the file of its texts."""

    file: Path
    columns: frozenset[str]
    texts: Path


def is_kept(table: Table) -> bool:
    """Return whether a table is kept for other questions."""
    return table.is_kept or table.name.startswith("trace.")


def rows_to_keep(table: Table, columns: Iterable[str]) -> str:
    """Return the query that gives columns of a built table in types that Parquet has."""
    names = set(columns)
    kept = [column for column in table.columns if column.name in names]
    cells = [f"{quote(one.name)}::{_KEPT_AS.get(one.type, one.stored_type)} AS {quote(one.name)}" for one in kept]
    return f"SELECT {', '.join(cells) or 'NULL AS nothing_read'} FROM {table.name}"


def restricted(
    plan: Plan,
    tables: Mapping[str, Table],
    wanted: Sequence[str],
    kept: Mapping[str, Sequence[KeptTable]],
    guards: Mapping[str, bool],
) -> tuple[Plan, Mapping[str, Table]]:
    """Return the plan of the tables still to build, and the tables that are read from files instead.

    A table whose needed columns a file has is read from it, and what only it needs is neither built nor staged. `guards` has
    the guards that are known, and whether they have rows.
    """
    needed: dict[str, set[str]] = {TEXTS: {"text_id", "text"}} if TEXTS in plan.order else {}
    for name in wanted:
        needed.setdefault(name, set()).update(column.name for column in tables[name].columns)
    found: dict[str, KeptTable] = {}
    loaded: dict[str, Table] = {}
    for name in reversed(plan.order):
        if name == TEXTS or name not in needed:
            continue
        table = tables[name]
        if table.guard and guards.get(table.guard) is False:
            loaded[name] = table.without_rows()
        elif one := next((one for one in kept.get(name, ()) if one.columns >= needed[name]), None):
            found[name] = one
            loaded[name] = replace(table, body=_rows_of(table, one), guard=None)
        else:
            _need(needed, plan, table)
    texts = sorted({one.texts for one in found.values()})
    if TEXTS in needed:
        is_staged = any(
            _stages_texts(name, plan, tables) for name in needed.keys() - loaded.keys() if not name.startswith("raw.")
        )
        of_texts = texts or [one.file for one in kept.get(TEXTS, ())][:1]
        if is_staged or not of_texts:
            _need(needed, plan, tables[TEXTS])
            if texts:
                loaded[TEXTS] = replace(tables[TEXTS], body=_with_texts(tables[TEXTS].body, texts))
        else:
            loaded[TEXTS] = replace(tables[TEXTS], body=_texts_of(of_texts))
    # The texts come first: the files of other tables name theirs.
    order = sorted((name for name in plan.order if name in needed), key=lambda name: name != TEXTS)
    columns = {name: frozenset(needed[name]) if _is_read(name, loaded) else plan.columns[name] for name in needed}
    deferred = columns.keys() - before_guards(with_others(tables, loaded), wanted)
    reads = {name: {} if _is_read(name, loaded) else plan.reads[name] for name in order}
    return Plan(tuple(order), columns, frozenset(deferred), reads), loaded


def _stages_texts(name: str, plan: Plan, tables: Mapping[str, Table]) -> bool:
    """Return whether a table is made of staged ones, and has ids of texts."""
    is_of_raw = any(read.startswith("raw.") for read in plan.reads[name])
    return is_of_raw and any(column.shown_name != column.name for column in tables[name].columns)


def _is_read(name: str, loaded: Mapping[str, Table]) -> bool:
    """Return whether a table is staged, or read from a file and nothing else."""
    return name.startswith("raw.") or (name in loaded and not loaded[name].needs)


def _need(needed: dict[str, set[str]], plan: Plan, table: Table) -> None:
    """Add the columns that a table reads to the needed ones."""
    for name, columns in plan.reads[table.name].items():
        needed.setdefault(name, set()).update(columns)
    for name in table.read:
        needed.setdefault(name, set())


def _rows_of(table: Table, kept: KeptTable) -> str:
    """Return the query that reads a table from its file, in the types and the order of its columns."""
    cells = [f"{quote(one.name)}::{one.stored_type} AS {quote(one.name)}" for one in table.columns if one.name in kept.columns]
    return f"SELECT {', '.join(cells) or 'NULL AS nothing_read'} FROM {_parquet([kept.file])}"


def _texts_of(files: Sequence[Path]) -> str:
    return f"SELECT {'DISTINCT ' if len(files) > 1 else ''}text_id, text FROM {_parquet(files)}"


def _with_texts(body: str, files: Sequence[Path]) -> str:
    """Return the query that gives the texts of this question, and those of tables that are read from files."""
    return (
        f"WITH of_question AS MATERIALIZED ({body}), of_files AS ({_texts_of(files)}) "
        "FROM of_question UNION ALL FROM of_files ANTI JOIN of_question USING (text_id, text)"
    )


def _parquet(files: Sequence[Path]) -> str:
    return f"read_parquet([{', '.join(map(quote_path, files))}], hive_partitioning = false)"


def texts_are_doubtful(table: Table) -> str:
    """Return the query that says whether two texts have the same id, which can happen only among several runs."""
    return f"SELECT count(*) > count(DISTINCT text_id) FROM {table.name}"
