"""Directives of heads: what they make of a table, and that none is lost in silence."""

import re
from pathlib import Path

import pytest

from prof_analysis import InputError
from prof_analysis.engine.directives import Beside
from prof_analysis.engine.own_tables import read_own_tables
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.table_file import Table, read_table
from tests.helpers.says import says

ASOF = "SELECT 1::BIGINT AS a, 2::BIGINT AS b, 'x' AS c FROM trace.op ASOF JOIN gap USING (start_ns)"


def read(folder: Path, *directives: str, schema: str = "ours", select: str = ASOF, prose: str = "It is short.") -> Table:
    """Read a table with the columns a, b and c; its directives begin in line 3."""
    file = folder / schema / "one.sql"
    file.parent.mkdir(exist_ok=True)
    lines = ["One row is one.", "", *directives, "", "a  BIGINT  first", "b  BIGINT  second,", "    and more"]
    lines += ["c  VARCHAR  third", "", prose]
    file.write_text("".join(f"-- {line}\n" for line in lines) + select, encoding="utf-8")
    return read_table(file)


def test_prose_is_only_prose(tmp_path: Path) -> None:
    table = read(tmp_path, prose="Only where needed, kept and required: `@guard trace.op` guards, a@keep.org does not.")
    assert (table.summary, [column.name for column in table.columns]) == ("One row is one.", ["a", "b", "c"])
    assert table.columns[1].meaning == "second, and more"
    assert (table.guard, table.requires, table.is_kept, table.kept_with, table.gathers) == (None, (), False, (), "")
    assert (table.sums, table.unique) == ((), ())


def test_a_directive_says_what_it_says(tmp_path: Path) -> None:
    assert (
        read(tmp_path, "@guard trace.copy").guard == read(tmp_path, "@guard trace.copy", schema="advice").guard == "trace.copy"
    )
    compared = read(tmp_path, "@guard several ranks", schema="across")
    assert (compared.guard, compared.compares_ranks) == (None, True)
    assert read(tmp_path, "@keep").kept_with == ()
    assert read(tmp_path, "@keep").is_kept
    assert read(tmp_path, "@keep all").kept_with == ("a", "b", "c")
    assert read(tmp_path, "@keep b, c").kept_with == ("b", "c")
    assert read(tmp_path, "@sum a,", "    b").sums == ("a", "b"), "a line goes on where the next one begins with two blanks"
    unique = read(
        tmp_path, "@unique gap by tid, start_ns: gaps", "    do not overlap", "@unique op by op_id: it is its id"
    ).unique
    assert unique == (("gap", ("start_ns", "tid"), "gaps do not overlap"), ("op", ("op_id",), "it is its id"))
    requires = read(tmp_path, "@requires kernels, counters | memory", schema="advice").requires
    assert requires == (("kernels",), ("counters", "memory"))
    made = read(tmp_path, "@made timeline.gap with timeline.usual_free_gap for free.gap", select="")
    assert made.needs == read_table(sql_folder() / "timeline" / "usual_gap.sql").needs
    beside = read(tmp_path, "@beside CannApiSum of cann_api_sum by a, c", schema="verify").beside
    assert beside == Beside("CannApiSum", "cann_api_sum", ("a", "c"))
    gathering = read(tmp_path, "@gathers ours", select="")
    assert (gathering.gathers, gathering.body) == ("ours", "")


