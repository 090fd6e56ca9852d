"""compared_times(): rows of samples on both sides in, a row for each key out."""

from typing import Any

import pytest

from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.macros import create_macros
from tests.helpers.empty_database import empty_database

# Two units on each side, which are a sample each.
UNITS = "comparison AS (SELECT 'new' AS run, 2 AS base_unit_count, 2 AS new_unit_count, 2 AS base_sample_count, "
UNITS += "2 AS new_sample_count, 'step' AS base_unit_kind, NULL::VARCHAR AS noise_reason)"
# Name, side, count, time, time of the sample.
SAMPLED = [
    ("same", "base", 1, 10, 10),
    ("same", "base", 1, 10, 10),
    ("same", "new", 1, 10, 10),
    ("same", "new", 1, 10, 10),
    ("slower", "base", 1, 10, 10),
    ("slower", "base", 1, 10, 10),
    ("slower", "new", 1, 15, 15),
    ("slower", "new", 1, 15, 15),
    ("gone", "base", 3, 30, 30),
    ("beside", "base", 1, 10, None),
    ("beside", "new", 1, 20, None),
]


def compared(select: str, arguments: str = "") -> list[Any]:
    rows = ", ".join(str(row).replace("None", "NULL::BIGINT") for row in SAMPLED)
    query = (
        f"WITH {UNITS}, sampled AS (SELECT 'new' AS run, col0 AS name, col1 AS side, col2 AS work_count, col3 AS duration_ns, "
        f"col4::HUGEINT AS sample_ns FROM (VALUES {rows})) SELECT key.name, {select} "
        f"FROM compared_times(sampled, comparison, {{'name': name}}{arguments}) ORDER BY key.name"
    )
    with empty_database() as connection:
        create_macros(connection, query)
        with functions_for(connection, query):
            return connection.execute(query).fetchall()


def test_counts_and_times_are_those_of_each_side_per_unit() -> None:
    found = compared("change, base_count, new_count, times.base_ns, times.new_ns, times.difference_share, times.new_sum_ns")
    # All differ by (10 - 30 + 10) / 2 ns per unit.
    assert found == [
        ("beside", "slower", 1, 1, 5, 10, -1, 20),
        ("gone", "removed", 3, None, 15, 0, 3, 0),
        ("same", None, 2, 2, 10, 10, 0, 20),
        ("slower", "slower", 2, 2, 10, 15, -1, 30),
    ]


@pytest.mark.parametrize(
    ("given", "reason"), [("", "its kernels belong to no step"), (", unsampled := 'idle time'", "idle time")]
)
def test_what_has_no_sample_is_unknown_for_a_reason(given: str, reason: str) -> None:
    found = compared("change, times.p_value, times.is_noise, times.reason", given)
    assert {row[0]: row[1:] for row in found}["beside"] == ("slower", None, None, reason)
    assert {row[0]: row[1:] for row in found}["slower"] == ("slower", 0, False, None)


def test_more_is_worked_out_for_each_key() -> None:
    found = compared("more.most", ", more := {'most': max(duration_ns) FILTER (side = 'base')}")
    assert found == [("beside", 10), ("gone", 30), ("same", 10), ("slower", 10)]


@pytest.mark.parametrize(("counts", "expected"), [("true", True), ("name <> 'large'", False)])
def test_rows_that_cannot_have_changed_leave_the_limit_alone(counts: str, expected: bool) -> None:
    """Of two p-values 0.04 is noise, alone it is not."""
    query = (
        "WITH differing AS (SELECT 'new' AS run, col0 AS name, col1::DOUBLE AS p_value "
        "FROM (VALUES ('small', 0.04), ('large', 1), ('unknown', NULL))) "
        f"SELECT name, is_noise FROM with_noise(differing, {counts})"
    )
    with empty_database() as connection:
        create_macros(connection, query)
        found = dict(connection.execute(query).fetchall())
    assert found == {"small": expected, "large": True, "unknown": None}
