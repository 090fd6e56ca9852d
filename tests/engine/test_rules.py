"""The heads of rules of advice: what is said of figures, thresholds, and to which rule a finding is left."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, open_profile
from prof_analysis.engine.cases import failures_in
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.own_tables import read_own_tables
from prof_analysis.engine.table_file import read_table
from prof_analysis.engine.tables import all_tables
from tests.helpers.empty_database import empty_database
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, write_profile

SAYS = ("@title It is slow", "@evidence {count|a kernel|kernels} for {time_ns}", "@kind hint", "@remedy Make it fast.")
COLUMNS = (
    "@columns profile to rank_id, op, count to time_ns as in advice.finding_of_rank",
    "rate_gb_s  DOUBLE  a rate, GB/s",
    "busy_share  DOUBLE  a share",
    "held_bytes  BIGINT  memory, bytes",
    "is_known  BOOLEAN  whether it is known",
    "pattern  VARCHAR  a pattern",
    "begin_ns  BIGINT  a moment, Unix ns",
)
SELECT = """SELECT 'p' AS profile, 0 AS rank_id, 'mm' AS op, 2::BIGINT AS count, 1500::BIGINT AS time_ns,
    2.5::DOUBLE AS rate_gb_s, 0.125::DOUBLE AS busy_share, NULL::BIGINT AS held_bytes, false AS is_known, 'x' AS pattern,
    7::BIGINT AS begin_ns"""


def written(folder: Path, *lines: str, name: str = "slow", columns: tuple[str, ...] = COLUMNS, select: str = SELECT) -> Path:
    file = folder / "advice" / f"{name}.sql"
    file.parent.mkdir(exist_ok=True)
    head = ("One row is a rank.", "", *lines, "", *columns)
    file.write_text("".join(f"-- {line}\n" for line in head) + select, encoding="utf-8")
    return file


def found(folder: Path, *lines: str, **others: Any) -> dict[str, Any]:
    """The one row that a rule with these lines finds."""
    written(folder, *lines, **others)
    table = all_tables(read_own_tables(folder))["advice.slow"]
    with empty_database() as connection:
        create_macros(connection, table.body)
        with functions_for(connection, table.body):
            rows = connection.execute(table.body)
            names = [column[0] for column in rows.description or ()]
            (row,) = rows.fetchall()
    assert names == [column.name for column in table.columns]
    return dict(zip(names, row, strict=True))


def evidence_of(folder: Path, evidence: str) -> str:
    said = found(folder, SAYS[0], f"@evidence {evidence}", *SAYS[2:])["evidence"]
    assert isinstance(said, str)
    return said


def test_a_rule_gives_figures_and_its_head_the_rest_of_a_finding(tmp_path: Path) -> None:
    row = found(tmp_path, *SAYS, "@query FROM trace.op WHERE name = 'it''s' LIMIT 5")
    assert list(row.items())[:14] == [
        ("profile", "p"), ("rank_id", 0), ("title", "It is slow"), ("module", None), ("op", "mm"), ("kernel_type", None),
        ("evidence", "2 kernels for 1.5 us"), ("count", 2), ("time_ns", 1500), ("win_ns", None), ("kind", "hint"),
        ("what_to_do", "Make it fast."), ("doc", "advice/slow.sql"), ("sql", "FROM trace.op WHERE name = 'it''s' LIMIT 5"),
    ]  # fmt: skip
    assert row["busy_share"] == 0.125, "other figures stay in the table of the rule"
    row = found(tmp_path, *SAYS, "@doc our-wiki/slow")
    assert (row["doc"], row["sql"]) == ("our-wiki/slow", "FROM advice.slow")


@pytest.mark.parametrize(
    ("named", "wrong"),
    [
        ("op | count | time_ns |\n|---|---|---|---|\n| p | mm | 2 | 1500 |", []),
        ("op | count | kind |\n|---|---|---|---|\n| p | mm | 2 | exact cause |", ["time_ns", "kind"]),
    ],
)
def test_a_page_of_a_rule_compares_figures_and_of_its_words_those_that_it_names(
    tmp_path: Path, named: str, wrong: list[str]
) -> None:
    select = "SELECT 'p' AS profile, NULL::INTEGER AS rank_id, 'mm' AS op, 2::BIGINT AS count, 1500::BIGINT AS time_ns"
    file = written(tmp_path, *SAYS, columns=COLUMNS[:1], select=select)
    page = file.with_name("slow.cases.md")
    page.write_text(f"## A case\n\nadvice.slow\n\n| profile | {named}\n", encoding="utf-8")
    (case,) = failures_in(page, read_own_tables(tmp_path))
    assert [failure.split()[2] for failure in case.failures] == wrong


def test_what_the_select_gives_is_taken_from_there(tmp_path: Path) -> None:
    columns = ("@columns profile to title, evidence as in advice.finding_of_rank",)
    select = "SELECT 'p' AS profile, 0 AS rank_id, 'From the SELECT' AS title, 'too' AS evidence"
    row = found(tmp_path, *SAYS[2:], columns=columns, select=select)
    assert (row["title"], row["evidence"], row["count"]) == ("From the SELECT", "too", None)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ("{rate_gb_s} or {rate_gb_s:.3f} GB/s", "2.5 or 2.500 GB/s"),
        ("{busy_share} of {time_ns}, {count} times", "12.5% of 1.5 us, 2 times"),
        ("{count|one|many}, {count?is|are}, {is_known?known|not known}, {op}", "2 many, are, not known, mm"),
        ("known[ ({busy_share})][, of {held_bytes}]", "known (12.5%)"),
        ("of {held_bytes} and {is_known?|nothing}", "of (not known) and nothing"),
        (
            "{unless_critical(time_ns, count)}",
            "; in 1.5 us of this nothing can be won",
        ),
        ("it's {{count}} and [[1]]", "it's {count} and [1]"),
    ],
)
def test_a_sentence_shows_figures_by_their_names(tmp_path: Path, evidence: str, said: str) -> None:
    assert evidence_of(tmp_path, evidence).startswith(said)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("(is_known)", False),
        ("(not is_known)", True),
        ("(pattern = x)", True),
        ("(pattern = an other)", False),
        ("(no held_bytes)", True),
        ("(no count)", False),
        ("(as they say)", False),
    ],
)
def test_the_first_sentence_whose_condition_holds_is_said(tmp_path: Path, condition: str, holds: bool) -> None:
    if condition == "(as they say)":
        assert evidence_of(tmp_path, f"{condition} twice") == "(as they say) twice", "not each parenthesis is a condition"
        return
    lines = (f"@title {condition} First", "@title Second", *SAYS[1:])
    assert found(tmp_path, *lines)["title"] == ("First" if holds else "Second")


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ((*SAYS[:2], SAYS[3]), "3: @title", ("no @kind", "no kind")),
        ((*SAYS, "@kind surely"), "5: @kind", ("the last one alone", "condition")),
        ((*SAYS[:2], "@kind surely", SAYS[3]), "5: @kind", ("no kind surely", "there are exact cause, upper bound")),
        (("@title (is_known) Known", *SAYS[1:]), "3: @title", ("the last one alone", "condition")),
        (("@title (is_new) New", "@title Old", *SAYS[1:]), "3: @title", ("no column is_new",)),
        ((SAYS[0], "@evidence {calls}", *SAYS[2:]), "4: @evidence", ("no column calls",)),
        ((SAYS[0], "@evidence {count", *SAYS[2:]), "4: @evidence", ("{ has no other half", "write {{")),
        ((SAYS[0], "@evidence a] b", *SAYS[2:]), "4: @evidence", ("] has no other half", "write ]]")),
        ((SAYS[0], "@evidence [{op}", *SAYS[2:]), "4: @evidence", ("[ has no other half",)),
        ((SAYS[0], "@evidence {count + 1}", *SAYS[2:]), "4: @evidence", ("{count + 1} is no figure", "{column}")),
        ((SAYS[0], "@evidence {begin_ns}", *SAYS[2:]), "4: @evidence", ("{begin_ns} cannot show begin_ns",)),
        ((SAYS[0], "@evidence {is_known}", *SAYS[2:]), "4: @evidence", ("{is_known} cannot show is_known",)),
        ((SAYS[0], "@evidence {op?yes|no}", *SAYS[2:]), "4: @evidence", ("{op?yes|no} cannot show op",)),
        ((SAYS[0], "@evidence {busy_share|a|b}", *SAYS[2:]), "4: @evidence", ("{busy_share|a|b} cannot show busy_share",)),
        (("@title (op) One", "@title Two", *SAYS[1:]), "3: @title", ("op is no BOOLEAN", "(op = VALUE)", "(no op)")),
        ((*SAYS, "@query SELEC 1"), "7: @query", ("cannot be read",)),
        ((*SAYS, "@query FROM ours.nothing"), "7: @query", ("no table ours.nothing",)),
        ((*SAYS, "@counts time"), "7: @counts", ("no such time", "there are kernels, host")),
        ((*SAYS, "@threshold least_ns: a time"), "7: @threshold", ("`-- @threshold NAME VALUE UNIT: MEANING`",)),
        ((*SAYS, "@threshold least_ns 5 ns: a time"), "7: @threshold", ("does not read least_ns",)),
        ((*SAYS, "@yields fast"), "7", ("no table advice.fast",)),
        ((*SAYS, "@yields slow_matmul more"), "7: @yields", ("`-- @yields RULE`",)),
        ((*SAYS, "@yields (is_new) slow_matmul"), "7: @yields", ("the head documents", "no BOOLEAN is_new")),
        ((*SAYS, "@yields unfused_chain (is_new)"), "7: @yields", ("head of unfused_chain", "no BOOLEAN is_new")),
    ],
)  # fmt: skip
def test_a_head_of_a_rule_that_cannot_be_right_is_an_error_with_its_line(
    tmp_path: Path, lines: tuple[str, ...], line: str, words: tuple[str, ...]
) -> None:
    file = written(tmp_path, *lines)
    with pytest.raises(InputError) as raised:
        read_own_tables(tmp_path)
    assert str(raised.value).splitlines()[0] == says(f"{file}: line {line}: ", *words)


def test_a_macro_that_does_not_exist_is_said_when_the_folder_is_loaded(tmp_path: Path) -> None:
    file = written(tmp_path, SAYS[0], "@evidence {shown_tim(time_ns)}", *SAYS[2:])
    with pytest.raises(InputError, match="shown_tim does not exist") as raised:
        read_own_tables(tmp_path)
    assert raised.value.path == file


def test_lines_of_rules_are_for_rules(tmp_path: Path) -> None:
    written(tmp_path, *SAYS)
    (tmp_path / "advice").rename(tmp_path / "ours")
    with pytest.raises(ValueError, match=says("line 3: @title", "only a rule", "advice/", "leave it out").pattern):
        read_table(tmp_path / "ours" / "slow.sql")


def test_an_own_rule_gives_up_columns_that_its_select_gives_too_and_needs_those_of_the_rank(tmp_path: Path) -> None:
    columns = ("@columns profile to title as in advice.finding_of_rank",)
    with pytest.raises(ValueError, match=says("@title: ", "gives title too", "leave one").pattern):
        read_table(written(tmp_path, *SAYS[:1], "@evidence x", *SAYS[2:], columns=columns, select="SELECT 1"))
    with pytest.raises(ValueError, match=says("@title: ", "profile and rank_id", "no profile").pattern):
        read_table(written(tmp_path, *SAYS[:1], "@evidence x", *SAYS[2:], columns=("op  VARCHAR  an op",), select="SELECT 1"))


OF_OPS = """WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_ns') AS least_ns
    FROM advice.threshold
    WHERE rule = '{rule}'
)
SELECT profile, rank_id, op_name AS op, {win} AS win_ns, op_name = 'aten::add' AS is_sum
FROM kernels.work
CROSS JOIN threshold
WHERE duration_ns >= threshold.least_ns"""
OF_OP = ("@columns profile to rank_id, op, win_ns as in advice.finding_of_rank", "is_sum  BOOLEAN  whether it adds")


@pytest.mark.slow
def test_thresholds_of_own_rules_are_set_like_ours_and_findings_are_left_to_other_rules(tmp_path: Path) -> None:
    """All rules find each op of 20 ns or more. A rule that yields finds what the other one does not, and what wins more."""
    kernels = [Kernel("a", 1000, 1100), Kernel("b", 1200, 1300), Kernel("c", 1400, 1410)]
    names = ("aten::mul", "aten::add", "aten::sub")
    ops = [Op(name, 10 * at, 10 * at + 5, (kernel,)) for at, (name, kernel) in enumerate(zip(names, kernels, strict=True))]
    write_profile(tmp_path / "profile" / "0_ascend_pt", ops)
    says_op = ("@title Slow", "@evidence {op}", "@kind upper bound", "@remedy Do it.", "@threshold least_ns 20 ns: Their time")
    for rule, win, yields in (
        ("first", "critical_ns", ()),
        ("yielding", "critical_ns", ("@yields first",)),
        ("of_sums", "critical_ns", ("@yields (is_sum) first",)),
        ("to_sums", "critical_ns", ("@yields first (is_sum)",)),
        ("winning", "if(op_name = 'aten::mul', critical_ns + 1, critical_ns)", ("@yields first",)),
    ):
        written(tmp_path, *says_op, *yields, name=rule, columns=OF_OP, select=OF_OPS.format(rule=rule, win=win))
    with open_profile(tmp_path / "profile", sql=tmp_path, thresholds={"yielding.least_ns": 5}) as profile:
        thresholds = profile.rows("SELECT rule, name, value, usual, unit FROM advice.threshold WHERE rule = 'yielding'")
        assert [tuple(row.values()) for row in thresholds] == [("yielding", "least_ns", 5.0, 20.0, "ns")]
        of_rank = profile.rows("SELECT rule, op FROM advice.finding_of_rank WHERE title = 'Slow'")
        assert len(profile.rows("FROM advice.winning")) == 2, "the table of the rule has all that it finds"
    left: dict[str, set[str]] = {}
    for row in of_rank:
        left.setdefault(row["rule"], set()).add(row["op"])
    assert left == {
        "first": {"aten::mul", "aten::add"},
        "yielding": {"aten::sub"},
        "of_sums": {"aten::mul"},
        "to_sums": {"aten::mul"},
        "winning": {"aten::mul"},
    }
    with pytest.raises(InputError, match=r"there is no threshold first\.least: did you mean first\.least_ns"):
        open_profile(tmp_path / "profile", sql=tmp_path, thresholds={"first.least": 5})
