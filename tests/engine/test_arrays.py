"""Passes in arrays give the rows of the same macros in SQL, and states are those of a clock that looks at each ns."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import duckdb
import numpy as np
import pytest

from prof_analysis.engine.database import lent
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.passes import passes_in_arrays
from prof_analysis.engine.statements import sql_folder
from prof_analysis.functions import PASSES
from prof_analysis.functions.arrays import outer_first
from tests.helpers.slow import quick

MACRO = re.compile(r"^CREATE MACRO IF NOT EXISTS (\w+)\(([^)]*)\)", re.MULTILINE)
PARENTS = "FROM parents(nested) ORDER BY ALL"
STATES = "FROM states(waiting, doing) ORDER BY ALL"


def rows_of(query: str, in_arrays: bool, tolerance_ns: int = 0) -> list[tuple[Any, ...]]:
    with lent({"nesting_tolerance_ns": tolerance_ns}, threads=1) as connection:
        create_macros(connection, query)
        with passes_in_arrays(connection, query) if in_arrays else nullcontext(query) as text:
            assert ("found_0" in text) == in_arrays
            return connection.execute(text).fetchall()


def cte(name: str, columns: str, rows: Sequence[tuple[object, ...]]) -> str:
    values = ", ".join(f"({', '.join('NULL' if one is None else str(one) for one in row)})" for row in rows)
    cast = ", ".join(f"{column}::BIGINT AS {column}" for column in columns.split(", "))
    empty = f"(VALUES ({', '.join(['NULL'] * len(columns.split(', ')))})) AS one ({columns}) WHERE false"
    return f"{name} AS (SELECT {cast} FROM " + (f"(VALUES {values}) AS one ({columns}))" if rows else f"{empty})")


def test_each_pass_is_a_macro_of_sql_with_the_same_options() -> None:
    files = sorted((sql_folder() / "macros").glob("*.sql"))
    macros = {name: given for file in files for name, given in MACRO.findall(file.read_text(encoding="utf-8"))}
    for name, (_, options) in PASSES.items():
        assert set(re.findall(r"(\w+) :=", macros[name])) == options.keys()


SPANS = cte("nested", "span_id, tid, start_ns, end_ns", [(1, 1, 0, 10), (2, 1, 2, 12), (3, 1, 3, 4)])


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(f"WITH {SPANS} SELECT parent_id FROM parents(nested) ORDER BY ALL", id="without a name"),
        pytest.param(f"WITH {SPANS}, b AS (FROM parents(nested)) FROM b JOIN parents(nested) AS c USING (span_id) ORDER BY ALL",
                     id="twice, and in another CTE"),
        pytest.param(f"WITH {SPANS} SELECT around.* FROM parents(nested, within_ns := 5) AS around ORDER BY ALL", id="option"),
    ],
)  # fmt: skip
def test_calls_are_found_wherever_they_stand(query: str) -> None:
    assert rows_of(query, True, 3) == rows_of(query, False, 3) != []


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("FROM parents('nested') ORDER BY ALL", id="a table"),
        pytest.param("FROM (WITH inner_one AS (FROM nested) FROM parents(inner_one)) ORDER BY ALL", id="a CTE of a subquery"),
        pytest.param("FROM parents(nested, within_ns := 2 + 3) ORDER BY ALL", id="an option that is no number"),
    ],
)
def test_other_calls_stay_sql(query: str) -> None:
    """They are right in a user's own SQL, too."""
    with lent({"nesting_tolerance_ns": 0}, threads=1) as connection:
        create_macros(connection, query)
        connection.execute(f"CREATE TABLE nested AS WITH {SPANS} FROM nested")
        with passes_in_arrays(connection, f"WITH one AS (SELECT 1) {query}") as text:
            assert "found_0" not in text
            assert len(connection.execute(text).fetchall()) == 3


def test_what_was_found_is_gone_with_the_body() -> None:
    with lent({"nesting_tolerance_ns": 0}, threads=1) as connection:
        create_macros(connection, PARENTS)
        with passes_in_arrays(connection, f"WITH {SPANS} {PARENTS}") as text:
            pass
        with pytest.raises(duckdb.CatalogException, match="found_0"):
            connection.execute(text)


