"""The Python API: queries and tables of the user."""

from pathlib import Path

import pandas as pd
import pytest

from prof_analysis import Profile, QueryError, open_profile
from tests.helpers.api import OPS, RANGES, of_both, rows
from tests.helpers.small_profile import write_profile


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("", "one SELECT"),
        ("SELECT 1; SELECT 2", "one SELECT"),
        ("CREATE TABLE mine AS SELECT 1", "SELECT"),
        ("COPY (SELECT 1) TO '{}/copied.csv'", "SELECT"),
        ("INSERT INTO trace.op SELECT 1", "SELECT"),
        ("DROP VIEW trace.op", "SELECT"),
        ("ATTACH '{}/new.db'", "SELECT"),
        ("SET threads = 1", "SELECT"),
        ("SELECT 1; DROP VIEW trace.op", "SELECT"),
        ("SELECT nope FROM trace.op", "nope"),
        ("SELECT * FROM trace.nope", "there is no table trace.nope"),
        ("SELECT * FROM nope.op", "there is no table nope.op"),
        ("SELECT * FROM op", "op"),
        ("SELECT 'x'::INTEGER", "Could not convert"),
    ],
)
def test_sql_takes_one_select_and_says_what_is_wrong_in_one_line(
    shared: Profile, tmp_path: Path, query: str, said: str
) -> None:
    before = shared.ops()
    with pytest.raises(QueryError) as error:
        shared.sql(query.format(tmp_path))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []
    pd.testing.assert_frame_equal(shared.ops(), before)


def test_sql_joins_tables_of_several_kinds(shared: Profile) -> None:
    found = shared.sql("""
        WITH busy AS (SELECT profile, op_id, sum(duration_ns) AS ns FROM module.kernel GROUP BY ALL)
        SELECT profile, name, ns FROM trace.op JOIN busy USING (profile, op_id) ORDER BY profile DESC, op.start_ns;
    """)
    expected = [("aten::mm", 140), ("aten::add", 10), ("aten::item", 50)]
    assert found.values.tolist() == [[f"{name}_ascend_pt", *row] for name in "ba" for row in expected]


def test_sql_may_call_what_the_sql_of_the_project_calls(shared: Profile) -> None:
    assert shared.rows("SELECT Shown_Time (sum(duration_ns)::BIGINT) AS time FROM module.kernel") == [{"time": "600 ns"}]


def test_a_sum_is_an_integer_as_long_as_64_bits_hold_it(shared: Profile) -> None:
    frame = shared.sql("SELECT sum(duration_ns) AS ns, sum(duration_ns) FILTER (false) AS nothing FROM module.kernel")
    assert frame.dtypes.astype(str).to_dict() == {"ns": "int64", "nothing": "Int64"}
    assert frame["ns"].tolist() == [600]
    large = shared.sql("SELECT sum(ns) AS ns FROM (VALUES (9223372036854775807), (1)) AS t (ns)", arrow=True)
    assert int(large["ns"][0].as_py()) == 2**63


def test_sql_does_not_read_the_variables_of_the_caller(shared: Profile) -> None:
    mine = pd.DataFrame({"a": [1]})
    with pytest.raises(QueryError, match="mine"):
        shared.sql("SELECT * FROM mine")
    assert len(mine) == 1


def test_table_gives_any_documented_table(shared: Profile) -> None:
    pd.testing.assert_frame_equal(shared.table("module.kernel"), shared.kernels())
    assert rows(shared.table("trace.step", arrow=True)) == of_both((7, 100, 125), (8, 125, 400))
    with pytest.raises(QueryError, match=r"there is no table module\.nope; `prof-analysis tables` lists"):
        shared.table("module.nope")


def test_a_table_name_without_schema_is_an_unknown_table(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        for name in ("kernel", 'module.kernel"x', ""):
            with pytest.raises(QueryError, match="there is no table"):
                profile.table(name)
