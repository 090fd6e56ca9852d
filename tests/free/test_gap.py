"""Gaps and the kernels around them, against the plain form: gaps between busy stretches, and a search at both of their ends."""

from hypothesis import given, settings
from hypothesis import strategies as st

from prof_analysis.engine.database import connect
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.planning import sql_of
from prof_analysis.engine.tables import create_schemas, documented_tables, source_tables

EPOCH = 1_767_225_600_000_000_000
# The later names are texts of ids in another order, an empty one and one that the profile has lost.
NAMES = {1: "b", 2: "a", 3: ""}
READ = ("step.kernel_step", "trace.kernel", "trace.string")
PLAIN = """
WITH busy AS (
    SELECT start_ns, lag(end_ns) OVER (ORDER BY start_ns, end_ns) AS end_before_ns
    FROM step.stretch
    WHERE kind = 'busy'
),
gap AS (
    SELECT row_number() OVER (ORDER BY start_ns) AS gap_id, end_before_ns AS start_ns, start_ns AS end_ns
    FROM busy
    WHERE end_before_ns IS NOT NULL
),
candidate AS (
    SELECT kernel_id, kernel_step.start_ns, kernel_step.end_ns, coalesce(name.text, '') AS name
    FROM step.kernel_step
    JOIN trace.kernel AS named USING (kernel_id)
    LEFT JOIN trace.string AS name ON name.text_id = named.name_id
)
SELECT
    gap.*,
    (
        SELECT kernel_id FROM candidate WHERE candidate.end_ns = gap.start_ns
        ORDER BY candidate.start_ns DESC, name DESC, kernel_id DESC LIMIT 1
    ),
    (
        SELECT kernel_id FROM candidate WHERE candidate.start_ns = gap.end_ns
        ORDER BY candidate.end_ns, name, kernel_id LIMIT 1
    )
FROM gap
ORDER BY gap_id
"""
# start, length, name
kernels = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 4), st.sampled_from([1, 2, 3, 4, None])), max_size=12)


def test_gaps_are_those_between_busy_stretches() -> None:
    tables = source_tables("ascend_db")
    # To open a database takes longer than an example, so each example fills the same tables anew.
    with connect(threads=1, macros=False) as connection:
        create_macros(connection, sql_of(tables, ("step.stretch", "free.gap")))
        create_schemas(connection, READ)
        for table in READ:
            columns = ", ".join(f"{column.name} {column.stored_type}" for column in documented_tables()[table].columns)
            connection.execute(f"CREATE TABLE {table} ({columns})")
        connection.executemany("INSERT INTO trace.string (text_id, text) VALUES (?, ?)", list(NAMES.items()))

        @settings(max_examples=25, deadline=None, print_blob=True)
        @given(kernels)
        def check(made: list[tuple[int, int, int | None]]) -> None:
            connection.execute("DELETE FROM step.kernel_step; DELETE FROM trace.kernel")
            for number, (start, length, name) in enumerate(made):
                kind = "communication" if number % 2 else "compute"
                of_step = [number, kind, EPOCH + start, EPOCH + start + length]
                connection.execute(
                    "INSERT INTO step.kernel_step (kernel_id, kind, start_ns, end_ns) VALUES (?, ?, ?, ?)", of_step
                )
                connection.execute("INSERT INTO trace.kernel (kernel_id, name_id) VALUES (?, ?)", [number, name])
            connection.execute(f"CREATE OR REPLACE TABLE step.stretch AS {tables['step.stretch'].body}")
            assert (
                connection.execute(f"FROM ({tables['free.gap'].body}) ORDER BY gap_id").fetchall()
                == connection.execute(PLAIN).fetchall()
            )

        check()
