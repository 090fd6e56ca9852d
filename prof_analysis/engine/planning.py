"""Plans the tables of a rank: those that are needed, in building order, and the columns that are read of each."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb

from prof_analysis.engine.database import lent, optimizers, without_optimizers
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.grains import grain_of
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.parsing import NEEDS, known_needs, nodes
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.remembered import keep, recall
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import (
    all_tables,
    create_schemas,
    documented_tables,
    has_text_ids,
    in_building_order,
    of_one_rank,
    source_tables,
)
from prof_analysis.engine.variables import VARIABLES, variables_named, variables_read

_SCANS = "scans"
# Source and query -> the tables that it scans, each with the columns. Only queries of the project are here, so they are few.
_known_scans: dict[tuple[str, str], dict[str, frozenset[str]]] = {}
# What was kept for other runs, or is not of the project: the scans by source and query, needs by body. Where a process makes
# hundreds of plans, to look at all again for each takes 40 ms, three times as long as the plan.
_seen: set[object] = set()


@dataclass(frozen=True)
class Plan:
    """The tables to build, in order, and the `columns` that are read of each of them and of each raw table.

    `reads` has, for each table, the tables and columns that its query reads. `deferred` tables are needed behind guards only.
    """

    order: tuple[str, ...]
    columns: Mapping[str, frozenset[str]]
    deferred: frozenset[str]
    reads: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)

    @property
    def raw_columns(self) -> Mapping[str, frozenset[str]]:
        """The raw tables and columns that a source must stage before anything is built."""
        return self._raw(self.columns.keys() - self.deferred)

    @property
    def raw_tables(self) -> frozenset[str]:
        """The raw tables that are staged, first or behind a guard."""
        return frozenset(name for name in self.columns if name.startswith("raw."))

    @property
    def deferred_raw_columns(self) -> Mapping[str, frozenset[str]]:
        """The raw tables and columns that a source must stage once a guard passes."""
        return self._raw(self.deferred)

    def _raw(self, names: Set[str]) -> Mapping[str, frozenset[str]]:
        return {name: self.columns[name] for name in names if name.startswith("raw.")}


def split_across_ranks(
    wanted: tuple[str, ...], own: tuple[Table, ...] = (), has_several_ranks: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tables that each rank must build for the wanted ones, and the tables over ranks or runs, in building order.

    Without has_several_ranks, each run has one rank, so that nothing is made for tables that compare ranks.
    """
    tables = all_tables(own) if has_several_ranks else of_one_rank(all_tables(own))
    across = tuple(in_building_order(tables, wanted, ("job", "runs")))
    named = (*wanted, *(need for name in across for need in sorted(tables[name].read)))
    return tuple(dict.fromkeys(name for name in named if grain_of(name) == "rank")), across


def variables_of(table: str, sources: Set[str], own: tuple[Table, ...] = (), has_several_ranks: bool = True) -> frozenset[str]:
    """Return the variables that the SQL of a table over ranks of these sources reads, itself or through other tables.

    They are kept between runs: of `advise` this takes as long as to plan, since it reads tables that one rank does not need.
    """
    question = (f"{VARIABLES} {' '.join(sorted(sources))} {'ranks' if has_several_ranks else 'rank'}", table)
    if not own and (known := recall(*question)) is not None:
        return frozenset(known)
    tables = all_tables(own) if has_several_ranks else of_one_rank(all_tables(own))
    of_ranks, over_ranks = split_across_ranks((table,), own)
    found = frozenset(name for source in sources for one in of_ranks for name in variables_read(source, one, own))
    found = found.union(*(variables_named(tables[one]) for one in over_ranks))
    if not own:
        keep({question: sorted(found)})
    return found


