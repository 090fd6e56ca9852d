"""No table compares every row of one table with every row of another: at a million kernels that never ends."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import duckdb
import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis.engine.building import build
from prof_analysis.engine.database import connect
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.planning import Plan, make_plan
from prof_analysis.engine.tables import documented_tables, source_tables
from tests.helpers.empty_database import empty_database

TABLES = [name for name, table in documented_tables().items() if table.grain == "rank"]
PAIRWISE = {"NESTED_LOOP_JOIN", "BLOCKWISE_NL_JOIN", "CROSS_PRODUCT"}
# A comment beside a join, which says why all its pairs are few.
ALL_PAIRS = "-- All pairs: "
# These have one row, or as many as the SQL lists.
ONE = {"UNGROUPED_AGGREGATE", "DUMMY_SCAN", "COLUMN_DATA_SCAN"}
# These have no more rows than the first thing that they read.
NO_MORE = {
    "PROJECTION", "FILTER", "ORDER_BY", "WINDOW", "STREAMING_WINDOW", "HASH_GROUP_BY", "PERFECT_HASH_GROUP_BY",
    "STREAMING_LIMIT", "LIMIT", "TOP_N",
}  # fmt: skip
NO_MORE_JOINS = {"SEMI", "ANTI", "MARK", "SINGLE"}
Node = dict[str, Any]


def plans(exports: Literal["db", "text"], folder: Path) -> dict[str, list[Node]]:
    """Return the plan of each table, as a source makes it of a generated rank whose links are all audited."""
    source = f"ascend_{exports}"
    shape = Shape(steps=3, queue_threads=2, recompute=True, gradient_hooks=True)
    generate(folder, shape, ranks=1, seed=1, style=TextStyle(exports=exports))
    module = importlib.import_module(f"prof_analysis.sources.{source}")
    names = ("ascend_pytorch_profiler*.db", "trace_view.json", "kernel_details.csv", "communication.json")
    files = tuple(file for name in names for file in folder.rglob(name))
    plan = make_plan(source, module.RAW_COLUMNS, TABLES)
    with empty_database({"audit_links": True}, threads=1) as connection:
        module.stage(connection, files, {**plan.raw_columns, **plan.deferred_raw_columns}, threads=1, on_bytes=[].append)
        build(connection, source, Plan(plan.order, plan.columns, frozenset()), no_more)
        assert connection.execute("SELECT count(*) > 300 FROM module.derived_link").fetchall() == [(True,)]
        return {name: explained(connection, source_tables(source)[name].body) for name in TABLES}


def no_more(columns: object) -> None:
    """All was staged before."""


def explained(connection: duckdb.DuckDBPyConnection, body: str) -> list[Node]:
    with functions_for(connection, body):
        row = connection.execute(f"EXPLAIN (FORMAT json) {body}").fetchone()
    assert row is not None
    plan: list[Node] = json.loads(row[1])
    return plan


def in_plan(plan: Iterable[Node]) -> Iterator[Node]:
    for node in plan:
        yield node
        yield from in_plan(node["children"])


def pairwise_joins(plans: Mapping[str, list[Node]]) -> dict[str, list[Node]]:
    """Return, by table, the joins that compare all rows where neither side is one row."""
    one_row: dict[str, bool] = {}

    def is_of_one_row(table: str) -> bool:
        """Whether a table has one row at most, by its own plan."""
        if table not in one_row:
            one_row[table] = False
            one_row[table] = table in plans and all(is_one_row(node, ctes_of(plans[table])) for node in plans[table])
        return one_row[table]

    def ctes_of(plan: list[Node]) -> dict[str, Node]:
        return {node["extra_info"]["Table Index"]: node["children"][0] for node in in_plan(plan) if node["name"] == "CTE"}

    def is_one_row(node: Node, ctes: Mapping[str, Node]) -> bool:
        name, info, children = node["name"].strip(), node["extra_info"], node["children"]
        if name in ONE or "1" in (info.get("Limit"), info.get("Top")):
            return True
        if name in NO_MORE or info.get("Join Type") in NO_MORE_JOINS:
            return is_one_row(children[0], ctes)
        if name == "CTE":
            return is_one_row(children[1], ctes)
        if name == "CTE_SCAN":
            return info["CTE Index"] in ctes and is_one_row(ctes[info["CTE Index"]], ctes)
        if name == "SEQ_SCAN":
            return is_of_one_row(info["Table"].rpartition('"stored".')[2].strip('"'))
        return name in PAIRWISE and all(is_one_row(child, ctes) for child in children)

    found: dict[str, list[Node]] = {}
    for table, plan in plans.items():
        ctes = ctes_of(plan)
        for node in in_plan(plan):
            if is_pairwise(node) and not any(is_one_row(child, ctes) for child in node["children"]):
                found.setdefault(table, []).append(node)
    return found


def is_pairwise(node: dict[str, object]) -> bool:
    """Whether a node of a plan is a join that compares all rows; or in a hash join all of a thread, or half of all."""
    name, info = str(node.get("name", "")), node.get("extra_info")
    if name != "HASH_JOIN" or not isinstance(info, dict):
        return name in PAIRWISE
    conditions = [info["Conditions"]] if isinstance(info["Conditions"], str) else info["Conditions"]
    if all(re.fullmatch(r"\w*tid = \w*tid", one) for one in conditions):
        return False
    return not any(map(is_key, conditions))


def is_key(condition: str) -> bool:
    """Whether a hash join finds rows by a condition.

    An equality in parentheses is compared for each pair, a boolean has two values, and of a thread there can be all rows.
    """
    condition = re.sub(r"COALESCE\(\w*tid(, \w*tid)*\)", "tid", condition)
    while condition != (shorter := re.sub(r"\([^()]*\)", "", condition)):
        condition = shorter
    sides = re.split(r" = | IS NOT DISTINCT FROM ", condition)
    return len(sides) == 2 and not all(re.fullmatch(r"\w*tid|(is|has)_\w+", side) for side in sides)


@pytest.mark.slow
def test_no_plan_compares_all_rows_of_two_large_tables(tmp_path: Path) -> None:
    """One side has one row, as the plan itself says, or a comment beside the join says why there are few pairs.

    Of what an empty table would be joined with, plans of these profiles show nothing.
    """
    found, said, unseen = set[str](), set[str](), set[str]()
    sources: tuple[Literal["db", "text"], ...] = ("db", "text")
    for exports in sources:
        of_source = plans(exports, tmp_path / exports)
        found |= pairwise_joins(of_source).keys()
        said |= {name for name, table in source_tables(f"ascend_{exports}").items() if ALL_PAIRS in table.body}
        unseen |= {name for name, plan in of_source.items() if any(node["name"] == "EMPTY_RESULT" for node in in_plan(plan))}
    assert found - said == set(), f"give the joins a key, or say beside them why not: `{ALL_PAIRS}REASON`"
    assert said - found - unseen == set(), "these compare no pairs"


def test_a_join_with_one_row_compares_no_pairs() -> None:
    asked = {
        "FROM a JOIN b ON a.x + b.y < 9": 1,
        "FROM a JOIN b ON a.x = b.y": 0,
        "FROM a CROSS JOIN (SELECT count(*) FROM b)": 0,
        "FROM a CROSS JOIN (SELECT count(*) FROM b GROUP BY y)": 1,
        "WITH one AS MATERIALIZED (SELECT max(y) AS y FROM b) SELECT x FROM a, one WHERE x > (SELECT y FROM one)": 0,
        "WITH many AS MATERIALIZED (FROM b WHERE y > 1) SELECT x FROM a, many WHERE x > (SELECT max(y) FROM many)": 1,
        "FROM a CROSS JOIN (FROM b ORDER BY y LIMIT 1)": 0,
        "FROM a CROSS JOIN (FROM b ORDER BY y LIMIT 2)": 1,
        "FROM a CROSS JOIN (VALUES (1), (2)) AS listed": 0,
        "FROM a WHERE NOT EXISTS (FROM b)": 0,
        'FROM a CROSS JOIN stored."b.last"': 0,
        'FROM a CROSS JOIN stored."b.part"': 1,
    }
    of_b = {"b.last": "SELECT max(y) FROM b", "b.part": "FROM b WHERE y < 9"}
    with connect(threads=1, macros=False) as connection:
        connection.execute(
            "CREATE TABLE a AS SELECT range AS x FROM range(9); CREATE TABLE b AS SELECT range AS y FROM range(9)"
        )
        connection.execute("CREATE SCHEMA IF NOT EXISTS stored")
        for name, body in of_b.items():
            connection.execute(f'CREATE TABLE stored."{name}" AS {body}')
        found = pairwise_joins(
            {body: explained(connection, body) for body in asked} | {n: explained(connection, of_b[n]) for n in of_b}
        )
    assert {body: len(found.get(body, ())) for body in asked} == asked


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ("kernel_id = kernel_id", False),
        ("COALESCE(tid, tid) = tid", True),
        ("core_id IS NOT DISTINCT FROM core_id", False),
        (["path = path", "is_backward = is_backward"], False),
        (["(op_id // 256) = block_id", "tid = tid", "end_ns >= end_ns"], False),
        ("CAST(location AS VARCHAR) = location", False),
        ("data_type = CASE  WHEN ((type IN ('bf16', 'fp32'))) THEN ('fp16') ELSE type END", False),
        ("tid = tid", False),
        (["is_backward = is_backward", "(path = array_slice(path, [], len(path)))"], True),
        ("has_mask = has_mask", True),
        (["tid = tid", "start_ns <= start_ns"], True),
        (["tid = tid", "(name = left(other, 3))"], True),
        ("CASE  WHEN ((prefix = 'aic_')) THEN (aic_runs) ELSE true END", True),
    ],
)
def test_a_hash_join_without_a_key_is_pairwise(conditions: str | list[str], expected: bool) -> None:
    assert is_pairwise({"name": "HASH_JOIN", "extra_info": {"Conditions": conditions}}) == expected
