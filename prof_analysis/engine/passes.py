"""Does passes over many rows in arrays: what the SQL of a table gets from a macro such as parents() is found in Python."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import duckdb

from prof_analysis.engine.parsing import nodes, parsed
from prof_analysis.engine.statements import run
from prof_analysis.functions import PASSES

if TYPE_CHECKING:
    from prof_analysis.functions.arrays import Batch

# A node of a parse tree.
Node = dict[str, Any]
_CALL = re.compile(rf"\b({'|'.join(PASSES)})\s*\(")


@contextmanager
def passes_in_arrays(connection: duckdb.DuckDBPyConnection, body: str) -> Iterator[str]:
    """Give a body that reads a table of found rows where this one calls a pass for CTEs of its own.

    A pass reads the CTEs before the body runs, one after the other, batch by batch, so that nothing else is in memory beside
    its arrays: gathered with list(), they took four times as much.
    """
    if not _CALL.search(body):
        yield body
        return
    tree = parsed(body, connection)
    ctes = tree["statements"][0]["node"]["cte_map"]
    names = {cte["key"] for cte in ctes["map"]}
    found: list[str] = []
    try:
        for call in [node for node in nodes(tree) if _is_pass(node, names)]:
            function, defaults = PASSES[call["function"]["function_name"]]
            relations = (_batches(connection, ctes, name) for name in _ctes_of(call))
            given = _options_of(call)
            options = {name: given.get(name) or _value(connection, default) for name, default in defaults.items()}
            rows = resolve_name(function)(*relations, **{name: int(value) for name, value in options.items()})
            found.append(f"found_{len(found)}")
            connection.register(found[-1], rows)
            _replace(connection, call, found[-1])
        yield _text(connection, tree)
    finally:
        for name in found:
            connection.unregister(name)


def _is_pass(node: Node, ctes: set[str]) -> bool:
    """Return whether a node calls a pass for CTEs of the query, with whole numbers as options. Other calls stay SQL."""
    return (
        node.get("type") == "TABLE_FUNCTION"
        and node["function"]["function_name"] in PASSES
        and bool(ctes_of_call := _ctes_of(node))
        and ctes.issuperset(ctes_of_call)
        and None not in _options_of(node).values()
    )


def _ctes_of(call: Node) -> list[str]:
    expressions = [one["expression"] for one in call["function"]["arguments"] if not one["name"]]
    return [".".join(one.get("column_names", [])) for one in expressions]


def _options_of(call: Node) -> dict[str, str | None]:
    """Return the options of a call, None for a value that is no whole number."""
    literals = {one["name"]: one["expression"].get("literal", {}) for one in call["function"]["arguments"] if one["name"]}
    return {name: literal["text"] if literal.get("kind") == "INTEGER" else None for name, literal in literals.items()}


def _replace(connection: duckdb.DuckDBPyConnection, call: Node, table: str) -> None:
    alias = call["alias"]
    call.clear()
    call.update(parsed(f"FROM {table}", connection)["statements"][0]["node"]["from_table"], alias=alias)


def _value(connection: duckdb.DuckDBPyConnection, expression: str) -> str:
    ((value,),) = run(connection, f"SELECT {expression}").fetchall()
    return str(value)


def _batches(connection: duckdb.DuckDBPyConnection, ctes: Node, name: str) -> "Iterator[Batch]":
    """Yield the columns of a CTE in parts; it is read when the first one is taken."""
    from prof_analysis.functions.arrays import batches_of

    tree = parsed(f"FROM {name}", connection)
    tree["statements"][0]["node"]["cte_map"] = ctes
    yield from batches_of(connection.sql(_text(connection, tree)).to_arrow_reader())


def _text(connection: duckdb.DuckDBPyConnection, tree: Node) -> str:
    ((text,),) = connection.execute("SELECT json_deserialize_sql($tree::JSON)", {"tree": json.dumps(tree)}).fetchall()
    return str(text)
