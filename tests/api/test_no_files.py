"""A query of a stranger reads no file of the machine, whatever it tries; with leave it does."""

from pathlib import Path

import duckdb
import pytest

from prof_analysis import InputError, QueryError, open_profile
from prof_analysis.engine.parsing import _READING, _READING_FILES
from tests.helpers.says import says
from tests.helpers.small_profile import Op, write_profile

SECRET = "a line that nobody may see"
FUNCTIONS = (
    "read_text('{}')", "read_blob('{}')", "read_csv('{}')", "read_csv_auto('{}')", "read_csv(['{}'])", "READ_TEXT('{}')",
    'main."read_text"(\'{}\')', "system.main.read_text('{}')", "sniff_csv('{}')", "glob('{}')", "glob('{}*')",
    "read_json('{}')", "read_json_auto('{}')", "read_json_objects('{}')", "read_ndjson('{}')", "read_ndjson_objects('{}')",
    "read_parquet('{}')", "parquet_scan('{}')", "parquet_metadata('{}')", "parquet_schema('{}')",
    "parquet_file_metadata('{}')", "parquet_kv_metadata('{}')", "parquet_bloom_probe('{}', 'a', 1)", "sqlite_scan('{}', 'a')",
    "duckdb_secrets()", "duckdb_logs()", "duckdb_temporary_files()", "duckdb_databases()", "duckdb_extensions()",
    "pragma_database_size()", "read_duckdb('{}')", "query('FROM read_text(\\'{}\\')')", "query_table('{}')",
    "enable_logging()", "checkpoint()", "python_scan('{}')", "st_read('{}')", "read_xlsx('{}')", "which_secret('{}', 's3')",
    "arrow_scan(1, 2, 3)", "test_all_types()",
)  # fmt: skip
NAMES = ("'{}'", '"{}"', "'{}*'", "'file://{}'", "'http://127.0.0.1:1/a.csv'", "'../x.csv'", "'x.parquet'", "'*.json'", "x.csv")
AROUND = (
    "SELECT 1 FROM {}", "WITH a AS (FROM {}) FROM a", "SELECT (SELECT count(*) FROM {})",
    "FROM trace.op WHERE name IN (SELECT 'a' FROM {})", "FROM trace.op JOIN {} AS other ON true",
    "SELECT 1 UNION ALL SELECT 1 FROM {}",
    "FROM (PIVOT (FROM {}) ON a USING count(*))", "PIVOT {} ON a USING count(*)", "DESCRIBE FROM {}", "SUMMARIZE FROM {}",
    "FROM trace.op, LATERAL (FROM {})", "FROM (UNPIVOT {} ON a)",
)  # fmt: skip
STATEMENTS = (
    "ATTACH '{}' AS a", "INSTALL httpfs", "LOAD httpfs", "COPY (SELECT 1) TO '{}'", "COPY a FROM '{}'", "IMPORT DATABASE '{}'",
    "EXPORT DATABASE '{}'", "CREATE VIEW a AS FROM '{}'", "CREATE MACRO a() AS TABLE FROM '{}'",
    "SET enable_external_access = true",
    "PRAGMA enable_logging", "CALL read_text('{}')", "EXPLAIN ANALYZE FROM '{}'", "SELECT 1; FROM '{}'", "EXECUTE a",
    "PREPARE a AS FROM '{}'",
)  # fmt: skip
ATTEMPTS = (
    *(f"FROM {function}" for function in FUNCTIONS),
    *(f"FROM {name}" for name in NAMES),
    *(one.format("read_text('{}')") for one in AROUND),
    *(one.format("'{}'") for one in AROUND),
    *STATEMENTS,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("files")
    write_profile(made / "a_ascend_pt", [Op("aten::mm", 100, 200)])
    (made / "secret.csv").write_text(f"a,b\n1,{SECRET}\n", encoding="utf-8")
    return made


def test_no_query_reads_a_file_of_the_machine(folder: Path) -> None:
    with open_profile(folder, cache="none") as profile:
        for attempt in ATTEMPTS:
            with pytest.raises(QueryError) as refused:
                profile.sql(attempt.replace("{}", str(folder / "secret.csv")))
            assert SECRET not in str(refused.value), attempt
        assert len(ATTEMPTS) >= 60
        assert profile.rows("SELECT name FROM trace.op") == [{"name": "aten::mm"}], "what reads no file is answered"


def test_with_leave_a_query_reads_files_and_still_writes_none(folder: Path) -> None:
    file = folder / "secret.csv"
    with open_profile(folder, cache="none", allow_files=True) as profile:
        assert profile.rows(f"SELECT b FROM read_csv('{file}')") == [{"b": SECRET}]
        assert profile.rows(f"SELECT b FROM '{file}'") == [{"b": SECRET}]
        with pytest.raises(QueryError, match="do more than read"):
            profile.sql("FROM enable_logging()")


def test_own_tables_read_files_with_leave_alone(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "across").mkdir()
    head = "-- One row is a line.\n--\n-- b  VARCHAR  its text\n"
    (tmp_path / "across" / "line.sql").write_text(f"{head}SELECT b FROM read_csv('{folder}/secret.csv')", encoding="utf-8")
    with pytest.raises(InputError, match=says("line.sql: ", "reads files", "--allow-files").pattern):
        open_profile(folder, sql=tmp_path)
    with open_profile(folder, sql=tmp_path, allow_files=True) as profile:
        assert profile.rows("FROM across.line") == [{"b": SECRET}]


def test_every_table_function_of_duckdb_is_refused_unless_it_is_known_to_read_tables_alone() -> None:
    known = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table'"
    of_duckdb = {name for (name,) in duckdb.connect().execute(known).fetchall()}
    assert of_duckdb > _READING_FILES - {"parquet_full_metadata"}
    assert not [name for name in _READING if any(word in name for word in ("read", "file", "scan", "glob", "secret", "log"))]