@pytest.mark.parametrize("tolerance_ns", [0, 2])
@pytest.mark.parametrize("seed", quick(range(25), *range(12)))
def test_parents_are_the_same_in_arrays(seed: int, tolerance_ns: int) -> None:
    """Spans that nest, cross, repeat, touch and have no length, on three threads."""
    drawn = random.Random(seed)
    starts = [(drawn.randrange(-1, 2), drawn.randrange(60)) for _ in range(drawn.choice((0, 1, 5, 40)))]
    spans = [(number, tid, start, start + drawn.choice((0, 0, 1, 3, 9, 30))) for number, (tid, start) in enumerate(starts)]
    drawn.shuffle(spans)
    query = f"WITH {cte('nested', 'span_id, tid, start_ns, end_ns', spans)} {PARENTS}"
    assert rows_of(query, True, tolerance_ns) == rows_of(query, False, tolerance_ns)


@pytest.mark.parametrize("seed", range(10))
def test_spans_that_are_in_order_are_not_sorted(seed: int) -> None:
    drawn = random.Random(seed)
    spans = [tuple(drawn.randrange(3) for _ in range(4)) for _ in range(drawn.choice((0, 1, 2, 9)))]
    wanted = sorted(spans, key=lambda span: (span[1], span[2], -span[3], span[0]))
    for given in (spans, wanted):
        columns = [np.array([span[at] for span in given], np.int64) for at in range(4)]
        order = outer_first(*columns)
        assert [tuple(row) for row in zip(*(column[order].tolist() for column in columns), strict=True)] == wanted
        assert isinstance(order, slice) == (given == wanted)


@pytest.mark.parametrize("seed", quick(range(40), *range(12)))
def test_phases_are_covered_as_at_each_ns_in_sql_and_in_arrays(seed: int) -> None:
    """Spans that cross, repeat, touch and have no length, of threads with and without phases."""
    drawn = random.Random(seed)
    spans = list[tuple[int, int, int, int]]()
    for _ in range(drawn.choice((0, 1, 5, 30))):
        start = drawn.randrange(60)
        spans.append((drawn.choice((1, 2, 3, 4, 4, 4)), drawn.randrange(-1, 3), start, start + drawn.choice((0, 1, 3, 9))))
    phases = list[tuple[int, int, int, int]]()
    for tid in range(-1, drawn.randrange(3)):
        bounds = sorted(drawn.choices(range(80), k=2 * drawn.randrange(6)))
        phases += [(10 * tid + place, tid, bounds[place], bounds[place + 1]) for place in range(0, len(bounds), 2)]
    with_spans = f"WITH {cte('doing', 'list, tid, start_ns, end_ns', spans)}, {cte('thread', 'tid', [(-1,), (0,), (1,)])}"
    stretches = f"{with_spans} SELECT list, tid, start_ns, end_ns, before_ns FROM list_stretches(doing, thread) ORDER BY ALL"
    found = rows_of(stretches, False)
    assert rows_of(stretches, True) == found
    with_phases = (
        f"WITH {cte('waiting', 'key, tid, start_ns, end_ns', phases)}, "
        f"{cte('stretch', 'list, tid, start_ns, end_ns, before_ns', found)} FROM covered_phases(waiting, stretch) ORDER BY ALL"
    )
    expected = []
    for key, tid, start, end in phases:
        covered = [
            sum(
                any(span[0] <= number and span[1] == tid and span[2] <= ns < span[3] for span in spans)
                for ns in range(start, end)
            )
            for number in (1, 2, 3, 4)
        ]
        expected.append((key, start, end, *covered))
    assert rows_of(with_phases, True) == rows_of(with_phases, False) == sorted(expected)


