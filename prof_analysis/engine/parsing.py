"""Reads DuckDB's parse tree of a query: the tables that it needs, whether it orders its rows, whether it reads files."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import duckdb

from prof_analysis.engine.remembered import recall
from prof_analysis.errors import QueryError

NEEDS = "needs"
# Body -> the tables that it reads, and whether it orders its rows.
known_needs: dict[str, tuple[frozenset[str], bool]] = {}


def referenced_tables(query: str, parser: duckdb.DuckDBPyConnection | None = None) -> frozenset[str]:
    """Return the schema.table names that a query reads. Raises QueryError when it is not a single SELECT.

    Any open database can be the parser; without one another is opened, which takes as long as to parse a hundred queries.
    """
    return _base_tables(_parse(query, parser))


def reads_files(query: str) -> bool:
    """Return whether a query reads files, not only tables."""
    return any(
        (node.get("type") == "BASE_TABLE" and not node["schema_name"] and re.search(r"[./\\]", node["table_name"]))
        or (node.get("type") == "TABLE_FUNCTION" and re.match(r"read_|glob$|.*_scan$", node["function"]["function_name"]))
        for node in nodes(_parse(query))
    )


def needs_and_order(body: str) -> tuple[frozenset[str], bool]:
    """Return the tables that a body reads, and whether it orders its rows; a contract without a body reads nothing."""
    if not body:
        return frozenset(), False
    if body not in known_needs:
        if known := recall(NEEDS, body):
            known_needs[body] = frozenset(known[0]), known[1]
        else:
            tree = _parse(body)
            modifiers = tree["statements"][0]["node"]["modifiers"]
            is_ordered = any(modifier["type"] == "ORDER_MODIFIER" for modifier in modifiers)
            known_needs[body] = _base_tables(tree), is_ordered
    return known_needs[body]


def _base_tables(tree: dict[str, Any]) -> frozenset[str]:
    return frozenset(
        f"{node['schema_name']}.{node['table_name']}".lower()
        for node in nodes(tree)
        if node.get("type") == "BASE_TABLE" and node["schema_name"] not in ("", "recurring")
    )


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def _parse(query: str, parser: duckdb.DuckDBPyConnection | None = None) -> dict[str, Any]:
    with (parser or _parser()).cursor() as cursor:
        row = cursor.execute("SELECT json_serialize_sql($query)", {"query": query}).fetchone()
    tree: dict[str, Any] = json.loads(row[0]) if row else {}
    if tree.get("error"):
        message = tree["error_message"]
        if message.startswith("Only SELECT"):
            raise QueryError("only a SELECT can be run (write a PIVOT as FROM (PIVOT ...))")
        raise QueryError(f"the query cannot be read: {message}")
    if len(tree["statements"]) != 1:
        raise QueryError("this is not one SELECT; run one at a time")
    return tree


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
