"""Macros over rows: intervals and their unions against sets of ns, and no macro that reads a table of its own."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from itertools import pairwise
from typing import Any

import duckdb
import pytest

from prof_analysis.engine.parsing import needs_and_order
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.tables import documented_tables
from tests.helpers.empty_database import empty_database

MACROS = "\n".join(file.read_text(encoding="utf-8") for file in sorted((sql_folder() / "macros").glob("*.sql")))
OF_ROWS = dict(re.findall(r"^CREATE MACRO IF NOT EXISTS (\w+)\([^;]*?\) AS TABLE\n(.*?;)$", MACROS, re.M | re.S))


def test_a_macro_reads_only_the_ctes_whose_names_it_is_given() -> None:
    """Else a table that a body needs would not stand in the body, and would not be built."""
    assert {"innermost", "parents", "reached_before", "added", "covered", "stretches", "compared_times"} <= OF_ROWS.keys()
    for name, body in OF_ROWS.items():
        own = set(re.findall(r"(\w+) (?:\([\w, ]+\) USING KEY \(\w+\) )?AS \($", body, re.M)) | {"earlier", "on_thread"}
        read = set(re.findall(r"\b(?:FROM|JOIN) (?:recurring\.)?([\w.]+)", body))
        assert read <= own | OF_ROWS.keys() | {"query_table"}, name


def test_no_body_gives_a_macro_a_name_that_is_one_of_its_own() -> None:
    """Inside the macro that name would be the macro's own rows."""
    own = {cte for body in OF_ROWS.values() for cte in re.findall(r"(\w+)[^\n]* AS \($", body, re.M)}
    given = {
        argument
        for table in documented_tables().values()
        for call in re.findall(rf"\b(?:FROM|JOIN) (?:{'|'.join(OF_ROWS)})\(([^()]*)", table.body or "")
        for argument in re.findall(r"\w+", call)
    }
    assert given
    assert not given & own


def test_what_a_body_needs_is_found_through_a_macro() -> None:
    body = "WITH op AS (FROM trace.op), span AS (SELECT * FROM module.interval) FROM innermost(op, span)"
    assert needs_and_order(body)[0] == {"trace.op", "module.interval"}


def spans_of(drawn: random.Random) -> list[tuple[int, int, int]]:
    """Spans of two parts that overlap, repeat, touch and have no length at will: part, start, end."""
    starts = [(drawn.randrange(2), drawn.randrange(60)) for _ in range(drawn.randrange(1, 25))]
    return [(part, start, start + drawn.choice((0, 0, 1, 3, 9))) for part, start in starts]


def made_of(spans: list[tuple[int, int, int]], connection: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    rows = ", ".join(map(str, spans))
    return connection.execute(
        f"WITH span AS (SELECT col0 AS what, col1::BIGINT AS start_ns, col2::BIGINT AS end_ns FROM (VALUES {rows})) {query}"
    ).fetchall()


@pytest.mark.parametrize("seed", range(30))
def test_unions_of_spans_are_those_of_their_nanoseconds(seed: int) -> None:
    spans = spans_of(random.Random(seed))
    covered = defaultdict[int, set[int]](set)
    for part, start, end in spans:
        covered[part].update(range(start, end))
    with empty_database() as connection:
        added = made_of(spans, connection, "SELECT what, sum(added_ns)::BIGINT FROM added(span, what) GROUP BY what")
        of_all = made_of(spans, connection, "SELECT sum(added_ns)::BIGINT FROM added(span)")
        stretches = made_of(spans, connection, "SELECT part, start_ns, end_ns, span_count FROM stretches(span, what)")
        at = made_of(
            spans,
            connection,
            "SELECT moment.at, covered_until(covered_ns, reached_ns, moment.at)::BIGINT FROM (SELECT unnest(range(75)) AS at) "
            "AS moment ASOF LEFT JOIN covered(span) AS covered ON covered.start_ns <= moment.at",
        )
    assert dict(added) == {part: len(covered[part]) for part in {span[0] for span in spans}}
    everything = set().union(*covered.values())
    assert of_all == [(len(everything),)]
    assert dict(at) == {moment: len({ns for ns in everything if ns < moment}) for moment in range(75)}
    assert sum(count for *_, count in stretches) == len(spans)
    for part in {span[0] for span in spans}:
        own = sorted((start, end) for one, start, end, _ in stretches if one == part)
        assert sum(end - start for start, end in own) == len(covered[part])
        assert all(before_end < start for (_, before_end), (start, _) in pairwise(own))


@pytest.mark.parametrize("seed", range(10))
def test_what_spans_before_reach_is_known_of_each_span(seed: int) -> None:
    """A span comes after all that contain it, also after those that start when it starts."""
    spans = sorted(set(spans_of(random.Random(seed))), key=lambda span: (span[0], span[1], -span[2]))
    expected = [
        (part, start, end, max((other[2] for other in spans[:number] if other[0] == part), default=None))
        for number, (part, start, end) in enumerate(spans)
    ]
    with empty_database() as connection:
        query = "SELECT what, start_ns, end_ns, reached_ns FROM reached_before(span, what) ORDER BY what, start_ns, end_ns DESC"
        assert made_of(spans, connection, query) == expected
