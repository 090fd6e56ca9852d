"""The SQL of the project is written one way, and no ASOF join leaves open which of several rows it finds."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import duckdb
import pytest

from prof_analysis.engine.parsing import nodes
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.tables import documented_tables

FILES = {file.relative_to(sql_folder()).with_suffix("").as_posix(): file for file in sorted(sql_folder().rglob("*.sql"))}
TEXTS = {name: file.read_text(encoding="utf-8") for name, file in FILES.items()}
# Bodies that read tables: not macros, and not contracts without a body.
BODIES = {
    name: body
    for name, text in TEXTS.items()
    if "macros/" not in name and (body := re.sub(r"(?m)^\s*--.*\n?", "", text).strip())
}


CONNECTION = duckdb.connect(config={"threads": 1})


@cache
def parsed(query: str) -> dict[str, Any]:
    row = CONNECTION.execute("SELECT json_serialize_sql($query)", {"query": query}).fetchone()
    assert row is not None
    tree: dict[str, Any] = json.loads(row[0])["statements"][0]["node"]
    return tree


def open_asof_joins(body: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The right side of each ASOF join that is not known to be unique by the columns that the join compares, and these."""
    tree = parsed(body)
    ctes = {entry["key"]: entry["value"]["query_node"] for one in nodes(tree) for entry in one.get("map", ()) if "key" in entry}
    for join in nodes(tree):
        if join.get("type") == "JOIN" and join["ref_type"] == "ASOF":
            right = join["right"]
            alias = right["alias"] or right["table_name"]
            compared = [one["column_names"] for one in nodes(join["condition"]) if one.get("type") == "COLUMN_REF"]
            columns = {column[-1] for column in compared if column[0] == alias}
            if not any(key <= columns for key in keys_of_source(right, ctes)):
                yield right["table_name"], tuple(sorted(columns))


def keys_of_source(source: dict[str, Any], ctes: dict[str, Any]) -> Iterator[frozenset[str]]:
    """The sets of columns by which rows of what follows FROM are unique: a subquery, a CTE, a table, or a part of such rows."""
    if source["type"] == "SUBQUERY":
        yield from keys_of(source["subquery"]["node"], ctes)
    elif source["type"] == "JOIN" and source["join_type"] in ("SEMI", "ANTI"):
        yield from keys_of_source(source["left"], ctes)
    elif source["type"] == "BASE_TABLE" and not source["schema_name"]:
        yield from keys_of(ctes[source["table_name"]], ctes)
    elif source["type"] == "BASE_TABLE":
        table = documented_tables().get(f"{source['schema_name']}.{source['table_name']}")
        if table and table.body:
            tree = parsed(table.body)
            yield from keys_of(tree, {entry["key"]: entry["value"]["query_node"] for entry in tree["cte_map"]["map"]})


def keys_of(node: dict[str, Any], ctes: dict[str, Any]) -> Iterator[frozenset[str]]:
    """The sets of columns by which a SELECT is grouped or distinct, or by which what it reads is and that it only passes on."""
    if node["type"] != "SELECT_NODE":
        return
    named = [item for item in node["select_list"] if item["type"] == "COLUMN_REF"]
    shown = {item["column_names"][-1]: item["alias"] or item["column_names"][-1] for item in named}
    shown |= {item["alias"]: item["alias"] for item in node["select_list"] if item["alias"]}
    has_all = any(item["type"] == "STAR" and not item["exclude_list"] for item in node["select_list"])
    if node["group_expressions"]:
        names = [one.get("column_names", ["(an expression)"])[-1] for one in node["group_expressions"]]
        yield frozenset(shown.get(name, "(not shown)") for name in names)
    elif node["aggregate_handling"] == "STANDARD_HANDLING":
        for key in keys_of_source(node["from_table"], ctes):
            if has_all or key <= shown.keys():
                yield frozenset(shown.get(name, name) for name in key)
    if any(modifier["type"] == "DISTINCT_MODIFIER" for modifier in node["modifiers"]) and not has_all:
        yield frozenset(item["alias"] or item.get("column_names", ["(an expression)"])[-1] for item in node["select_list"])


def test_an_asof_join_has_one_row_to_find() -> None:
    """By a GROUP BY or a DISTINCT, or by what the head says of it: `@unique gap by start_ns: gaps do not overlap`."""
    found = {name: set(open_asof_joins(body)) for name, body in BODIES.items() if "ASOF" in body}
    assert {name: joins for name, joins in found.items() if joins} == {
        name.replace(".", "/"): {(one, columns) for one, columns, _ in table.unique}
        for name, table in documented_tables().items()
        if table.unique
    }