@pytest.mark.parametrize("seed", quick(range(60), *range(12)))
def test_wrappers_are_those_of_a_plain_count_in_sql_and_in_arrays(seed: int) -> None:
    """Spans that nest, cross, repeat, touch and have no length, with ids that number rows and others."""
    drawn = random.Random(seed)
    scale = drawn.choice((1, 1000))
    starts = [(drawn.randrange(2), drawn.randrange(40)) for _ in range(drawn.choice((0, 1, 5, 40)))]
    spans = [
        (
            scale * number,
            tid,
            start,
            start + drawn.choice((0, 1, 3, 9, 30)),
            drawn.choice((None, 1, 2)),
            drawn.choice((0, 1, 1)),
        )
        for number, (tid, start) in enumerate(starts)
    ]
    drawn.shuffle(spans)
    columns = "span_id, tid, start_ns, end_ns, kind, may_wrap"
    query = f"WITH {cte('span', columns, spans)} SELECT span_id, parent_id FROM parents(span) WHERE parent_id IS NOT NULL"
    enclosed = rows_of(query, False)
    parent_of = dict(enclosed)
    parts = [pair for pair in enclosed if drawn.random() < 0.3]
    whole_of = dict(parts)
    work = [(drawn.choice(spans)[0] if spans and drawn.random() < 0.9 else -7, drawn.randrange(12)) for _ in range(len(spans))]
    work_of = {one[0]: {number for span, number in work if whole_of.get(span, span) == one[0]} for one in spans}
    kind_of = {span[0]: span[4] for span in spans}
    expected = []
    for one, tid, start, end, kind, may_wrap in spans:
        kinds = {kind_of[inside] for inside, around in parent_of.items() if around == one and inside not in whole_of}
        behind = [
            span for span in spans if span[1] == tid and (span[2], -span[3], span[0]) > (start, -end, one) and span[2] < end
        ]
        left = sum(number % 3 == 0 for number in work_of[one])
        within = sum(len(work_of[span[0]]) for span in behind) + left
        is_outer = bool(kinds) and (kind is None or kinds - {None} != {kind})
        if may_wrap and is_outer and end > start and within > len(work_of[one]) - left:
            expected.append((one,))
    query = (
        f"WITH {cte('span', columns, spans)}, {cte('enclosed', 'span_id, parent_id', enclosed)}, "
        f"{cte('part', 'span_id, whole_id', parts)}, "
        f"{cte('work', 'span_id, work_id, is_left', [(*one, int(one[1] % 3 == 0)) for one in work])} "
        "FROM wrapping(span, enclosed, part, work) ORDER BY ALL"
    )
    assert rows_of(query, True) == rows_of(query, False) == sorted(expected)


def nested_spans_of(drawn: random.Random, tid: int, aspect: int) -> list[tuple[object, ...]]:
    """Spans of one aspect, each in the one before it or behind it."""
    spans = list[tuple[object, ...]]()

    def add(start: int, end: int, around: int | None) -> None:
        while start < end and drawn.random() < 0.7:
            first = drawn.randint(start, end)
            last = drawn.randint(first, end)
            state = 1000 * (tid + 2) + 100 * aspect + len(spans)
            spans.append((aspect, state, tid, first, last, around))
            if (first, last) != (start, end):
                add(first, last, state)
            start = last + drawn.choice((0, 0, 1))

    add(0, 60, None)
    return spans


@pytest.mark.parametrize("seed", quick(range(40), *range(12)))
def test_states_are_those_of_each_ns_in_sql_and_in_arrays(seed: int) -> None:
    drawn = random.Random(seed)
    phases = list[tuple[int, int, int, int]]()
    for tid in range(-1, drawn.randrange(3)):
        bounds = sorted(drawn.choices(range(60), k=2 * drawn.randrange(6)))
        phases += [(10 * (tid + 1) + 100 + place, tid, bounds[place], bounds[place + 1]) for place in range(0, len(bounds), 2)]
    phases = [phase for phase in phases if phase[3] > phase[2]]
    aspects = [aspect for aspect in (1, 2, 3, 4) if drawn.random() < 0.7]
    spans = [span for tid in (-1, 0, 1, 2) for aspect in aspects for span in nested_spans_of(drawn, tid, aspect)]
    drawn.shuffle(spans)
    query = (
        f"WITH {cte('waiting', 'key, tid, start_ns, end_ns', phases)}, "
        f"{cte('doing', 'aspect, state, tid, start_ns, end_ns, around', spans)} {STATES}"
    )
    in_sql = rows_of(query, False)
    assert rows_of(query, True) == in_sql
    of_ns = defaultdict[int, dict[int, tuple[int | None, ...]]](dict)
    for key, tid, start, end in phases:
        for ns in range(start, end):
            here = [span for span in spans if span[2] == tid and int(str(span[3])) <= ns < int(str(span[4]))]
            inner = [max((int(str(span[1])) for span in here if span[0] == aspect), default=None) for aspect in (1, 2, 3, 4)]
            of_ns[key][ns] = tuple(inner)
    found = defaultdict[int, dict[int, tuple[int | None, ...]]](dict)
    for key, start, end, *states in in_sql:
        assert not found[key].keys() & set(range(start, end))
        found[key].update(dict.fromkeys(range(start, end), tuple(states)))
    assert found == of_ns