def make_plan(
    source: str,
    raw_columns: Mapping[str, Mapping[str, str]],
    wanted: Iterable[str],
    own: tuple[Table, ...] = (),
    is_for_others: bool = False,
) -> Plan:
    """Plan what `wanted` needs: tables in building order, and the columns that are read of each.

    With is_for_others, tables that are kept for other questions get the columns that most of these read.

    DuckDB knows the columns: on empty tables, with all optimizers off but the one that drops unused columns, the plan of each
    body lists what it scans. The lists are kept, since other questions need many of the same tables.
    """
    tables = source_tables(source, own, frozenset(raw_columns))
    wanted = tuple(wanted)
    order = _trace_first(tables, list(in_building_order(tables, _cheapest_first(tables, wanted))))
    raw_needs = {need for name in order for need in tables[name].needs if need in raw_columns}
    used: dict[str, set[str]] = {name: set() for name in [*order, *raw_needs]}
    if is_for_others:
        for name in order:
            used[name].update(tables[name].kept_with)
    for name in wanted:
        used[name].update(column.name for column in tables[name].columns)
        if has_text_ids(tables[name]):
            used["trace.string"].update(("text_id", "text"))
    definitions = {
        **{name: raw_columns[name] for name in raw_needs},
        **{name: {column.name: column.stored_type for column in tables[name].columns} for name in order},
    }
    reads = {}
    with ExitStack() as opened:
        empty: duckdb.DuckDBPyConnection | None = None
        lacking = dict(definitions)
        for name in reversed(order):
            query = pruned(tables[name], used[name], tables[name].body)
            # Another profile may have other own tables of the same names.
            known_scans = {} if tables[name] in own else _known_scans
            if (source, query) not in known_scans and (kept := recall(f"{_SCANS} {source}", query)) is not None:
                known_scans[source, query] = {scanned: frozenset(columns) for scanned, columns in kept.items()}
            if (source, query) not in known_scans:
                empty = empty or opened.enter_context(_planner(definitions, sql_of(tables, order)))
                for need in tables[name].needs & lacking.keys():
                    described = ", ".join(f"{quote(column)} {type_}" for column, type_ in lacking.pop(need).items())
                    empty.execute(f"CREATE TABLE {need} ({described})")
                known_scans[source, query] = _scans(empty, query)
            reads[name] = known_scans[source, query]
            for scanned, columns_read in reads[name].items():
                used[scanned].update(columns_read)
    _keep(source, [name for name in order if tables[name] not in own])
    deferred = used.keys() - before_guards(tables, wanted)
    return Plan(order, {name: frozenset(columns) for name, columns in used.items()}, frozenset(deferred), reads)


def _keep(source: str, names: Iterable[str]) -> None:
    """Keep new facts about the project's SQL for other runs; `names` are tables of it."""
    scans: dict[tuple[str, str], Any] = {
        (f"{_SCANS} {one}", query): {scanned: sorted(columns) for scanned, columns in scans.items()}
        for (one, query), scans in _known_scans.items()
        if (one, query) not in _seen
    }
    new_needs = {body: known for body, known in known_needs.items() if body not in _seen}
    needs = {(NEEDS, body): [sorted(needs), is_ordered] for body, (needs, is_ordered) in new_needs.items()}
    variables = {(f"{VARIABLES} {source}", name): sorted(variables_read(source, name)) for name in names}
    if any(recall(*question) is None for question in (*scans, *needs, *variables)):
        all_of = (documented_tables(), of_one_rank(documented_tables()), source_tables(source))
        of_project = {table.body for tables in all_of for table in tables.values()}
        keep(scans | variables | {question: answer for question, answer in needs.items() if question[1] in of_project})
    _seen.update(_known_scans, known_needs)


def _cheapest_first(tables: Mapping[str, Table], wanted: tuple[str, ...]) -> list[str]:
    """Put the wanted tables that need the fewest others first: tables that only they read are then dropped early.

    Of `advise` at a million kernels the tables that are there at one time take 1.7 GB, and in the order of names 1.9 GB; while
    free.host_part gathers arrays, 1.0 and 1.6 GB.
    """
    needed: dict[str, frozenset[str]] = {}
    for name in in_building_order(tables, wanted):
        needed[name] = frozenset().union(*(needed.get(need, (need,)) for need in tables[name].read))
        needed[name] |= {name}
    return sorted(wanted, key=lambda name: len(needed[name]))