@pytest.mark.parametrize(
    ("body", "is_open"),
    [
        ("FROM a.l ASOF JOIN r ON r.tid = l.tid AND r.t <= l.t", True),
        ("FROM a.l ASOF JOIN k ON k.tid = l.tid AND k.t <= l.t", False),
        ("FROM a.l ASOF JOIN k ON k.t <= l.t", True),
        ("FROM a.l ASOF JOIN k AS other ON other.tid = l.tid AND other.t <= l.t", False),
        ("FROM a.l ASOF LEFT JOIN renamed ON renamed.tid = l.tid AND renamed.start <= l.t", False),
        ("FROM a.l ASOF JOIN part ON part.tid = l.tid AND part.t <= l.t", False),
        ("FROM a.l ASOF JOIN once ON once.t <= l.t", False),
        ("FROM a.l ASOF JOIN many ON many.tid = l.tid AND many.t <= l.t", True),
    ],
)
def test_what_a_group_by_makes_unique_is_found(body: str, is_open: bool) -> None:
    ctes = (
        "WITH r AS (SELECT tid, t, n FROM a.r), k AS (SELECT tid, t, max(n) AS n FROM a.r GROUP BY tid, t), "
        "renamed AS (SELECT tid, t AS start FROM k), part AS (FROM k SEMI JOIN r USING (tid)), "
        "once AS (SELECT DISTINCT t FROM a.r), many AS (SELECT k.* FROM k JOIN r USING (tid)) "
    )
    assert bool(list(open_asof_joins(f"{ctes} SELECT * {body}"))) is is_open


# What is written one way, as a regular expression -> how.
SPELLINGS = {
    r"!=": "<> is the one sign",
    r"==": "= is the one sign",
    r"(?<!LEFT )\bJOIN (?:(?!\bJOIN\b)[^;])*? ON true\b": "CROSS JOIN",
    r"\b(INNER|OUTER) JOIN\b": "JOIN, LEFT JOIN",
    r"(?<!TRY_)\bCAST\(": "value::TYPE",
    r"% (2|4|8|16|32|64|128|256|512|1024)\b": "& 31 for % 32",
    r"\b(any_value|first|last|arbitrary)\(": "an aggregate that does not depend on the order of rows",
    r"\b(select|from|where|join|union|group by|order by|case|when|then|else|and|or|on|as|in)(?= \w| \()": "upper case",
    r"\t| $|\r": "no tabs, no blanks at the end",
}


def test_every_file_is_written_as_all_are() -> None:
    found = {}
    for name, text in TEXTS.items():
        code = re.sub(r"'(?:[^']|'')*'|--.*", "''", text)
        found[name] = [
            f"{match[0]!r}: {why}" for sign, why in SPELLINGS.items() for match in re.finditer(sign, code, re.MULTILINE)
        ]
        found[name] += [f"wider than 128: {line}" for line in text.splitlines() if len(line) > 128]
        found[name] += [] if re.search(r"\S\n\Z", text) else ["one newline ends a file"]
    assert {name: findings for name, findings in found.items() if findings} == {}


def test_joins_are_named_and_what_is_cut_off_is_ordered() -> None:
    found = set()
    for name, body in BODIES.items():
        for node in nodes(parsed(body)):
            modifiers = [modifier["type"] for modifier in node.get("modifiers", ())]
            if node.get("type") == "JOIN" and node["is_implicit"]:
                found.add(f"{name}: FROM a, b is CROSS JOIN")
            if "LIMIT_MODIFIER" in modifiers and "ORDER_MODIFIER" not in modifiers:
                found.add(f"{name}: LIMIT without ORDER BY")
    assert found == set()


def test_every_file_begins_with_a_comment_but_those_of_a_source_whose_contract_has_it() -> None:
    assert [name for name, text in TEXTS.items() if not text.startswith("-- ") and not name.startswith("sources/")] == []


def columns_of_head(text: str) -> list[str]:
    """What a head says of each column, a line a column."""
    head = re.match(r"(--.*\n)*", text)
    joined = re.sub(r"\n--   +", " ", head[0] if head else "")
    return [
        re.sub(" +", " ", line)
        for line in joined.splitlines()
        if re.match(r"-- \w+ +(?:[A-Z_]+|ENUM\(.*\)|DECIMAL\(.*\))(\[\])? ", line)
    ]


def test_no_head_repeats_what_it_could_take_over() -> None:
    seen: dict[tuple[str, ...], str] = {}
    for name, text in TEXTS.items():
        columns = columns_of_head(text)
        for start in range(len(columns) - 4):
            run = tuple(columns[start : start + 5])
            assert seen.setdefault(run, name) == name, f"{name}: write `@columns {run[0].split()[1]} to ... as in {seen[run]}`"
