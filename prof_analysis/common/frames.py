"""Answers as rows, Arrow tables and DataFrames that keep the types of their values."""

import re
from collections import Counter
from contextlib import suppress
from json import loads
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pandas
    import pyarrow


def rows(relation: "duckdb.DuckDBPyRelation") -> list[dict[str, Any]]:
    """Return the rows of an answer, each as values by column. It needs no pyarrow, whose import takes a tenth of a second."""
    columns = unique(relation.columns)
    return [dict(zip(columns, row, strict=True)) for row in relation.fetchall()]


# Types of DuckDB whose values Python does not hold all: infinite times, times with zones, months, and alternatives.
_PARTLY_HELD = re.compile(r"TIME|DATE|INTERVAL|UNION")
_NESTED = re.compile(r"\[|STRUCT|MAP|UNION")


def exact(relation: "duckdb.DuckDBPyRelation") -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of an answer as JSON can hold them.

    Times are texts as DuckDB writes them, infinite ones too; a map is a list of pairs.
    """
    columns = unique(relation.columns)
    are_json = []
    cells = []
    for number, type_ in enumerate(map(str, relation.types), start=1):
        is_partly_held = _PARTLY_HELD.search(type_) is not None and not type_.startswith("ENUM")
        are_json.append(is_partly_held and _NESTED.search(type_) is not None)
        cells.append(f"to_json(#{number})" if are_json[-1] else f"#{number}{'::VARCHAR' * is_partly_held}")
    found = relation.query("rows_of_query", f"SELECT {', '.join(cells)} FROM rows_of_query")
    assert found is not None, "a SELECT has rows"
    are_maps = [str(type_).startswith("MAP(") for type_ in relation.types]

    def held(value: Any, is_json: bool, is_map: bool) -> Any:
        if is_json and value is not None:
            value = loads(value, parse_constant=lambda _: None)
        return [list(pair) for pair in value.items()] if is_map and isinstance(value, dict) else value

    return columns, [list(map(held, row, are_json, are_maps)) for row in found.fetchall()]


def plain(table: "pyarrow.Table") -> "pyarrow.Table":
    """Return a table with plain integers and unique names of columns.

    DuckDB sums integers to 128 bits, which become decimals in Arrow: here they become 64-bit integers where they fit. Where
    columns have the same name, later ones get a number: a, a_1, a_2.
    """
    import pyarrow

    for position, field in enumerate(table.schema):
        if field.type == pyarrow.decimal128(38, 0):
            with suppress(pyarrow.ArrowInvalid):
                table = table.set_column(position, field.name, table.column(position).cast(pyarrow.int64()))
    return table.rename_columns(unique(table.column_names))


# In a notebook the first columns are seen, and the folder of a rank is as wide as five figures.
_FIRST = ("run", "rank_id", "is_slow", "step_id", "module", "op_name", "name", "type", "duration_ns")
_LAST = ("kernel_list", "op_chain", "parent_module", "profile")


def arranged(table: "pyarrow.Table") -> "pyarrow.Table":
    """Return a table with its columns in reading order: names, then figures, then columns that only locate a row."""
    names = table.column_names
    first, last = ([name for name in some if name in names] for some in (_FIRST, _LAST))
    return table.select([*first, *(name for name in names if name not in (*first, *last)), *last])


def to_pandas(table: "pyarrow.Table") -> "pandas.DataFrame":
    """Return a DataFrame in which integers stay integers: a column with NULLs is Int64 or similar."""
    import pandas
    import pyarrow

    names = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
    nullable = {pyarrow.type_for_alias(name.lower()): pandas.api.types.pandas_dtype(name) for name in names}
    nullable[pyarrow.bool_()] = pandas.BooleanDtype()
    frame: pandas.DataFrame = table.to_pandas()
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.type in nullable and column.null_count:
            frame[field.name] = column.to_pandas(types_mapper=nullable.get).array
    return frame


def unique(names: list[str]) -> list[str]:
    """Return names of columns in which none comes twice: later ones get a number."""
    taken, seen = set(names), Counter[str]()
    unique = []
    for name in names:
        new = name
        while seen[name] and new in taken:
            new = f"{name}_{seen[name]}"
            seen[name] += 1
        seen[name] += not seen[name]
        taken.add(new)
        unique.append(new)
    return unique