def _trace_first(tables: Mapping[str, Table], order: list[str]) -> tuple[str, ...]:
    """Put trace tables first, and of them those with the most inputs first, so that raw tables can be dropped early."""
    trace = [name for name in order if name.startswith("trace.")]
    first: list[str] = []
    while trace:
        ready = [name for name in trace if not tables[name].read.intersection(trace)]
        first.append(max(ready, key=lambda name: len(tables[name].read)))
        trace.remove(first[-1])
    return (*first, *(name for name in order if name not in first))


def before_guards(tables: Mapping[str, Table], wanted: Iterable[str]) -> set[str]:
    """Return the tables that are needed whether or not the guards pass."""
    found: set[str] = set()
    to_visit = ["trace.string", *wanted]
    while to_visit:
        name = to_visit.pop()
        if name not in found:
            found.add(name)
            if table := tables.get(name):
                to_visit += [table.guard] if table.guard else table.needs
    return found


@dataclass(frozen=True)
class Build:
    """A step of building: one table. It stays empty where its guard has no rows, or nothing gives it any."""

    table: str
    is_empty: bool


def walk(
    plan: Plan, tables: Mapping[str, Table], passes: Callable[[str], bool]
) -> Iterator[Build | Mapping[str, frozenset[str]]]:
    """Yield the steps of building a plan: tables to build, and raw tables and columns to stage once a guard passes.

    `passes` is called with the guard of a table when its turn comes, and returns whether that table has rows.
    """
    made: set[str] = set()
    staged = set(plan.raw_columns)

    def make(wanted: Iterable[str]) -> Iterator[Build | Mapping[str, frozenset[str]]]:
        needed = before_guards(tables, wanted)
        if unstaged := needed & plan.deferred_raw_columns.keys() - staged:
            staged.update(unstaged)
            yield {name: plan.columns[name] for name in sorted(unstaged)}
        for name in plan.order:
            if name in needed and name not in made:
                guard = tables[name].guard
                is_empty = tables[name].never_has_rows or (guard is not None and not passes(guard))
                if guard is not None and not is_empty:
                    yield from make(tables[name].needs)
                made.add(name)
                yield Build(name, is_empty)

    yield from make(name for name in plan.order if name not in plan.deferred)


def pruned(table: Table, columns: Iterable[str], body: str) -> str:
    """Return the query that gives these columns of a table that has this body."""
    kept = set(columns)
    names = [quote(column.name) for column in table.columns if column.name in kept] or ["NULL AS nothing_read"]
    return f"SELECT {', '.join(names)} FROM ({body})"


def padded(table: Table, columns: Iterable[str], body: str) -> str:
    """Return the query that gives these columns of a table that has this body, and NULL in all others."""
    kept = set(columns)
    cells = (quote(one.name) if one.name in kept else f"NULL::{one.stored_type} AS {quote(one.name)}" for one in table.columns)
    return f"SELECT {', '.join(cells)} FROM ({body})"


def sql_of(tables: Mapping[str, Table], names: Iterable[str]) -> str:
    """Return the bodies of these tables as one text."""
    return " ".join(tables[name].body for name in names)


@contextmanager
def _planner(tables: Iterable[str], sql: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database for empty tables, whose only optimizer is the one that drops unused columns."""
    with lent(threads=1) as connection:
        create_macros(connection, sql)
        create_schemas(connection, tables)
        with without_optimizers(connection, set(optimizers(connection)) - {"unused_columns"}):
            yield connection


def _scans(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, frozenset[str]]:
    """Return the tables that a query scans, each with the columns that it reads."""
    with functions_for(connection, query, through_macros=False):
        row = connection.execute(f"EXPLAIN (FORMAT json) {query}").fetchone()
    scans: dict[str, set[str]] = {}
    for node in nodes(json.loads(row[1]) if row else []):
        info = node.get("extra_info", {})
        if "Table" in info:
            columns = info.get("Projections") or []
            table = info["Table"].partition(".")[2].replace('"', "")
            scans.setdefault(table, set()).update(filter(None, [columns] if isinstance(columns, str) else columns))
    return {table: frozenset(columns) for table, columns in scans.items()}