@pytest.mark.parametrize(
    ("directive", "words"),
    [
        ("@guards trace.copy", ("no directive @guards", "did you mean @guard?")),
        ("@Guard trace.copy", ("no directive @Guard", "did you mean @guard?")),
        (" @gard trace.copy", ("no directive @gard", "did you mean @guard?")),
        ("@ guard trace.copy", ("no directive @;", "there are @columns")),
        ("@guard: trace.copy", ("no directive @guard:", "did you mean @guard?")),
        ("@nothing", ("no directive @nothing", "there are @columns")),
        ("@guard", ("@guard: ", "`-- @guard SCHEMA.TABLE`")),
        ("@guard several ranks", ("@guard: ", "only a table over the ranks", "name a table")),
        ("@guard copy", ("@guard: ", "`-- @guard SCHEMA.TABLE`")),
        ("@guard trace.copy has rows", ("@guard: ", "`-- @guard SCHEMA.TABLE`")),
        ("@guard trace.copie", ("no table trace.copie",)),
        ("@guard across.mfu", ("@guard: ", "only", "of each rank")),
        ("@keep d", ("@keep: ", "no column d")),
        ("@beside CannApiSum of cann_api_sum by a", ("@beside: ", "only a table in verify/")),
        ("@keep a b", ("@keep: ", "`-- @keep`, `-- @keep all`")),
        ("@keep a, a", ("@keep: ", "a twice")),
        ("@sum", ("@sum: ", "`-- @sum COLUMN, COLUMN`")),
        ("@sum d", ("@sum: ", "no column d")),
        ("@sum a, c", ("@sum: ", "c is VARCHAR", "add up")),
        ("@unique gap by start_ns", ("@unique: ", "`-- @unique NAME by COLUMN, COLUMN: REASON`")),
        ("@unique gaps by start_ns: x", ("@unique: ", "no ASOF join", "gaps")),
        ("@requires kernels", ("@requires: ", "only a rule", "advice/")),
        ("@made timeline.gap with a.b for free.gap", ("@made: ", "rows", "a SELECT")),
        ("@gathers ours", ("@gathers: ", "rows", "a SELECT")),
        ("@columns a to b as in free.gap", ("a to b of free.gap", "does not have")),
        ("@columns a to b as in free.gaps", ("no table free.gaps",)),
        ("@columns free.gap", ("`-- @columns FIRST to LAST as in SCHEMA.TABLE`",)),
    ],
)
def test_a_directive_that_cannot_be_right_is_an_error_with_its_line(
    tmp_path: Path, directive: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError) as raised:
        read(tmp_path, directive)
    assert str(raised.value) == says(f"{tmp_path / 'ours' / 'one.sql'}: line 3: ", *words)


@pytest.mark.parametrize(
    ("directive", "words"),
    [
        ("@guard across.mfu", ("only", "of each rank", "guard", "`-- @guard several ranks`")),
        ("@keep", ("only", "of each rank", "kept")),
        ("@requires", ("`-- @requires CAPABILITY, CAPABILITY | CAPABILITY`",)),
        ("@requires kernel", ("no capability kernel", "there are modules, kernels")),
        ("@requires kernels and ops", ("`-- @requires kernels, ops`",)),
        ("@requires kernels, counters or memory", ("`-- @requires kernels, counters | memory`",)),
        ("@requires kernels,", ("`-- @requires CAPABILITY, CAPABILITY | CAPABILITY`",)),
    ],
)
def test_a_directive_of_a_table_over_ranks_that_cannot_be_right(tmp_path: Path, directive: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError) as raised:
        read(tmp_path, directive, schema="advice")
    assert str(raised.value) == says(f"one.sql: line 3: {directive.split(maxsplit=1)[0]}: ", *words)


@pytest.mark.parametrize(
    ("directive", "words"),
    [
        ("@made timeline.gap", ("`-- @made SCHEMA.TABLE with SCHEMA.NEW for SCHEMA.OLD`",)),
        ("@made timeline.gaps with a.b for free.gap", ("no table timeline.gaps",)),
        ("@made timeline.gap with timeline.nothing for free.gap", ("no table timeline.nothing",)),
        ("@made timeline.gap with free.gap for free.edge", ("timeline.gap does not read free.edge",)),
        ("@gathers advice", ("own folder", "`-- @gathers ours`")),
    ],
)
def test_a_table_without_a_select_that_cannot_be_made(tmp_path: Path, directive: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError) as raised:
        read(tmp_path, directive, select="")
    assert str(raised.value) == says(f"{tmp_path / 'ours' / 'one.sql'}: line 3: ", *words)


