"""Reads DuckDB's parse tree of a query: the tables that it needs, whether it orders its rows, whether it reads files.

What is not a query is refused here. In DuckDB a SELECT can write too: through a COPY in its WITH, and through table functions
such as enable_logging(). So of these only those that read are let through, and those that read files only where it is allowed.
Functions that a next version of DuckDB adds are refused.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb

from prof_analysis.common.errors import QueryError
from prof_analysis.engine.quotes import quote_text
from prof_analysis.engine.remembered import recall

NEEDS = "needs"
# Body -> the tables that it reads, and whether it orders its rows.
known_needs: dict[str, tuple[frozenset[str], bool]] = {}

_READING = {
    "range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "pragma_show", "pragma_table_info",
    "pragma_version", "duckdb_columns", "duckdb_constraints", "duckdb_functions", "duckdb_indexes", "duckdb_keywords",
    "duckdb_macros", "duckdb_schemas", "duckdb_sequences", "duckdb_settings", "duckdb_tables", "duckdb_types",
    "duckdb_variables", "duckdb_views",
}  # fmt: skip
_READING_FILES = {
    "glob", "sniff_csv", "parquet_bloom_probe", "parquet_file_metadata", "parquet_full_metadata", "parquet_kv_metadata",
    "parquet_metadata", "parquet_scan", "parquet_schema", "read_blob", "read_csv", "read_csv_auto", "read_json",
    "read_json_auto", "read_json_objects", "read_json_objects_auto", "read_ndjson", "read_ndjson_auto", "read_ndjson_objects",
    "read_parquet", "read_text",
}  # fmt: skip
# A table without a schema is a file where its name has one of these signs. schema.table may be one too, but is not known.
_SIGN_OF_FILE = re.compile(r"[./\\*?\[]")
ALLOW = "give --allow-files (in Python allow_files=True) if you trust who wrote it"
# Statements that DuckDB takes in a WITH, beside SELECT.
_WRITING = {"copy", "insert", "update", "delete", "merge"}
_CATALOG_SCHEMAS = {"information_schema", "pg_catalog"}
_NO_SELECT = "only a SELECT can be run"
_NAME_VALUES = "in a PIVOT name the values, as in ON rank_id IN (0, 1)"


@dataclass(frozen=True)
class Query:
    """A query of a user.

    DuckDB runs `text`. `tables` are the tables to build, `described` those that are only asked for columns.
    `reads_catalog`: it lists tables or columns, so the catalog must have all.
    """

    text: str
    tables: frozenset[str]
    described: frozenset[str] = frozenset()
    reads_catalog: bool = False


def read_query(
    query: str,
    parser: duckdb.DuckDBPyConnection,
    known: Collection[str],
    meaning: Callable[[str], str],
    allow_files: bool = False,
) -> Query:
    """Read a query of a user. Raises QueryError when it is not a single SELECT, could write, or reads files without leave.

    `known` has the tables that SHOW TABLES lists with their meanings.
    """
    try:
        _refuse_writing(tree := parsed(query, parser), allow_files)
    except QueryError:
        if (pivot := _pivot(query, parser, allow_files)) is None:
            raise
        words = set(re.findall(r"\w+\.\w+", query.lower().replace('"', "")))
        return Query(f"FROM (\n{pivot}\n)", frozenset(words.intersection(known)))
    if lists := [node for node in nodes(tree) if node.get("type") == "SHOW_REF" and node["table_name"] == '"tables"']:
        rows = ", ".join(f"({quote_text(name)}, {quote_text(meaning(name))})" for name in sorted(known))
        list_of_tables = parsed(f"FROM (VALUES {rows}) AS shown (name, meaning)", parser)["statements"][0]["node"]["from_table"]
        for node in lists:
            node.clear()
            node.update(list_of_tables)
        with parser.cursor() as cursor:
            query = cursor.execute("SELECT json_deserialize_sql($tree::JSON)", {"tree": json.dumps(tree)}).fetchall()[0][0]
    describing = [node for node in nodes(tree) if node.get("show_type") == "DESCRIBE"]
    reads_catalog = bool(describing) or any(
        node.get("show_type") in ("SHOW_SPECIAL", "SHOW_FROM")
        or node.get("schema_name") in _CATALOG_SCHEMAS
        or str(node.get("function_name", "")).startswith("duckdb_")
        for node in nodes(tree)
    )
    named = _of_profile(tree)
    for node in describing:
        node["query"] = None
    tables = _of_profile(tree)
    return Query(_without_end(query), tables, named - tables, reads_catalog)


def _without_end(query: str) -> str:
    """Return a statement without the semicolons and comments at its end, so that it can stand in another one."""
    text = query.encode()
    end = len(text)
    for position, kind in reversed(duckdb.tokenize(query)):  # Positions are those of bytes.
        if kind != duckdb.token_type.comment and text[position : position + 1] != b";":
            break
        end = position
    return text[:end].decode()


def _of_profile(tree: Any) -> frozenset[str]:
    """Return the tables that a query names, without those of DuckDB's own catalog."""
    return frozenset(name for name in _base_tables(tree) if name.partition(".")[0] not in _CATALOG_SCHEMAS)


