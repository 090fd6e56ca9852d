"""The Python API: queries and tables of the user."""

from pathlib import Path

import pandas as pd
import pytest

from prof_analysis import OutputError, Profile, QueryError, open_profile
from prof_analysis.engine.tables import documented_tables
from tests.helpers.api import OPS, RANGES, of_both, rows
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import write_profile

OPS_OF_ALL = "did you mean allocation.op or flame.op or mfu.op or pmu.op or stack.op or trace.op?"


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
        ("WITH x AS (COPY (SELECT 1) TO '{}/copied.csv') FROM x", "COPY in it"),
        ("WITH x AS (DELETE FROM trace.op RETURNING *) FROM x", "DELETE in it"),
        ("FROM enable_logging(storage := 'file', storage_config := {{'path': '{}'}})", "enable_logging in it"),
        ("FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))", "json_execute_serialized_sql in it"),
        ("COPY (PIVOT trace.op ON name USING count(*)) TO '{}/copied.csv'", "only a SELECT"),
        ("WITH x AS (COPY (SELECT 1) TO '{}/c.csv') PIVOT trace.op ON name USING count(*)", "the word copy"),
        ("FROM (PIVOT trace.op ON name USING count(*)), enable_logging()", "the word enable_logging"),
        ("SELECT nope FROM trace.op", "nope"),
        ("SELECT names FROM trace.op", 'Candidate bindings: "name"'),
        ("SELECT names FROM trace.op", "DESCRIBE trace.op"),
        ("SELECT coutn(*) FROM trace.op", 'Did you mean "count"'),
        ("SELECT * FROM trace.nope", "no table trace.nope"),
        ("SELECT * FROM nope.op", ("no table nope.op", OPS_OF_ALL)),
        ("SELECT * FROM trace.kernl", ("no table trace.kernl", "did you mean trace.kernel?")),
        ("SELECT * FROM op", ("no table op", OPS_OF_ALL)),
        ("DESCRIBE trace.kernl", ("no table trace.kernl", "did you mean trace.kernel?")),
        ("SELECT 1 AS a,\n  2 +\n  FROM x y z", 'syntax error at or near "FROM" in line 3'),
        ("SELECT 'x'::INTEGER", "Could not convert"),
    ],
)
def test_sql_takes_one_select_and_says_what_is_wrong_in_one_line(
    shared: Profile, tmp_path: Path, query: str, said: str | tuple[str, ...]
) -> None:
    before = shared.ops()
    with pytest.raises(QueryError) as error:
        shared.sql(query.format(tmp_path))
    assert str(error.value) == says(*([said] if isinstance(said, str) else said))
    assert list(tmp_path.iterdir()) == []
    pd.testing.assert_frame_equal(shared.ops(), before)


def test_show_tables_lists_what_can_be_asked_with_its_meaning(shared: Profile) -> None:
    known = {name: table for name, table in documented_tables().items() if table.grain in ("rank", "job")}
    expected = [(name, known[name].summary) for name in sorted(known)]
    assert [tuple(row.values()) for row in shared.rows("SHOW TABLES")] == expected


@pytest.mark.slow
def test_tables_are_listed_wherever_duckdb_lists_them(shared: Profile) -> None:
    known = {name: table for name, table in documented_tables().items() if table.grain in ("rank", "job")}
    found = shared.rows("SELECT name FROM (SHOW TABLES) WHERE name LIKE 'trace.st%' ORDER BY name DESC")
    assert found == [{"name": f"trace.{name}"} for name in ("string", "stream_wait", "step", "stack_frame")]
    of_folder = [row["name"] for row in shared.rows("SHOW TABLES FROM free")]
    assert of_folder == [name.partition(".")[2] for name in sorted(known) if name.startswith("free.")]
    all_tables = shared.rows("FROM (SHOW ALL TABLES) WHERE schema <> 'stored'")
    everywhere = {f"{row['schema']}.{row['name']}": row["column_names"] for row in all_tables}
    assert everywhere.keys() == known.keys()
    columns = "FROM information_schema.columns WHERE table_schema = 'trace' AND table_name = 'step'"
    of_step = [row["name"] for row in shared.rows(f"SELECT column_name AS name {columns} ORDER BY ordinal_position")]
    assert of_step == ["profile", "rank_id", *(one.shown_name for one in known["trace.step"].columns)]
    assert shared.rows("DESCRIBE information_schema.tables")[0]["column_name"] == "table_catalog"
    assert everywhere["across.step_total"] == [one.shown_name for one in known["across.step_total"].columns]


@pytest.mark.parametrize("name", quick(["trace.op", "module.kernel", "module.path", "across.kernel_kind"], 3))
def test_describe_says_of_each_table_what_a_query_gives(tmp_path: Path, name: str) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        described = profile.rows(f"DESCRIBE {name}")
        rows = profile.rows(f"DESCRIBE SELECT * FROM (FROM {name} LIMIT 1)")
        assert [row["column_name"] for row in described] == profile.sql(f"FROM {name}", arrow=True).column_names
        assert described == rows == profile.rows(f"DESCRIBE {name}"), "also after it is built"
        of_op = {row["column_name"]: row["min"] for row in profile.rows("SUMMARIZE trace.op")}
        assert (of_op["name"], of_op["start_ns"]) == (min(op.name for op in OPS), str(min(op.start for op in OPS)))


def test_a_pivot_finds_its_values_itself(shared: Profile) -> None:
    values = "SELECT profile, name FROM trace.op WHERE name IN ('aten::mm', 'aten::add')"
    rows = [{"name": name, "a_ascend_pt": 1, "b_ascend_pt": 1} for name in ("aten::add", "aten::mm")]
    for query in (
        f"PIVOT ({values}) ON profile USING count(*) GROUP BY name ORDER BY name;",
        f"FROM (PIVOT ({values}) ON profile USING count(*) GROUP BY name) ORDER BY name",
        f"WITH wide AS (PIVOT ({values}) ON profile USING count(*) GROUP BY name) FROM wide ORDER BY name -- the end",
        f"FROM (PIVOT ({values}) ON profile IN ('a_ascend_pt', 'b_ascend_pt') USING count(*) GROUP BY name) ORDER BY name",
    ):
        assert shared.rows(query) == rows


def test_rows_are_written_as_csv_without_a_frame(shared: Profile, tmp_path: Path) -> None:
    shared.write_csv("SELECT profile, sum(duration_ns) AS ns FROM module.kernel GROUP BY ALL ORDER BY ALL", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == b"profile,ns\r\na_ascend_pt,300\r\nb_ascend_pt,300\r\n"
    with pytest.raises(OutputError, match=r"none/x\.csv: cannot be written"):
        shared.write_csv("SELECT 1", tmp_path / "none" / "x.csv")
    with pytest.raises(QueryError, match="Could not convert"):
        shared.write_csv("SELECT name::INTEGER FROM trace.op", tmp_path / "y.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["x.csv"]


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
    table = shared.table("module.kernel")
    pd.testing.assert_frame_equal(table, shared.kernels()[list(table.columns)])
    assert rows(shared.table("trace.step", arrow=True)) == of_both((7, 100, 125), (8, 125, 400))
    with pytest.raises(QueryError, match=says("no table module.nope", "`prof-analysis tables`").pattern):
        shared.table("module.nope")


def test_a_table_name_without_schema_is_an_unknown_table(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        for name in ("kernel", 'module.kernel"x', ""):
            with pytest.raises(QueryError, match="there is no table"):
                profile.table(name)