def test_a_directive_is_given_once_above_the_select_and_in_a_line_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says("line 4: @keep", "twice", "one line").pattern):
        read(tmp_path, "@keep a", "@keep b")
    with pytest.raises(ValueError, match=says("line 9: @guard", "inside prose", "begin a line").pattern):
        read(tmp_path, prose="It is short. @guard trace.copy")
    with pytest.raises(ValueError, match=says("line 9: @columns", "outside the lines of columns", "among").pattern):
        read(tmp_path, prose="@columns gap_id to end_ns as in free.gap")
    with pytest.raises(ValueError, match=says("line 12: @guard", "not in the head", "above the SELECT").pattern):
        read(tmp_path, select=f"WITH\n\n-- @guard trace.copy\n{ASOF}")
    assert read(tmp_path, select=f"WITH\n-- @torch.compile makes these.\n{ASOF}"), "a comment of the SELECT"


@pytest.mark.parametrize(
    ("prose", "line"),
    [
        ("Only when trace.copy has rows.", "@guard trace.copy"),
        ("Only when trace.copy has any rows.", "@guard trace.copy"),
        ("It is rare. Only when\n-- trace.copy has rows. It is short.", "@guard trace.copy"),
        ("Kept for other questions.", "@keep"),
        ("Kept for other question.", "@keep"),
        ("Kept for other questions, with a, b.", "@keep a, b"),
        ("Kept for other questions, with all columns.", "@keep all"),
        ("Requires kernels.", "@requires kernels"),
        ("Requires kernels and ops.", "@requires kernels, ops"),
        ("Requires kernels, counters or memory.", "@requires kernels, counters | memory"),
        ("Made as timeline.gap, with a.b for free.gap.", "@made timeline.gap with a.b for free.gap"),
        ("Made of all tables of advice with these columns.", "@gathers advice"),
    ],
)
def test_a_sentence_that_was_a_directive_is_an_error_with_the_new_line(tmp_path: Path, prose: str, line: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"is only prose; write `-- {line}` as a line of its own")) as raised:
        read(tmp_path, prose=prose, schema="advice")
    assert "one.sql: line 9: " in str(raised.value)


def test_a_line_of_columns_that_was_a_directive_is_an_error_with_the_new_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says("line 3: ", "no column", "`-- @columns a to b as in x.y`").pattern):
        read(tmp_path, "a to b as in x.y")


def test_what_users_write_is_refused_as_ours_is(tmp_path: Path) -> None:
    """Before any profile is read, with file and line: a rule that required nothing found nothing, and said nothing."""
    file = tmp_path / "ours" / "copy.sql"
    file.parent.mkdir()
    head = "-- One row is a number.\n--\n-- {}\n--\n-- a  INTEGER  a number\n"
    for line in ("@gaurd trace.copy", "Only when trace.copy has rows."):
        file.write_text(f"{head.format(line)}SELECT 1 AS a", encoding="utf-8")
        with pytest.raises(InputError) as raised:
            read_own_tables(tmp_path)
        assert str(raised.value).startswith(f"{file}: line 3: ")
        assert "guard" in str(raised.value)
    file.write_text(f"{head.format('@guard trace.copy')}SELECT 1 AS a", encoding="utf-8")
    file.with_name("copy.warning.sql").write_text("-- It warns.\n-- @keep\nSELECT 1", encoding="utf-8")
    with pytest.raises(InputError, match=says("copy.warning.sql: line 2: @keep", "not in the head").pattern):
        read_own_tables(tmp_path)


def test_a_table_may_name_another_one_of_the_same_folder(tmp_path: Path) -> None:
    head = "-- One row is a number.\n--\n-- a  INTEGER  a number\n"
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "rare.sql").write_text(f"{head}SELECT 1 AS a WHERE false", encoding="utf-8")
    (tmp_path / "ours" / "more.sql").write_text(f"{head}--\n-- @guard ours.rare\nSELECT a FROM ours.rare", encoding="utf-8")
    assert {table.name: table.guard for table in read_own_tables(tmp_path)} == {"ours.rare": None, "ours.more": "ours.rare"}


def test_no_directive_is_in_files_that_have_no_head() -> None:
    """Of sources, whose head is that of sql/trace, and of macros."""
    files = [*sql_folder().glob("sources/*/*.sql"), *sql_folder().glob("macros/*.sql")]
    assert [file for file in files if re.search(r"--\s*@", file.read_text(encoding="utf-8"))] == []