def _pivot(query: str, parser: duckdb.DuckDBPyConnection, allow_files: bool) -> str | None:
    """Return a PIVOT that finds its values itself, without the semicolon at its end; None for other queries.

    DuckDB makes several statements of it, for which it has no parse tree. Between parentheses it refuses what writes there
    too, but table functions remain: no word may be the name of one that does more than read. So do names of files: without
    leave nothing in quotes may look like one.
    """
    try:
        with parser.cursor() as cursor:
            statements = cursor.extract_statements(query)
            if [statement.type.name for statement in statements] != ["MULTI"]:
                return None
            pivot = _without_end(query)
            kinds = [statement.type.name for statement in cursor.extract_statements(f"FROM (\n{pivot}\n)")]
    except duckdb.Error:
        return None
    if kinds != ["MULTI"]:
        return None
    words = set(re.findall(r"\w+", pivot.lower()))
    if refused := sorted(words & (_WRITING | _acting_functions(parser, allow_files))):
        raise QueryError(f"a PIVOT without values may not have the word {refused[0]}: {_NAME_VALUES}")
    if not allow_files and (named := re.search(r"'[^']*[./\\][^']*'|\"[^\"]*[./\\][^\"]*\"|\$\w*\$", pivot)):
        raise QueryError(f"a PIVOT without values may not have {named[0]}, which may be the name of a file: {_NAME_VALUES}")
    return pivot


def _acting_functions(parser: duckdb.DuckDBPyConnection, allow_files: bool) -> set[str]:
    """Return the names of the table functions that may do more than read, or read files without leave."""
    of_kind = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN ('table', 'pragma')"
    with parser.cursor() as cursor:
        return {name for (name,) in cursor.execute(of_kind).fetchall()} - _allowed(allow_files)


def referenced_tables(query: str, parser: duckdb.DuckDBPyConnection | None = None) -> frozenset[str]:
    """Return the schema.table names that a query reads. Raises QueryError when it is not a single SELECT.

    Any open database can be the parser; without one another is opened, which takes as long as to parse a hundred queries.
    """
    _refuse_writing(tree := parsed(query, parser), allow_files=True)
    return _base_tables(tree)


def reads_files(query: str) -> bool:
    """Return whether a query reads files, not only tables."""
    return any(map(_reads_file, nodes(parsed(query))))


def _reads_file(node: Mapping[str, Any]) -> bool:
    if node.get("type") == "TABLE_FUNCTION":
        return node["function"]["function_name"] in _READING_FILES
    return node.get("type") == "BASE_TABLE" and not node["schema_name"] and bool(_SIGN_OF_FILE.search(node["table_name"]))


def _allowed(allow_files: bool) -> set[str]:
    return _READING | _READING_FILES if allow_files else _READING


def needs_and_order(body: str) -> tuple[frozenset[str], bool]:
    """Return the tables that a body reads, and whether it orders its rows; a contract without a body reads nothing."""
    if not body:
        return frozenset(), False
    if body not in known_needs:
        if known := recall(NEEDS, body):
            known_needs[body] = frozenset(known[0]), known[1]
        else:
            tree = parsed(body)
            known_needs[body] = _base_tables(tree), _is_ordered(tree["statements"][0]["node"])
    return known_needs[body]


def _is_ordered(node: Any) -> bool:
    """Return whether a query orders its rows, or gives those of a CTE that does, as where they are numbered."""
    if node["modifiers"]:
        return any(modifier["type"] == "ORDER_MODIFIER" for modifier in node["modifiers"])
    ctes = {cte["key"]: cte["value"]["query_node"] for cte in node["cte_map"]["map"]}
    read = node.get("from_table", {}).get("table_name")
    return not node.get("group_expressions") and read in ctes and _is_ordered(ctes[read])


def _base_tables(tree: Any) -> frozenset[str]:
    return frozenset(
        f"{node['schema_name']}.{node['table_name']}".lower()
        for node in nodes(tree)
        if node.get("type") == "BASE_TABLE" and node["schema_name"] not in ("", "recurring")
    )


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def parsed(query: str, parser: duckdb.DuckDBPyConnection | None = None) -> dict[str, Any]:
    """Return the parse tree of one SELECT; referenced_tables() says what the parser is."""
    with (parser or _parser()).cursor() as cursor:
        row = cursor.execute("SELECT json_serialize_sql($query)", {"query": query}).fetchone()
    tree: dict[str, Any] = json.loads(row[0]) if row else {}
    if tree.get("error"):
        message = tree["error_message"]
        if message.startswith("Only SELECT"):
            raise QueryError(f"{_NO_SELECT}; {_NAME_VALUES}" if "pivot" in query.lower() else _NO_SELECT)
        line = query.count("\n", 0, int(tree.get("position", 0))) + 1
        raise QueryError(f"the query cannot be read: {message}{f' in line {line}' if line > 1 else ''}")
    if not tree["statements"]:
        raise QueryError("there is no query: give one SELECT")
    if (count := len(tree["statements"])) > 1:
        raise QueryError(f"this is not one SELECT but {count} statements; run one at a time")
    return tree


def _refuse_writing(tree: Any, allow_files: bool) -> None:
    for node in nodes(tree):
        kind, is_table_function = str(node.get("type", "")), node.get("type") == "TABLE_FUNCTION"
        function = node["function"]["function_name"] if is_table_function else "range"
        if not allow_files and _reads_file(node):
            file = node["table_name"] if kind == "BASE_TABLE" else function
            raise QueryError(f"{file} reads files of this machine; {ALLOW}")
        if kind.endswith("_QUERY_NODE") or function not in _allowed(allow_files):
            named = function if is_table_function else kind.partition("_")[0]
            raise QueryError(f"{_NO_SELECT}, and {named} in it may do more than read")


def nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects in a JSON tree."""
    to_visit = [tree]
    while to_visit:
        one = to_visit.pop()
        if isinstance(one, dict):
            yield one
            to_visit += one.values()
        elif isinstance(one, list):
            to_visit += one
