"""Cases of a table: rows in, rows out, as tables of a Markdown page beside its SQL.

`ours/stream.cases.md` holds the cases of the table ours.stream. A case begins with a heading of the second level. The name of
a table stands in a line of its own above its rows: rows of tables that are read, and those that ours.stream must have. A line
`step_id = 3` sets an option. An empty cell is NULL, '' an empty text, and a column that no row names is NULL in all. What the
head of a rule of advice says, such as its evidence, is compared where a row names it.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import duckdb

from prof_analysis.common.answer_options import Options, Variables
from prof_analysis.common.errors import InputError
from prof_analysis.engine.rows_of import rows_of
from prof_analysis.engine.rules import SAID
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import all_tables

ENDING = ".cases.md"
# A row by column, in texts as the page has them.
Row = Mapping[str, str | None]
_TABLE = re.compile(r"`?(\w+\.\w+)`?")
_OPTION = re.compile(r"`?(\w+) = (.+?)`?")
_OPTIONS = {one.name for one in fields(Options)}


@dataclass
class Case:
    """A case of a table: its name, the line where it begins, options, rows by table in texts as the page has them, and,
    once it was tried, what is wrong with the rows that the table has."""

    name: str
    line: int
    options: dict[str, object] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def cases_in(file: Path) -> list[Case]:
    """Return the cases of a page. Raises InputError, with the line, for one that cannot be read."""
    cases: list[Case] = []
    table = ""
    try:
        page = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: is not UTF-8 text; save it as UTF-8", path=file) from error
    for line, part in _parts(page):
        if isinstance(part, str) and part.startswith("## "):
            cases.append(Case(part.removeprefix("## "), line))
            table = ""
        elif isinstance(part, list):
            if not table:
                said = "rows without a name of a table above them, in a case that begins with ##"
                raise InputError(f"{file}:{line}: {said}", path=file)
            cases[-1].rows[table] = part
        elif cases and (option := _OPTION.fullmatch(part)):
            cases[-1].options[option[1]] = _option(option[1], option[2], file, line)
        elif cases and (named := _TABLE.fullmatch(part)):
            table = named[1]
    return cases


def _parts(page: str) -> Iterator[tuple[int, str | list[Row]]]:
    """Yield headings of the second level, lines of text, and the rows of tables, each with the number of its line."""
    from markdown_it import MarkdownIt

    line, heading, rows = 0, "", list[list[str]]()
    # What stands inside a cell is not Markdown.
    for token in MarkdownIt("commonmark").enable("table").disable("inline").parse(page):
        line = token.map[0] + 1 if token.map else line
        if token.type == "heading_open":
            heading = f"{token.markup} "
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(token.content.strip())
        elif token.type == "inline":
            yield from ((line, f"{heading}{text}") for text in token.content.splitlines())
            heading = ""
        elif token.type == "table_close":
            header, *others = rows
            yield line, [dict(zip(header, map(_value, row), strict=True)) for row in others]
            rows = []


def _value(cell: str) -> str | None:
    return None if cell in ("", "NULL") else "" if cell == "''" else cell


def _option(name: str, text: str, file: Path, line: int) -> object:
    if name not in _OPTIONS:
        raise InputError(f"{file}:{line}: there is no option {name}; there are {', '.join(sorted(_OPTIONS))}", path=file)
    try:
        return json.loads(text)
    except ValueError:
        return text


def failures_in(
    file: Path,
    own: tuple[Table, ...] = (),
    body: str | None = None,
    raw_columns: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> list[Case]:
    """Return the cases of a page, each with its failures; `body` and `raw_columns` are those of rows_of().

    Raises InputError, with the line, for a case without expected rows, or with an unknown table, column or option.
    """
    name = f"{'trace' if body else file.parent.name}.{file.name.removesuffix(ENDING)}"
    cases = cases_in(file)
    for case in cases:
        try:
            case.failures = _failures(case, name, own, body, raw_columns)
        except InputError as error:
            raise InputError(f"{file}:{case.line}: {error}", path=file) from error
    return cases


def _failures(
    case: Case, name: str, own: tuple[Table, ...], body: str | None, raw_columns: Mapping[str, Mapping[str, str]]
) -> list[str]:
    if name not in case.rows:
        raise InputError(f"the case expects no rows of {name}; write its name, and a table without rows where it has none")
    given = {table: rows for table, rows in case.rows.items() if table != name}
    variables: Variables = Options(**case.options).variables() if case.options else {}  # type: ignore[arg-type]
    found = rows_of(name, given, variables, own, raw_columns, body)
    tables = all_tables(own)
    table = tables[name]
    types = {column.shown_name: column.shown_type for column in table.columns}
    named = dict.fromkeys(column for row in case.rows[name] for column in row)
    for column in named:
        if column not in types:
            raise InputError(f"there is no column {column}; there are {', '.join(types)}")
    if name in tables["advice.finding_of_rank"].needs:
        types = {column: type_ for column, type_ in types.items() if column in named or column not in SAID}
    expected = [{column: _read(row.get(column), type_, column) for column, type_ in types.items()} for row in case.rows[name]]
    if not table.is_ordered:
        found = _in_order_of(expected, found)
    return list(_differences(expected, found))


def _read(text: str | None, type_: str, column: str) -> object:
    """Return an expected value as DuckDB gives it; of a number with decimals its digits."""
    if text is None:
        return None
    try:
        value = _cast(text, type_)
    except duckdb.ConversionException as error:
        raise InputError(f"{column}: {text} is no {type_}") from error
    return Digits(text) if isinstance(value, float) else value


@lru_cache(maxsize=4096)  # Most cells of a page are alike.
def _cast(text: str, type_: str) -> object:
    ((value,),) = duckdb.execute(f"SELECT CAST($value AS {type_})", {"value": text}).fetchall()
    return value


class Digits(str):
    """A number with decimals, as it is written."""


def _differences(expected: list[dict[str, object]], found: list[dict[str, object]]) -> Iterator[str]:
    if len(expected) != len(found):
        yield f"{len(found)} rows, expected {len(expected)}"
    for number, (row, other) in enumerate(zip(expected, found, strict=False), 1):
        for column in _differing(row, other):
            yield f"row {number}: {column} is {_shown(other[column])}, expected {_shown(row[column])}"
    for unexpected in found[len(expected) :]:
        yield f"not expected: {', '.join(f'{name} {_shown(value)}' for name, value in unexpected.items() if value is not None)}"


def _in_order_of(expected: list[dict[str, object]], found: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return rows that have no order in that of the expected ones; the places of those that equal none have the others."""
    left = list(found)
    ordered: list[dict[str, object] | None] = []
    for row in expected:
        equal = next((one for one in left if not _differing(row, one)), None)
        ordered.append(equal)
        if equal is not None:
            left.remove(equal)
    return [*(left.pop(0) if one is None else one for one in ordered if one is not None or left), *left]


def _differing(expected: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    return [column for column, value in expected.items() if not _is_equal(value, found[column])]


def _is_equal(expected: object, found: object) -> bool:
    """Return whether a value is the expected one; a number with decimals is compared in those that are written."""
    if expected is None or found is None:
        return expected is found
    if isinstance(expected, Digits) and isinstance(found, float):
        decimals = len(expected.partition(".")[2]) if "e" not in expected.lower() else 15
        return math.isclose(round(found, decimals), float(expected), rel_tol=1e-12, abs_tol=1e-15)
    return bool(expected == found)


def _shown(value: object) -> str:
    return "NULL" if value is None else "''" if value == "" else str(value)
