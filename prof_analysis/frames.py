"""Answers as rows, Arrow tables and DataFrames that keep the types of their values."""

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pandas
    import pyarrow


def rows(relation: "duckdb.DuckDBPyRelation") -> list[dict[str, Any]]:
    """Return the rows of an answer, each as values by column. It needs no pyarrow, whose import takes a tenth of a second."""
    columns = unique(relation.columns)
    return [dict(zip(columns, row, strict=True)) for row in relation.fetchall()]


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
    """Return a table with its columns in the order in which people read: names, then figures, then what only locates a row."""
    names = table.column_names
    first, last = ([name for name in some if name in names] for some in (_FIRST, _LAST))
    return table.select([*first, *(name for name in names if name not in (*first, *last)), *last])


def to_pandas(table: "pyarrow.Table") -> "pandas.DataFrame":
    """Return a DataFrame in which integers stay integers: a column with NULLs is Int64 or similar."""
    import pandas
    import pyarrow

    nullable = {
        pyarrow.bool_(): pandas.BooleanDtype(),
        pyarrow.int8(): pandas.Int8Dtype(),
        pyarrow.int16(): pandas.Int16Dtype(),
        pyarrow.int32(): pandas.Int32Dtype(),
        pyarrow.int64(): pandas.Int64Dtype(),
        pyarrow.uint8(): pandas.UInt8Dtype(),
        pyarrow.uint16(): pandas.UInt16Dtype(),
        pyarrow.uint32(): pandas.UInt32Dtype(),
        pyarrow.uint64(): pandas.UInt64Dtype(),
    }
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
