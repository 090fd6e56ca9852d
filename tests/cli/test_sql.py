"""The command `sql`: where the query comes from, and csv."""

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner, Result

from prof_analysis.cli import app
from prof_analysis.exports.files import write_rows
from tests.helpers.cli import Command, files_below, shown_on_terminal
from tests.helpers.places import SAMPLE
from tests.helpers.says import says
from tests.helpers.small_profile import Op, write_profile

QUERY = "SELECT rank_id, count(*) AS ops FROM trace.op GROUP BY ALL ORDER BY rank_id"
ROWS = "rank_id  ops\n      0    3\n      1    3\n"


def asked(*words: str | Path, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(app, ["sql", *map(str, words)], input=stdin)


def test_a_query_is_an_argument_a_file_or_stdin(ranks: Path, tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_text(f"\ufeff-- Ops of each rank\n{QUERY};\n-- the end\n", "utf-8")
    text = file.read_bytes()
    for result in (
        asked("-d", ranks, QUERY),
        asked("-d", ranks, "-f", file),
        asked("-d", ranks, "--file", file),
        asked("-d", ranks, "-", stdin=text),
        asked("-d", ranks, stdin=text),
    ):
        assert (result.exit_code, result.stdout, result.stderr) == (0, ROWS, "")


def test_what_is_wrong_with_a_query_or_its_file_is_one_line(ranks: Path, tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    before = files_below(ranks)
    for text, said in (
        (b"", ("no query", "give one SELECT")),
        (b"SELECT 1;\nSELECT 2;", ("not one SELECT but 2 statements", "one at a time")),
        (b"SELECT 1,\n  2 +\n  FROM x y z", ("cannot be read", '"FROM" in line 3')),
        (b"SELECT '\xff'", ("{}: ", "not UTF-8", "save it as UTF-8")),
        (b"COPY (SELECT 1) TO 'mine.csv'", ("only a SELECT",)),
        (b"WITH x AS (COPY (SELECT 1) TO 'mine.csv') FROM x", ("only a SELECT", "COPY in it", "more than read")),
        (b"ATTACH 'mine.db'", ("only a SELECT",)),
    ):
        file.write_bytes(text)
        from_stdin = asked("-d", ranks, stdin=text)
        for result, place in ((asked("-d", ranks, "-f", file, "--csv"), file), (from_stdin, "stdin")):
            message = says("error: ", *(word.replace("{}", str(place)) for word in said))
            assert (result.exit_code, result.stdout, result.stderr) == (2, "", message)
            assert ("COPY in it" in result.stderr) is (b"(COPY" in text)
    missing = asked("-d", ranks, "-f", tmp_path / "none.sql")
    assert (missing.exit_code, missing.stderr) == (2, says(f"error: {tmp_path}/none.sql: ", "No such file or directory"))
    both = asked("-d", ranks, "-f", file, QUERY)
    assert (both.exit_code, both.stderr) == (2, says("error: ", "--file: ", "query beside it", "give one of both"))
    both = asked("-d", ranks, QUERY, "--csv", "--json")
    assert (both.exit_code, both.stdout.count("give one of both")) == (2, 1)
    assert files_below(ranks) == before


HOSTILE = '=1+1,"x"\r\n\x1b[2J'
NASTY = """SELECT name AS "=name", name AS a, '' AS a, NULL AS nothing, -1.5 AS "number", [1, 2] AS list, '-' AS dash
FROM trace.op"""


EXACT = {
    "TIMESTAMP 'infinity'": "infinity", "DATE '-infinity'": "-infinity", "[TIMESTAMPTZ 'infinity']": ["infinity"],
    "TIMESTAMP '2026-01-01 00:00:00.000001'": "2026-01-01 00:00:00.000001", "TIME '24:00:00'": "24:00:00",
    "TIMETZ '01:02:03+05'": "01:02:03+05", "INTERVAL 1 month": "1 month", "DATE '0001-01-01 (BC)'": "0001-01-01 (BC)",
    "340282366920938463463374607431768211455::UHUGEINT": 2**128 - 1,
    "(-170141183460469231731687303715884105728)::HUGEINT": -(2**127),
    "'0101'::BIT": "0101", "'NaN'::DOUBLE": None, "'-inf'::FLOAT": None, "1.5::DECIMAL(38, 2)": 1.5, "'\\xAA'::BLOB": "aa",
    "{'a': ['NaN'::DOUBLE], 'b': NULL}": {"a": [None], "b": None}, "MAP{'a': DATE '2026-01-01'}": [["a", "2026-01-01"]],
    "union_value(a := 1)": {"a": 1}, "'DATE'::ENUM('DATE')": "DATE", "'é'": "é", "NULL": None,
}  # fmt: skip


def test_json_holds_each_value_of_duckdb_exactly(command: Command, ranks: Path) -> None:
    query = "SELECT " + ", ".join(f"{value} AS x{number}" for number, value in enumerate(EXACT))
    done = command("sql", "-d", ranks, "--json", query)
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == [{f"x{number}": value for number, value in enumerate(EXACT.values())}]
    assert command("sql", "-d", ranks, query).exit_code == 0


def test_csv_is_that_of_rfc_4180_and_holds_no_formula(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op(HOSTILE, 100, 200)])
    query = tmp_path / "query.sql"
    query.write_text(NASTY, "utf-8")
    result = asked("-d", tmp_path, "-f", query, "--csv")
    assert (result.exit_code, result.stderr) == (0, "")
    cell = '"\'=1+1,""x""\r\n\x1b[2J"'
    assert result.stdout_bytes.decode() == f'\'=name,a,a_1,nothing,number,list,dash\r\n{cell},{cell},"",,-1.5,"[1, 2]",\'-\r\n'
    read = list(csv.reader(io.StringIO(result.stdout_bytes.decode(), newline="")))
    assert read[1] == [f"'{HOSTILE}", f"'{HOSTILE}", "", "", "-1.5", "[1, 2]", "'-"]


@pytest.mark.parametrize("sign", "=+-@\uff1d\uff0b\uff0d\uff20")
def test_no_cell_of_csv_is_a_formula_whatever_comes_before_it(tmp_path: Path, sign: str) -> None:
    before = ("", " ", "\t", "\r", "\n", "\r\n", "\v", "\f", "\0", "\x1b", "\u00a0", "\u200b", "\u2028", "\ufeff", " \t ")
    cells = [f"{one}{sign}HYPERLINK()" for one in before]
    columns = ", ".join(f"'b' AS \"{cell}\"" for cell in cells)
    rows = duckdb.connect().sql(
        f"SELECT cell AS name, 'a' || cell AS other, {columns} FROM unnest($cells) AS t(cell)", params={"cells": cells}
    )
    write_rows(rows, tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as written:
        names, *found = csv.reader(written)
    assert names == ["name", "other", *(f"'{cell}" for cell in cells)]
    assert found == [[f"'{cell}", f"a{cell}", *"b" * len(cells)] for cell in cells]


def test_csv_on_a_terminal_does_not_steer_it_and_comes_after_the_bar(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op(HOSTILE, 100, 200)])
    shown = shown_on_terminal(["sql", "-d", tmp_path, "SELECT name FROM trace.op", "--csv"], with_stdout=True)
    assert shown.rpartition("\x1b[2K")[2].splitlines() == ["name", '"\'=1+1,""x""', '\\x1b[2J"']


def test_csv_of_a_query_that_fails_half_way_prints_nothing(command: Command, ranks: Path) -> None:
    result = command("sql", "-d", ranks, "SELECT name::INTEGER FROM trace.op", "--csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == says("error: ", "query failed", "Conversion Error", "'aten::")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["module-stat", "x"], ("command 'module-stat'", "Did you mean 'module-stats',")),
        (["help"], ("command 'help'", "`prof-analysis --help`")),
        (["ranks", "--nope"], ("option: --nope", "`prof-analysis ranks --help`")),
        (["cache", "ls", "--nope"], ("option: --nope", "`prof-analysis cache ls --help`")),
        (["ranks", "{}", "b"], ("b: there is no such folder or file",)),
        (["sql", "gone", "b"], ("b: one word too many", "-d PATH", "in quotes")),
        (["table"], ("Missing argument 'NAME'", "`prof-analysis table --help`")),
        (["step-time", "{}", "--top", "0"], ("'--top': ", "give 1 or more")),
        (["step-time", "{}", "--top", "many"], ("'--top': ", "give a whole number")),
        (["module-stats", "{}", "--by", "layer"], ("'--by': ", "'layer'", "give one of op, source-line")),
    ],
)
def test_an_error_says_what_to_write_instead(tmp_path: Path, words: list[str], said: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [word.format(tmp_path) for word in words])
    message = says("error: ", *(word.replace("{}", str(tmp_path)) for word in said))
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", message)


def test_a_group_without_a_command_prints_its_help_and_no_error(command: Command) -> None:
    result = command("cache")
    assert result.exit_code == 2
    assert (result.stderr, "Usage: prof-analysis cache" in result.stdout) == ("", True)


def test_the_profile_may_stand_in_front_of_the_query_or_the_table(command: Command) -> None:
    query = "SELECT count(*) AS kernels FROM trace.kernel"
    for words in (("sql", query), ("table", "step.time")):
        assert command(words[0], SAMPLE, *words[1:]).stdout == command(*words, "-d", SAMPLE).stdout != ""
