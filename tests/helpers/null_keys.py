"""Joins by keys that may be NULL on both sides, in the SQL of tables: such rows find no partner, though both lack the same."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from prof_analysis.engine.parsing import parsed
from prof_analysis.engine.table_file import Table

# Column -> whether it may be NULL; None where that is not known.
Columns = dict[str, bool | None]
Node = dict[str, Any]


class NullKeys:
    """Reads the bodies of tables; what heads call NULL may be NULL, and so may all columns behind an outer join."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        """Take the heads of these tables."""
        self.heads: dict[str, Columns] = {
            name: {column.name: bool(re.search(r"\bNULL\b", column.meaning)) for column in table.columns}
            for name, table in tables.items()
        }
        self.found: set[str] = set()

    def joins(self, body: str) -> set[str]:
        """Return the joins of a body whose keys may both be NULL, as `a.x = b.y` or `USING x`."""
        self.found = set()
        for statement in parsed(body)["statements"]:
            self._query(statement["node"], {})
        return self.found

    def _query(self, node: Node, ctes: Mapping[str, Columns]) -> Columns:
        known = dict(ctes)
        for cte in (node.get("cte_map") or {}).get("map", []):
            known[cte["key"]] = self._query(cte["value"]["query_node"], known)
        kind = node["type"]
        if kind == "SELECT_NODE":
            return self._select(node, known)
        if kind == "RECURSIVE_CTE_NODE":
            known[node["cte_name"]] = first = self._query(node["left"], known)
            return _united(first, self._query(node["right"], known))
        if kind == "SET_OPERATION_NODE":
            first, *others = (self._query(one, known) for one in node.get("children") or (node["left"], node["right"]))
            for other in others:
                first = _united(first, other)
            return first
        return {}

    def _select(self, node: Node, ctes: Mapping[str, Columns]) -> Columns:
        scopes = self._sources(node["from_table"], ctes)
        for named in _compared(node.get("where_clause")):
            for scope, columns in scopes.items():
                if named[-1] in columns and (len(named) == 1 or named[-2] == scope):
                    columns[named[-1]] = False
        given: Columns = {}
        for one in node["select_list"]:
            if one["class"] == "STAR":
                of_one = [one["relation_name"]] if one.get("relation_name") else list(scopes)
                left_out = {str(name) for name in one.get("exclude_list") or ()}
                for scope in of_one:
                    given |= {name: may for name, may in scopes.get(scope, {}).items() if name not in left_out}
            elif name := one.get("alias") or _column(one):
                given[name] = self._may_be_null(one, scopes)
        return given

    def _sources(self, node: Node, ctes: Mapping[str, Columns]) -> dict[str, Columns]:
        if node["type"] == "BASE_TABLE":
            schema, name = node["schema_name"], node["table_name"]
            columns = self.heads.get(f"{schema}.{name}", {}) if schema else ctes.get(name, {})
            return {node["alias"] or name: dict(columns)}
        if node["type"] == "SUBQUERY":
            inner = node["subquery"].get("node") or node["subquery"].get("query_node") or node["subquery"]
            return {node["alias"]: self._query(inner, ctes)}
        if node["type"] != "JOIN":
            return {node.get("alias") or "": {}}
        left, right = self._sources(node["left"], ctes), self._sources(node["right"], ctes)
        self._note(node, left, right)
        if node["join_type"] in ("LEFT", "OUTER"):
            right = {scope: dict.fromkeys(columns, True) for scope, columns in right.items()}
        if node["join_type"] in ("RIGHT", "OUTER"):
            left = {scope: dict.fromkeys(columns, True) for scope, columns in left.items()}
        return left | right

    def _note(self, node: Node, left: Mapping[str, Columns], right: Mapping[str, Columns]) -> None:
        for name in node.get("using_columns") or ():
            if all(next((columns[name] for columns in side.values() if name in columns), None) for side in (left, right)):
                self.found.add(f"USING {name}")
        both = {**left, **right}
        for one in _parts(node.get("condition")):
            sides = [one.get("left", {}), one.get("right", {})]
            if one.get("type") == "COMPARE_EQUAL" and all(_column(side) and self._may_be_null(side, both) for side in sides):
                self.found.add(" = ".join(".".join(side["column_names"]) for side in sides))

    def _may_be_null(self, one: Node, scopes: Mapping[str, Columns]) -> bool | None:
        if one["class"] == "CAST":
            return self._may_be_null(one["child"], scopes)
        if (name := _column(one)) is None:
            return None
        if len(one["column_names"]) > 1:
            return scopes.get(one["column_names"][-2], {}).get(name)
        of_name = [columns[name] for columns in scopes.values() if name in columns]
        return of_name[0] if len(of_name) == 1 else None


def _united(first: Columns, other: Columns) -> Columns:
    return {name: may or next_may for (name, may), next_may in zip(first.items(), other.values(), strict=False)} or first


def _column(one: Node) -> str | None:
    return str(one["column_names"][-1]) if one.get("class") == "COLUMN_REF" else None


def _parts(condition: Node | None) -> Iterator[Node]:
    """Yield the conditions that all must hold."""
    if condition and condition.get("type") == "CONJUNCTION_AND":
        for child in condition["children"]:
            yield from _parts(child)
    elif condition:
        yield condition


def _compared(condition: Node | None) -> Iterator[list[str]]:
    """Yield the columns that are not NULL where a condition holds, each as it is named."""
    for one in _parts(condition):
        kind = one.get("type", "")
        if kind == "OPERATOR_IS_NOT_NULL":
            named = one["children"]
        elif kind.startswith("COMPARE_") and "DISTINCT" not in kind:
            named = [one.get("left", {}), one.get("right", {})]
        else:
            named = []
        yield from (side["column_names"] for side in named if _column(side))
