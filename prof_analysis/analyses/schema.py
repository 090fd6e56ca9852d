"""Parts of the JSON Schema of the output of --json; rows and their columns are made of the heads of the files in sql/."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prof_analysis.engine.table_file import Column, Table


Schema = dict[str, Any]
_TYPES = {
    **dict.fromkeys(("INTEGER", "BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"), "integer"),
    "DOUBLE": "number",
    "BOOLEAN": "boolean",
    "VARCHAR": "string",
}
# A head that refers to another column says there when it is NULL.
_MAY_BE_NULL = re.compile(r"NULL|\bas in\b|^as \w+|\bthe same\b|\blikewise\b")
_PATH = "path of the module, all modules around it in front, joined by /"


def _tables() -> "Mapping[str, Table]":
    """Return the documented tables. They need DuckDB, which takes long to import, and a command must start without it."""
    from prof_analysis.engine.tables import documented_tables

    return documented_tables()


def text(meaning: str) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": meaning}


def texts(meaning: str) -> Schema:
    """Return the schema of a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": meaning}


def one_of(meaning: str, *values: str) -> Schema:
    """Return the schema of a text that is one of these."""
    return {"enum": list(values), "description": meaning}


def count(meaning: str) -> Schema:
    """Return the schema of a number of things."""
    return {"type": "integer", "minimum": 0, "description": meaning}


def amount(meaning: str, unit: str) -> Schema:
    """Return the schema of an integer with a unit."""
    return {**count(meaning), "x-unit": unit}


def share(meaning: str) -> Schema:
    """Return the schema of a part of 1."""
    return {"type": "number", "description": meaning}


def or_null(schema: Schema, when: str) -> Schema:
    """Return the schema of a value that is null in a case that is named."""
    return {**schema, "type": [schema["type"], "null"], "description": f"{schema['description']}; null {when}"}


def fields(*optional: str, **properties: Schema) -> Schema:
    """Return the schema of an object with these keys and no others; those in `optional` may be missing."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def also(schema: Schema, *optional: str, **properties: Schema) -> Schema:
    """Return the schema of an object with further keys, which take the place of those of the same name."""
    more = fields(*optional, **properties)
    return {
        **schema,
        "properties": {**schema["properties"], **properties},
        "required": list(dict.fromkeys((*schema["required"], *more["required"]))),
    }


SIZE = {"ranks": count("ranks that answered"), "rows": count("rows of the whole answer, of which the lists have the first")}
LEFT_OUT = count("rows that --filter leaves out")
MODULE = text(_PATH)
IN_MODULE = or_null(text(_PATH), "outside modules")


def answer(*optional: str, **properties: Schema) -> Schema:
    """Return the schema of an answer that begins with its size."""
    return fields(*optional, **SIZE, **properties)


def row(table: str, *columns: str, without: Iterable[str] = (), **more: Schema) -> Schema:
    """Return the schema of a row: with all columns of a table, with those named, or without some; with `more` keys."""
    left_out = set(without)
    if not (columns or left_out or more):
        return {"$ref": f"#/$defs/{table}"}
    known = [column.shown_name for column in shown_columns(_tables()[table])]
    if unknown := ({*columns} | left_out) - set(known):
        raise ValueError(f"{table} has no {', '.join(sorted(unknown))}")
    names = [name for name in columns or known if name not in left_out]
    return also(fields(**{name: {"$ref": f"#/$defs/{table}/properties/{name}"} for name in names}), **more)


def of_module(table: str) -> Schema:
    """Return the schema of a row of a module with the whole path in one column."""
    return row(table, without=("parent_module", "module"), module=MODULE)


def _row_of(one: Schema | str) -> Schema:
    return row(one) if isinstance(one, str) else one


def one(meaning: str, of_row: Schema | str) -> Schema:
    """Return the schema of one row, which a table may stand for, or of another object."""
    return {**_row_of(of_row), "description": meaning}


def rows(meaning: str, *of_row: Schema | str) -> Schema:
    """Return the schema of a list of rows, which may be of several kinds; a table stands for its whole rows."""
    kinds = [_row_of(kind) for kind in of_row]
    items = {"items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}} if kinds else {}
    return {"type": "array", **items, "description": meaning}


# The ranks of the job, in each answer that tells how many of them are here.
JOB = one("how many ranks of the job are here", "across.job")


def by_level(schema: Schema, key: str, rows_of: Mapping[str, Schema | str]) -> Schema:
    """Return the schema of an object whose rows in `key` depend on its key `level`."""
    cases = [
        {"if": {"properties": {"level": {"const": level}}}, "then": {"properties": {key: {"items": _row_of(of_row)}}}}
        for level, of_row in rows_of.items()
    ]
    return {**also(schema, level=one_of("what a row is", *rows_of)), "allOf": cases}


def columns_of(table: str) -> dict[str, Schema]:
    """Return the properties of a row by name, for an object that has those of a row and more."""
    return {
        column.shown_name: {"$ref": f"#/$defs/{table}/properties/{column.shown_name}"}
        for column in shown_columns(_tables()[table])
    }


def shown_columns(table: "Table") -> "tuple[Column, ...]":
    """Return the columns that users see."""
    from prof_analysis.engine.table_file import Column

    of_rank = (
        Column("profile", "VARCHAR", "folder of the rank, as in `prof-analysis ranks`"),
        Column("rank_id", "INTEGER", "rank; NULL where no file names it"),
    )
    return (*(of_rank if table.grain == "rank" else ()), *table.columns)


def of_table(table: "Table") -> Schema:
    """Return the schema of a row of a table."""
    properties = {column.shown_name: _of_column(column) for column in shown_columns(table)}
    return {**fields(**properties), "description": table.summary}


def _of_column(column: "Column") -> Schema:
    """Return the schema of a value, which is null only where the head says so."""
    unit = {"moment": "Unix ns"}.get(column.format, column.unit)
    return {
        **_of_type(column.shown_type, _MAY_BE_NULL.search(column.meaning) is not None),
        "description": column.meaning.replace("NULL", "null"),
        **({} if unit is None else {"x-unit": unit}),
    }


def _of_type(type_: str, is_nullable: bool) -> Schema:
    """Return the schema of the values of a type."""
    null = ["null"] if is_nullable else []
    if type_.endswith("[]"):
        return {"type": ["array", *null] if null else "array", "items": _of_type(type_.removesuffix("[]"), False)}
    if type_.startswith("ENUM("):
        return {"enum": [*re.findall(r"'([^']*)'", type_), *([None] if null else [])]}
    if type_.startswith("STRUCT("):
        inside = type_.removeprefix("STRUCT(").removesuffix(")")
        of_fields = {name: _of_type(of_field, True) for name, of_field in (one.split() for one in inside.split(", "))}
        return {**fields(**of_fields), "type": ["object", *null] if null else "object"}
    return {"type": [_TYPES[type_], *null] if null else _TYPES[type_]}


def tables_in(schema: object) -> Iterator[str]:
    """Yield the tables to which a schema refers."""
    if isinstance(schema, dict):
        if (match := re.match(r"#/\$defs/(\w+\.\w+)(/|$)", str(schema.get("$ref")))) and match[1] in _tables():
            yield match[1]
        for one in schema.values():
            yield from tables_in(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from tables_in(one)
