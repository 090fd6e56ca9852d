"""Makes the tables that unite rules: the findings of all rules, their thresholds, and the time that each of them counts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache

from prof_analysis.common.errors import InputError
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.registry import Registry
from prof_analysis.engine.rules import Threshold
from prof_analysis.engine.table_file import Column, Table

Tables = Mapping[str, Table]
# Thresholds that are not of one rule, but of what is done with findings.
_OF_ALL = "every"


def gathered(tables: Tables) -> Tables:
    """Return tables in which rules give whole findings, and those that gather others have a body."""

    @cache
    def finding_of(folder: str) -> tuple[Column, ...]:
        beside = (tables[name] for name in tables if _folder(name) == folder)
        return next(table.columns[1:] for table in beside if table.gathers == folder)

    def whole(name: str) -> Table:
        table = tables[name]
        return _whole(table, finding_of(_folder(name))) if table.said else table

    def read(name: str) -> Table:
        table = whole(name)
        if not table.gathers:
            return table
        beside = [whole(other) for other in tables if _folder(other) == _folder(name)]
        return replace(table, body=_BODIES[table.gathers.rpartition(" of ")[0]](table, beside))

    return Registry(tables, read)


def is_gathered(table: Table, gathering: Table) -> bool:
    """Return whether a table is one of those that another one gathers: it is beside it, and begins with its columns."""
    columns = [(column.name, column.type) for column in gathering.columns[1:]]
    first = [(column.name, column.type) for column in table.columns[: len(columns)]]
    return _folder(table.name) == _folder(gathering.name) and first == columns


def _folder(name: str) -> str:
    return name.partition(".")[0]


def _whole(rule: Table, finding: tuple[Column, ...]) -> Table:
    """Return a rule with all columns of a finding (what its SELECT gives, what its head says, NULL), then its other figures."""
    said, own = dict(rule.said), {column.name: column for column in rule.columns}
    cells = (
        quote(column.name) if column.name in own else f"{said.get(column.name, f'NULL::{column.type}')} AS {quote(column.name)}"
        for column in finding
    )
    names = {column.name for column in finding}
    others = tuple(column for name, column in own.items() if name not in names)
    body = f"SELECT {', '.join((*cells, *(quote(column.name) for column in others)))}\nFROM (\n{rule.body}\n) AS found"
    return replace(rule, columns=(*finding, *others), body=body, said=())


def _findings(gathering: Table, beside: Iterable[Table]) -> str:
    """Return the query that gives the rows of all rules, without those that they leave to others, in a fixed order."""
    column, *others = (quote(column.name) for column in gathering.columns)
    rows = " UNION ALL ".join(
        f"SELECT {quote_text(_short(table))} AS {column}, {', '.join(others)} FROM {table.name} AS found{_left(table)}"
        for table in beside
        if is_gathered(table, gathering)
    )
    return f"{rows} ORDER BY ALL"


def _left(rule: Table) -> str:
    """Return the condition under which a finding is not left to another rule."""
    conditions = [
        f"NOT EXISTS (FROM {_folder(rule.name)}.{other} AS other WHERE {condition})" for other, condition in rule.yields
    ]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def check_thresholds(given: Mapping[str, float], tables: Tables) -> None:
    """Raise InputError, which names similar thresholds, where one that is given as rule.name does not exist."""
    names = [f"{rule}.{one.name}" for rule, one in _thresholds_by_rule(tables.values())] if given else []
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 3, 0.5)
            meant = f"did you mean {' or '.join(near)}? " if near else ""
            raise InputError(f"there is no threshold {name}: {meant}`prof-analysis table advice.threshold -d PATH` lists all")


def _thresholds_by_rule(tables: Iterable[Table]) -> Iterator[tuple[str, Threshold]]:
    """Yield the thresholds of tables, each with its rule. The tables that gather rules must be among them."""
    tables = list(tables)
    gatherings = [table for table in tables if table.gathers == _folder(table.name)]
    for table in tables:
        is_rule = any(is_gathered(table, gathering) for gathering in gatherings)
        yield from ((_short(table) if is_rule else _OF_ALL, one) for one in table.thresholds)


def _thresholds(gathering: Table, beside: Iterable[Table]) -> str:
    def row(rule: str, one: Threshold) -> str:
        unit = "NULL::VARCHAR" if one.unit is None else quote_text(one.unit)
        return f"{quote_text(rule)}, {quote_text(one.name)}, {one.usual!r}::DOUBLE, {unit}, {quote_text(one.meaning)}"

    return _values(gathering, (row(*one) for one in _thresholds_by_rule(beside)))


def _counts(gathering: Table, beside: Iterable[Table]) -> str:
    rows = (f"{quote_text(_short(table))}, {quote_text(table.counts)}" for table in beside if table.counts)
    return _values(gathering, rows)


_BODIES: Mapping[str, Callable[[Table, Iterable[Table]], str]] = {"": _findings, "thresholds": _thresholds, "counts": _counts}


def _short(table: Table) -> str:
    return table.name.partition(".")[2]


def _values(gathering: Table, rows: Iterable[str]) -> str:
    names = ", ".join(quote(column.name) for column in gathering.columns)
    return f"FROM (VALUES {', '.join(f'({row})' for row in rows)}) AS gathered ({names}) ORDER BY ALL"
