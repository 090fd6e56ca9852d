"""set_aside_of(): rows that a trace cannot hold in, a row for each kind and reason out."""

from prof_analysis.engine.macros import create_macros
from tests.helpers.empty_database import empty_database
from tests.helpers.says import says


def test_rows_are_counted_by_kind_and_reason_and_timed_where_their_times_can_be_true() -> None:
    query = """
        WITH rejected AS (
            SELECT col0 AS what, col1::BIGINT AS start_ns, col2::BIGINT AS end_ns, 100 AS longest_ns, col3 AS own_reason
            FROM (VALUES
                ('ops', 20, 10, NULL), ('ops', 30, 20, NULL), ('ops', 0, 150, NULL),
                ('ops', 5000, 5040, NULL), ('ops', -5000, -4990, NULL),
                ('kernels', NULL, NULL, 'no task')
            )
        )
        SELECT * FROM set_aside_of(rejected, coalesce(own_reason, why_set_aside(start_ns, end_ns, longest_ns)))
        ORDER BY what, reason
    """
    with empty_database() as connection:
        create_macros(connection, query)
        found = connection.execute(query).fetchall()
    assert found == [
        ("kernels", "no task", None, 1, None),
        ("ops", says("end before", "start"), None, 2, None),
        ("ops", says("longer", "recording"), 100, 1, None),
        ("ops", says("outside", "recording", "its length"), 100, 2, 50),
    ]


def test_a_row_without_a_reason_is_not_set_aside() -> None:
    query = """
        WITH rejected AS (SELECT 'blocks' AS what, 1 AS start_ns, 2 AS end_ns, 100 AS longest_ns, NULL::VARCHAR AS reason)
        SELECT * FROM set_aside_of(rejected, reason)
    """
    with empty_database() as connection:
        create_macros(connection, query)
        assert connection.execute(query).fetchall() == []
