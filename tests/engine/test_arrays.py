"""Passes in arrays give the rows of the same macros in SQL, and states are those of a clock that looks at each ns."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import duckdb
import pytest

from prof_analysis.engine.database import lent
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.statements import sql_folder
from prof_analysis.functions import ARRAY_FUNCTIONS

FILES = sorted((sql_folder() / "macros").glob("*.sql"))
ARRAY_FILES = sorted((sql_folder() / "macros" / "arrays").glob("*.sql"))
MACRO = re.compile(r"^CREATE MACRO IF NOT EXISTS (\w+)\(([^)]*)\)", re.MULTILINE)
PARENTS = "FROM parents(nested) ORDER BY ALL"
STATES = "FROM states(waiting, doing) ORDER BY ALL"


def rows_of(query: str, in_arrays: bool, tolerance_ns: int = 0) -> list[tuple[Any, ...]]:
    with lent({"nesting_tolerance_ns": tolerance_ns}, threads=1) as connection:
        create_macros(connection, query, in_arrays)
        with functions_for(connection, query, in_arrays, in_arrays) as has_functions:
            assert has_functions == in_arrays
            return connection.execute(query).fetchall()


def cte(name: str, columns: str, rows: Sequence[tuple[object, ...]]) -> str:
    values = ", ".join(f"({', '.join('NULL' if one is None else str(one) for one in row)})" for row in rows)
    cast = ", ".join(f"{column}::BIGINT AS {column}" for column in columns.split(", "))
    empty = f"(VALUES ({', '.join(['NULL'] * len(columns.split(', ')))})) AS one ({columns}) WHERE false"
    return f"{name} AS (SELECT {cast} FROM " + (f"(VALUES {values}) AS one ({columns}))" if rows else f"{empty})")


def test_each_macro_in_arrays_has_one_in_sql_with_the_same_arguments() -> None:
    in_sql = {name: given for file in FILES for name, given in MACRO.findall(file.read_text(encoding="utf-8"))}
    text = "\n".join(file.read_text(encoding="utf-8") for file in ARRAY_FILES)
    in_arrays = dict(MACRO.findall(text))
    assert in_arrays.keys() == {"parents", "states"}
    assert in_arrays.items() <= in_sql.items()
    assert set(re.findall(rf"\b({'|'.join(ARRAY_FUNCTIONS)})\(", text)) == set(ARRAY_FUNCTIONS)


def test_macros_in_arrays_are_of_one_database_alone() -> None:
    """The next rank of the same instance may have few rows."""
    with lent(threads=1) as connection:
        create_macros(connection, PARENTS, in_arrays=True)
        with pytest.raises(duckdb.CatalogException, match="nested_spans"):
            connection.execute(f"WITH {cte('nested', 'span_id, tid, start_ns, end_ns', [(1, 1, 0, 1)])} {PARENTS}")
    assert rows_of(f"WITH {cte('nested', 'span_id, tid, start_ns, end_ns', [(1, 1, 0, 1)])} {PARENTS}", False)


@pytest.mark.parametrize("tolerance_ns", [0, 2])
@pytest.mark.parametrize("seed", range(25))
def test_parents_are_the_same_in_arrays(seed: int, tolerance_ns: int) -> None:
    """Spans that nest, cross, repeat, touch and have no length, on three threads."""
    drawn = random.Random(seed)
    starts = [(drawn.randrange(-1, 2), drawn.randrange(60)) for _ in range(drawn.choice((0, 1, 5, 40)))]
    spans = [(number, tid, start, start + drawn.choice((0, 0, 1, 3, 9, 30))) for number, (tid, start) in enumerate(starts)]
    drawn.shuffle(spans)
    query = f"WITH {cte('nested', 'span_id, tid, start_ns, end_ns', spans)} {PARENTS}"
    assert rows_of(query, True, tolerance_ns) == rows_of(query, False, tolerance_ns)


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


@pytest.mark.parametrize("seed", range(40))
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
