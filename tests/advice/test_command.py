"""The command advise: how findings of ranks become findings of a run, what it says, and what holds for every rule."""

import re
import shlex
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing
from hashlib import md5
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import InputError, ProfAnalysisWarning, Profile, open_profile
from prof_analysis.analyses.answering import answer_of
from prof_analysis.common.command_line import query_line
from prof_analysis.common.options import ProfileOptions
from prof_analysis.common.user_cache import VARIABLE
from prof_analysis.engine.tables import documented_tables
from prof_analysis.pictures.report.sections import SECTIONS
from prof_analysis.pictures.report.verdict import SAID_BY, section_of
from tests.advice.findings import RULES, assert_it_can_be_used
from tests.helpers import secrets
from tests.helpers.cli import Command, files_below, only_json, shown_on_terminal
from tests.helpers.places import CHECKOUT, SAMPLE
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, write_profile
from tests.test_docs import anchor

# Two steps of 10,000 ns on the device, most of which it idles between them.
STEPS = ((1, 0, 10_000), (2, 10_000, 20_000))
OPS = (Op("aten::mm", 100, 200, (Kernel("k", 500, 1000),)), Op("aten::mm", 10_100, 10_200, (Kernel("k", 20_000, 20_500),)))
# What a rule finds: rank (None for all together), title, module, op, type, evidence, count, time and win over both steps, kind.
FOUND = """
        (0, 'on both', NULL, 'aten::mm', NULL, '4 here', 4, 4000, 4000, 'exact cause'),
        (1, 'on both', NULL, 'aten::mm', NULL, '1 here', 1, 4000, 1000, 'exact cause'),
        (1, 'on one', NULL, NULL, NULL, '3 here', 3, 4000, 3000, 'exact cause'),
        (0, 'alike', 'Net/Layer', 'aten::mm', 'MatMul', '7 here', 7, 3000, 2000, 'upper bound'),
        (1, 'alike', 'Net/Layer', 'aten::mm', 'MatMul', '6 here', 6, 3000, 1800, 'upper bound'),
        (NULL, 'of all ranks', NULL, NULL, NULL, 'mean', 2, 800, 600, 'upper bound'),
        (0, 'just large enough', NULL, NULL, NULL, 'small', 1, 100, 100, 'upper bound'),
        (1, 'another', NULL, NULL, NULL, 'small', 1, 200, 200, 'upper bound'),
        (0, 'hint', NULL, NULL, NULL, 'no time', NULL, NULL, NULL, 'hint')
"""
OWN_RULE = f"""-- One row is what this test finds on a rank.
--
-- @columns profile to sql as in advice.finding_of_rank
WITH planned (rank_id, title, module, op, kernel_type, evidence, count, time_ns, win_ns, kind) AS (
    VALUES{FOUND}
)
SELECT
    rank_step.profile,
    planned.rank_id::INTEGER AS rank_id,
    planned.title,
    planned.module::VARCHAR AS module,
    planned.op::VARCHAR AS op,
    planned.kernel_type::VARCHAR AS kernel_type,
    planned.evidence,
    planned.count::BIGINT AS count,
    planned.time_ns::BIGINT AS time_ns,
    planned.win_ns::BIGINT AS win_ns,
    planned.kind,
    'Do it.' AS what_to_do,
    'ours.md#planned' AS doc,
    'FROM across.rank_step' AS sql
FROM planned
LEFT JOIN across.rank_step ON rank_step.rank_id = planned.rank_id
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks in which our rules find nothing of this size, and a rule of a user that finds what FOUND says."""
    folder = tmp_path_factory.mktemp("advice")
    for rank in range(2):
        write_profile(folder / "job" / f"{rank}_ascend_pt", OPS, steps=STEPS, rank=rank)
    (folder / "sql" / "advice").mkdir(parents=True)
    (folder / "sql" / "advice" / "planned.sql").write_text(OWN_RULE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def opened(job: Path) -> Iterator[Profile]:
    """The same ranks, with our rules alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(job / "job", cache=job / "store") as profile:
            yield profile


def finding_id(rule: str, *identity: str | None) -> str:
    return md5("\0".join([rule, *(one or "" for one in identity)]).encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("every.least_shares=0.1", ("no threshold every.least_shares", "did you mean every.least_share")),
        ("nothing.like=1", ("no threshold nothing.like", "`prof-analysis table advice.threshold -d PATH`")),
        ("every.least_share", ("such as every.least_share=0.01",)),
        ("every.least_share=much", ("such as every.least_share=0.01",)),
        ("every.least_share=nan", ("a number for rule.name",)),
        ("every.least_share=inf", ("a number for rule.name",)),
        ("least_share=1", ("a number for rule.name",)),
    ],
)
def test_a_threshold_that_is_none_is_refused(command: Command, job: Path, text: str, said: tuple[str, ...]) -> None:
    done = command("advise", job / "job", "--threshold", text)
    assert done.exit_code == 2
    assert " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.stderr).split()) == says(*said)


def test_every_finding_has_the_command_that_shows_its_evidence(command: Command, job: Path) -> None:
    words = ["--sql-folder", job / "sql", "--json", "--quiet", "--top", "3", "--cache", job / "store"]
    summary = only_json(command("advise", job / "job", *words))["summary"]
    assert (summary["ranks"], len(summary["findings"])) == (2, 3)
    (line,) = {row["command"] for row in summary["findings"]}
    sql = "FROM across.rank_step"
    assert line == f'prof-analysis sql -d {job / "job"} --sql-folder {job / "sql"} "{sql}"'
    asked = only_json(command(*shlex.split(line)[1:], "--json", "--quiet", "--cache", job / "store"))
    assert [row["rank_id"] for row in asked["rows"]] == [0, 1]


@pytest.mark.parametrize(
    ("path", "options", "query", "expected"),
    [
        ("result", {}, "FROM a.b", 'result "FROM a.b"'),
        ("my result", {}, "FROM a.b WHERE c = 'd'", "'my result' \"FROM a.b WHERE c = 'd'\""),
        ("result", {}, 'FROM a."b"', "result 'FROM a.\"b\"'"),
        ("result", {}, "SELECT '$x'", "result 'SELECT '\"'\"'$x'\"'\"''"),
        ("result", {"step_id": 3, "audit_links": True}, "FROM a.b", 'result --step-id 3 --audit-links "FROM a.b"'),
        ("r", {"module_domains": ("A", "B C")}, "FROM a.b", "r --module-domain 'A,B C' \"FROM a.b\""),
        ("r", {"thresholds": {"a.b": 1}, "workers": 2, "cache": "none"}, "FROM a.b", 'r "FROM a.b"'),
    ],
)
def test_a_line_to_copy_is_quoted_for_a_shell(path: str, options: dict[str, Any], query: str, expected: str) -> None:
    line = query_line([path], ProfileOptions(**options), query)
    assert line == f"prof-analysis sql -d {expected}"
    assert shlex.split(line)[-1] == query


def test_the_screen_says_what_to_change_first_why_and_how(command: Command, job: Path) -> None:
    words = ("advise", job / "job", "--sql-folder", job / "sql", "--quiet", "--cache", job / "store")
    done = command(*words)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split("  ")[0] == "finding"
    assert re.sub("  +", "|", lines[1]) == "1. on both|2.00 us|20.0%|aten::mm, rank 0"
    first = lines.index("1. on both: 2.00 us of a step (20.0%, exact cause)")
    assert lines[first : first + 5] == [
        "1. on both: 2.00 us of a step (20.0%, exact cause)",
        "   where     aten::mm, rank 0",
        "   evidence  4 here; on both ranks, most on rank 0",
        "   to do     Do it.",
        f'   prof-analysis sql -d {job / "job"} --sql-folder {job / "sql"} "FROM across.rank_step"',
    ]
    assert "   to do     as in 1" in lines
    assert not [line for line in lines if line.startswith("6. ") and line.endswith(")")], "the first five are explained"
    asked_for = command(*words, "--top", "6").stdout.splitlines()
    assert [line for line in asked_for if line.startswith("6. ") and line.endswith(")")], "or as many as somebody asks for"
    (count,) = (line for line in lines if "never add them up" in line)
    assert re.match(r"\d+ findings; ", count)
    assert says("exact cause: ", "upper bound: ") in lines


def test_rules_that_lack_data_say_which_and_what_records_it(command: Command, job: Path) -> None:
    done = command("advise", job / "job", "--json", "--quiet", "--cache", job / "store")
    summary = only_json(done)["summary"]
    lacking = {row["rule"]: row for row in summary["not_judged"]}
    assert lacking["memory_limit"]["ranks"] == 2
    assert "profile_memory=True" in lacking["memory_limit"]["reason"]
    assert lacking["memory_limit"]["level"] == 2
    assert lacking["low_clock"]["level"] is None
    assert {*summary["judged"]} | lacking.keys() == {name.partition(".")[2] for name in RULES}
    assert "memory_limit" not in summary["judged"]
    said = command("advise", job / "job", "--quiet", "--cache", job / "store").stdout
    assert re.search(r"^memory_\w+, .*memory_limit.* cannot be judged: .*profile_memory=True", said, re.MULTILINE)
    assert re.search(
        r'^record with prof_analysis.collect.profiler\("result", level=2\) to judge \d+ rules too$', said, re.MULTILINE
    )


@pytest.mark.slow
def test_where_nothing_is_found_the_rules_that_were_judged_are_counted(command: Command, tmp_path: Path) -> None:
    write_profile(tmp_path / "0_ascend_pt", (Op("aten::mm", 100, 200, (Kernel("k", 150, 99_000),)),), steps=((1, 90, 99_000),))
    said = command("advise", tmp_path, "--quiet", "--cache", "none", "--threshold", "every.least_share=2").stdout
    assert re.match(r"no finding: \d+ rules found nothing to change\n", said)


@pytest.mark.slow
def test_several_runs_have_findings_of_their_own(command: Command, tmp_path: Path, job: Path) -> None:
    for number, run in enumerate(("before", "after")):
        later = [(step, start + number * 10**12, end + number * 10**12) for step, start, end in STEPS]
        ops = [
            Op(op.name, op.start + number * 10**12, op.end + number * 10**12, tuple(
                Kernel(kernel.name, kernel.start + number * 10**12, kernel.end + number * 10**12) for kernel in op.kernels
            ))
            for op in OPS
        ]  # fmt: skip
        write_profile(tmp_path / run / "0_ascend_pt", ops, steps=later)
    done = command("advise", tmp_path, "--sql-folder", job / "sql", "--json", "--quiet", "--cache", "none")
    content = only_json(done)
    assert set(content["runs"]) == {"before", "after"}
    for facts in content["runs"].values():
        assert facts["findings"][0]["finding_id"] == finding_id("planned", "on both", None, "aten::mm", None)
        assert {row["ranks"] for row in facts["not_judged"]} == {1}, "ranks of this run alone"


@pytest.mark.slow
def test_written_evidence_is_text(tmp_path: Path, job: Path) -> None:
    folder = tmp_path / "sql" / "advice"
    folder.mkdir(parents=True)
    formula = OWN_RULE.replace("'4 here'", "'=HYPERLINK(\"http://x\")'")
    (folder / "planned.sql").write_text(formula, encoding="utf-8")
    with open_profile(job / "job", sql=tmp_path / "sql", cache=job / "store") as profile:
        for export_type in ("csv", "db", "xlsx"):
            files = profile.export(tmp_path, export_type, "advise")
            assert files
    written = (tmp_path / "cluster_analysis_output" / "finding.csv").read_text(encoding="utf-8")
    assert "'=HYPERLINK" in written
    with closing(sqlite3.connect(tmp_path / "cluster_analysis_output" / "cluster_analysis.db")) as database:
        (evidence,) = database.execute("SELECT evidence FROM Finding WHERE title = 'on both'").fetchone()
    assert evidence.startswith("=HYPERLINK"), "a database has no formulas"


@pytest.mark.slow
def test_evidence_has_no_secret(tmp_path: Path) -> None:
    root = tmp_path / "home" / secrets.USER / secrets.PROJECT
    for rank in (0, 1):
        secrets.write_secret(root / "job", rank)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(root / "job", anonymize=True, thresholds={"every.least_share": 0}) as profile:
            answer = answer_of(profile, "advise", 100)
    assert answer.facts["findings"]
    assert secrets.leaks(str(answer.facts)) == []
    assert secrets.leaks(str(answer.blocks)) == []


@pytest.fixture(scope="module")
def sample() -> Iterator[Profile]:
    with open_profile(SAMPLE / "decoder_training", thresholds={"every.least_share": 0}) as profile:
        yield profile


def assert_findings_can_be_used(profile: Profile) -> None:
    """Every finding has its kind, its page, a query that shows rows, and an identity of its own."""
    found = profile.rows("FROM advice.finding")
    assert len({row["finding_id"] for row in found}) == len(found)
    for row in found:
        assert_it_can_be_used(row)
        assert (row["win_ns_per_step"] is None) is (row["kind"] == "hint" or row["win_share"] is None), row
        assert row["win_ns_per_step"] is None or row["win_ns_per_step"] >= 0, row
        assert row["win_share"] is None or 0 <= row["win_share"] <= 1, row
        assert profile.rows(row["sql"]), row["sql"]
    titles = {(row["rule"], row["module"], row["op"], row["kernel_type"], row["title"]) for row in found}
    assert len(titles) == len(found)


@pytest.mark.slow
def test_findings_of_the_sample_can_be_used(sample: Profile) -> None:
    assert_findings_can_be_used(sample)


@pytest.mark.slow
def test_findings_are_the_same_in_a_database_and_in_text_exports(tmp_path: Path) -> None:
    generate(tmp_path / "job", Shape(steps=2, layers=1), ranks=1, style=TextStyle(exports="both"))
    before = files_below(tmp_path / "job")
    found: list[set[tuple[str, str]]] = []
    judged: list[set[str]] = []
    for source in ("db", "text"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProfAnalysisWarning)
            with open_profile(tmp_path / "job", source=source) as profile:
                assert_findings_can_be_used(profile)
                judged.append({row["rule"] for row in profile.rules() if row["reason"] is None})
                found.append({(row["rule"], row["finding_id"]) for row in profile.rows("FROM advice.finding")})
    of_both = judged[0] & judged[1]
    assert found[0]
    assert {one for one in found[0] if one[0] in of_both} == {one for one in found[1] if one[0] in of_both}
    assert files_below(tmp_path / "job") == before


PROFILES = (
    *(f"alexnet_ddp_910b/{kind}/level{level}" for kind in ("db", "text") for level in (0, 1)),
    "alexnet_ddp_910b_mstx", "alexnet_ddp_910a/text/level1", "qwen3_0.6b_pp2dp2_910b",
    "qwen3_32b_vllm_a3/*.csv", "dsv3_vllm_a3/*.csv", "gpu_kineto/h100/*.gz", "gpu_kineto/mi300/*.gz", "gpu_kineto/mi300_vllm",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PROFILES)
def test_all_rules_judge_real_profiles(realdata: Path, pattern: str) -> None:
    folders = sorted(realdata.glob(pattern))
    assert folders
    for folder in folders:
        before = files_below(folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProfAnalysisWarning)
            for share in (0.005, 0):
                with open_profile(folder, thresholds={"every.least_share": share}) as profile:
                    assert_findings_can_be_used(profile)
                    assert not profile.failures
        assert files_below(folder) == before


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_explained_and_names_what_it_requires(name: str) -> None:
    rule = name.partition(".")[2]
    (page,) = set(re.findall(r"'(docs/[^']+)' AS \"doc\"", RULES[name].body))
    assert page == f"docs/rules.md#{rule.replace('_', '-')}"
    headings = re.findall(r"^#+ (.+)$", (CHECKOUT / "docs" / "rules.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert rule.replace("_", "-") in map(anchor, headings)
    assert RULES[name].requires
    assert RULES[name].counts


@pytest.mark.parametrize("name", RULES)
def test_the_query_of_every_rule_runs_and_leads_to_a_section(opened: Profile, name: str) -> None:
    queries = queries_of(name)
    assert queries, "the query is a text that begins with FROM or SELECT"
    for query in queries:
        opened.rows(query)
        assert section_of(query) in SECTIONS


def queries_of(name: str) -> list[str]:
    """Return the queries of a rule that show its evidence."""
    body = re.sub(r"'\s*\|\| '", "", RULES[name].body)
    return [text.replace("''", "'").replace("{}", "x") for text in re.findall(r"'((?:FROM|SELECT) (?:[^']|'')+)'", body)]


# So wide are cells of times and bytes, and of other figures; a text keeps so much at least where the line is short.
TIME, FIGURE, TEXT, FIRST_TEXT = 13, 9, 14, 28


@pytest.mark.parametrize("name", RULES)
def test_the_query_of_every_rule_shows_its_figures_in_80_columns_the_largest_first(opened: Profile, name: str) -> None:
    for query in queries_of(name):
        assert re.search(r"\bORDER BY .+ LIMIT \d+$", query), f"rows in their order, and not too many: {query}"
        schema = opened.sql(query, arrow=True).schema
        wide = 0
        for number, field in enumerate(schema):
            is_text = pyarrow.types.is_string(field.type) or pyarrow.types.is_dictionary(field.type)
            least = (
                FIRST_TEXT if not number else TEXT if is_text else TIME if field.name.endswith(("_ns", "_bytes")) else FIGURE
            )
            wide += 2 + (least if is_text else max(least if number else TIME, len(field.name)))
        assert wide - 2 <= 80, f"{wide} columns: {query}"
        figures = [field for field in schema if pyarrow.types.is_integer(field.type) or pyarrow.types.is_floating(field.type)]
        assert figures or name == "advice.environment", f"no figure: {query}"


@pytest.mark.slow
def test_evidence_is_seen_on_a_terminal_of_80_columns(sample: Profile) -> None:
    (row,) = sample.rows("SELECT sql FROM advice.finding WHERE win_ns_per_step > 0 LIMIT 1")
    names = sample.sql(row["sql"], arrow=True).column_names
    shown = shown_on_terminal(("sql", "-d", SAMPLE / "decoder_training", row["sql"], "-q"), with_stdout=True)
    assert re.findall(r"\w+", re.sub(r"\x1b\[[0-9;]*m", "", shown.splitlines()[0])) == names


def test_every_rule_says_which_time_it_counts(opened: Profile) -> None:
    counted = {row["rule"] for row in opened.rows("FROM advice.counted_time")}
    assert counted == {name.partition(".")[2] for name in RULES}


@pytest.mark.slow
def test_a_finding_says_which_one_above_it_counts_the_same_time(sample: Profile) -> None:
    rows = sample.rows("FROM advice.finding")
    place = {row["finding_id"]: number for number, row in enumerate(rows)}
    shared = [row for row in rows if row["shared_with"] is not None]
    assert shared
    for row in shared:
        other = rows[place[row["shared_with"]]]
        assert place[row["shared_with"]] < place[row["finding_id"]]
        assert row["shared_ns_per_step"] == min(row["win_ns_per_step"], other["win_ns_per_step"])
    # Two findings about the same kernels always do.
    kernels = {"block_dim", "memory_bound", "no_bound", "scalar_bound", "slow_matmul"}
    seen: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        if row["rule"] in kernels and row["win_ns_per_step"] and row["rank_id"] is None:
            where = tuple(row[part] for part in ("module", "op", "kernel_type"))
            assert (row["shared_with"] is not None) or where not in seen, row
            seen[where] = row


def test_thresholds_belong_to_rules_and_say_what_they_do(opened: Profile) -> None:
    rows = opened.rows("FROM advice.threshold")
    assert {row["rule"] for row in rows} <= {"every", *(name.partition(".")[2] for name in RULES)}
    assert len({(row["rule"], row["name"]) for row in rows}) == len(rows)
    assert all(row["meaning"] and row["value"] is not None for row in rows)
    known = {name: {one.name for one in table.thresholds} for name, table in documented_tables().items() if table.thresholds}
    assert sum(map(len, known.values())) == len(rows)
    for name, table in RULES.items():
        read = set(re.findall(r"name = '(\w+)'", table.body[: table.body.find("FROM advice.threshold") + 1]))
        assert read - {"long_ns"} <= known.get(name, set()), f"{name} reads a threshold that its head does not have"


def test_what_the_report_leaves_out_is_said_by_a_rule() -> None:
    assert {f"advice.{rule}" for rule in SAID_BY} <= RULES.keys()


def test_an_own_table_that_is_no_rule_is_refused_with_the_lines_to_write(job: Path, tmp_path: Path) -> None:
    (tmp_path / "advice").mkdir()
    (tmp_path / "advice" / "mine.sql").write_text("-- One row is a number.\n--\n-- x  INTEGER  a number\nSELECT 1 AS x")
    with pytest.raises(InputError, match=r"mine\.sql: is no rule.* @title, @evidence, @kind and @remedy"):
        open_profile(job / "job", sql=tmp_path)


@pytest.mark.slow
def test_the_guide_to_own_rules_holds(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (CHECKOUT / "docs" / "advise.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"<!-- (\S+) -->\n```\w*\n(.+?)```", guide, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept"))
    (tmp_path / "result").symlink_to(SAMPLE / "decoder_training")
    (tmp_path / "sql" / "advice").mkdir(parents=True)
    (tmp_path / "sql" / "advice" / "plain_product.sql").write_text(blocks["advice/plain_product.sql"], encoding="utf-8")
    for line in (blocks["own"] + blocks["thresholds"]).splitlines():
        done = command(*shlex.split(line)[1:])
        assert (done.exit_code, done.stderr) == (0, ""), line
    with open_profile("result", sql="sql", thresholds={"every.least_share": 0}) as profile:
        # On this rank the device waits for the host after them, so that they are no finding of the run.
        found = profile.rows("FROM advice.finding_of_rank WHERE rule = 'plain_product' AND rank_id = 0")
        kernels = profile.rows("SELECT sum(kernel_count) AS n FROM kernels.work WHERE type = 'Mul' GROUP BY rank_id")
    assert found
    assert sum(row["count"] for row in found) == kernels[0]["n"] == kernels[1]["n"]
