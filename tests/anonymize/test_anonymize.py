"""--anonymize: no output holds what identifies people or machines, and every figure stays."""

import io
import json
import re
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import pytest

import prof_analysis
from prof_analysis import InputError, ProfAnalysisWarning, Profile, open_profile, open_profiles
from prof_analysis.analyses import ANALYSES, PICTURES
from prof_analysis.analyses.answering import answer_of
from prof_analysis.anonymous.texts import Anonymous
from prof_analysis.cli import terminal
from prof_analysis.exports import ExportType
from prof_analysis.profile.command import command_line
from tests.helpers import secrets
from tests.helpers.cli import Command, break_database
from tests.helpers.secrets import contents, leaks
from tests.helpers.slow import quick

# Tables of no analysis, with threads and calls.
ALSO = ("trace.op", "trace.host_api", "trace.process", "free.longest_gap")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the user with a job of two ranks, a slower one, a GPU trace, a database of Nsight Systems and a log."""
    root = tmp_path_factory.mktemp("data") / "home" / secrets.USER / secrets.PROJECT
    for rank in (0, 1):
        secrets.write_secret(root / "job", rank)
    secrets.write_secret(root / "other", 0, slower=30)
    secrets.write_secret_trace(root / "gpu")
    secrets.write_secret_text(root / "text")
    secrets.write_secret_nsys(root / "nsys")
    secrets.write_secret_log(root / "zzq.log")
    return root


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What tests of the same profile share, so that each rank is read once."""
    return tmp_path_factory.mktemp("zzqstore")


@dataclass(frozen=True)
class Both:
    """A profile as it is, the same one anonymous, the analyses to ask, their tables, and the formats to write."""

    plain: Profile
    anonymous: Profile
    names: list[str]
    tables: list[str]
    formats: list[ExportType]


SOME = ["module-stats", "mstx-stats"]


@pytest.fixture(scope="module", params=quick(["some of job", "job", "gpu", "text", "nsys"], 0))
def both(root: Path, store: Path, request: pytest.FixtureRequest) -> Iterator[Both]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        path = root / request.param.removeprefix("some of ")
        with open_profile(path, cache=store) as plain, open_profile(path, cache=store, anonymize=True) as anonymous:
            assert answered(anonymous) == answered(plain)
            is_quick = request.param == "some of job"
            names = SOME if is_quick else answered(plain)
            tables = sorted({*(table for name in names for table in tables_of(name)), *(ALSO[:2] if is_quick else ALSO)})
            for profile in (plain, anonymous):
                profile.provide(tuple(tables))
            formats = [one for one in ExportType if not is_quick or one in ("csv", "json")]
            yield Both(plain, anonymous, names, tables, formats)


def tables_of(name: str) -> list[str]:
    return [*ANALYSES[name].tables, *ANALYSES[name].of_several_ranks]


def answered(profile: Profile) -> list[str]:
    """The analyses that a profile answers."""
    (row,) = {tuple(row["answers"]) for row in profile.ranks(arrow=True).to_pylist()}
    return list(row)


def is_id(column: str) -> bool:
    """Whether a column has ids of processes or threads."""
    return column == "pid" or column.endswith("tid")


def test_every_figure_of_every_table_stays(both: Both) -> None:
    assert {"module-stats", "mstx-stats", "free-time"} <= {*answered(both.plain)}
    for table in both.tables:
        ours, theirs = (profile.table(table, arrow=True) for profile in (both.plain, both.anonymous))
        assert ours.schema == theirs.schema, table
        for column in ours.column_names:
            if str(ours.schema.field(column).type) not in ("string", "list<element: string>", "list<l: string>"):
                has_same = ours.column(column).equals(theirs.column(column))
                assert has_same != (is_id(column) and ours.num_rows > 0), (table, column)
            else:  # A text that is another one has a replacement of its own, so that rows are found and joined as before.
                pairs = {
                    *zip(map(str, ours.column(column).to_pylist()), map(str, theirs.column(column).to_pylist()), strict=True)
                }
                assert len(pairs) == len({text for text, _ in pairs}) == len({text for _, text in pairs}), (table, column)


def test_no_answer_on_the_screen_or_in_json_has_a_secret(both: Both) -> None:
    plain, anonymous = both.plain, both.anonymous
    found, have_marks = [], 0
    for name in both.names:
        printed = []
        for profile in (plain, anonymous):
            answer = answer_of(profile, name, 100)
            with redirect_stdout(io.StringIO()) as screen:
                terminal.print_answer(answer, ())
            printed.append(screen.getvalue() + json.dumps(answer.facts, default=str, ensure_ascii=False))
        found += [(name, leak) for leak in leaks(printed[1])]
        have_marks += bool(leaks(printed[0]))
    assert not found
    assert have_marks > min(4, len(both.names) - 1), "a mark that no answer holds shows nothing"
    assert not leaks("\n".join([*anonymous.warnings, *anonymous.failures, repr(anonymous), anonymous._repr_html_()]))
    assert not leaks(str(anonymous.ranks(arrow=True).to_pylist()))
    assert leaks(repr(plain))


def written(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def test_no_export_has_a_secret(both: Both, tmp_path: Path) -> None:
    plain, anonymous = both.plain, both.anonymous
    plain.export(tmp_path / "plain", "db", "mstx-stats")
    assert [leak for file in written(tmp_path / "plain") for text in contents(file) for leak in leaks(text)]
    for name in both.names:
        anonymous.export(tmp_path / "anonymous", "db", name)
    for export_type in both.formats:
        anonymous.export(tmp_path / "anonymous", export_type, "module-stats" if export_type in PICTURES else "mstx-stats")
    files = written(tmp_path / "anonymous")
    all_suffixes = {".db", ".xlsx", ".csv", ".parquet", ".json", ".duckdb", ".gz", ".txt"}
    assert {file.suffix for file in files} == ({".db", ".csv", ".json"} if both.names == SOME else all_suffixes)
    assert not [(file, leak) for file in files for text in contents(file) for leak in leaks(text)]
    assert {file.relative_to(tmp_path / "anonymous").parts[0] for file in files} == {"cluster_analysis_output_anonymous"}


@pytest.mark.slow
def test_what_is_in_place_of_secrets(root: Path, store: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(root / "job", cache=store, anonymize=True) as profile:
            rows = profile.rows("SELECT name FROM trace.op WHERE name <> 'aten::mul' AND rank_id = 0 ORDER BY start_ns")
            frames = profile.rows("SELECT frame FROM stack.by_frame WHERE rank_id = 0 AND frame IS NOT NULL ORDER BY ALL")
            groups = {row["group_name"] for row in profile.rows("SELECT group_name FROM communication.statistic")}
            labels = {row["label"] for row in profile.rows("SELECT label FROM trace.parallel_group")}
            ranks = profile.ranks(arrow=True).to_pylist()
            threads = profile.rows(
                "SELECT DISTINCT tid >> 32 AS process, tid & 4294967295 AS thread FROM trace.op ORDER BY ALL"
            )
            processes = profile.rows("SELECT DISTINCT pid FROM trace.process")
    assert [row["name"] for row in rows] == [
        "read path4 now",
        "path2",
        "address3",
        "user1@host6",
        "worker on host1: process1",
        "to address7 and address8",
        "compiled user_file_1.py",
        "address6",
        "init address4 now",
        "wait for host4 to come",
        "path3",
        "mounted from host2 twice",
        "mailed user2@host5",
        "made by user2 today",
        "login secret2",
        "api_key=secret1, tries=1500",
        "volume id1 is here",
        "join address5 now",
        "card address1",
        "address2",
        "path5",
    ]
    assert [row["frame"] for row in frames] == [
        "<string>(2): function_2",
        "<string>(4): __init__",
        "threading.py(980): run",
        "torch/nn/modules/module.py(1501): _call_impl",
        "user_file_2.py(12): function_1",
        "user_file_3.py(3): function_2",
        "user_file_4.py(7): forward",
    ]
    assert labels == {"group1"}
    assert groups == {"address9"}
    assert [(row["profile"], row["folder"], row["files"]) for row in ranks] == [
        (f"rank{rank}", f"rank{rank}", [f"profiler_info_{rank}.json", f"ascend_pytorch_profiler_{rank}.db"]) for rank in (0, 1)
    ]
    assert threads == [{"process": 1, "thread": 1}, {"process": 1, "thread": 2}]
    assert processes == [{"pid": 1}]


QUERIES = (
    "SELECT profile, name, tid FROM trace.op",
    "SELECT sql FROM duckdb_views() WHERE NOT internal",
    "SELECT current_setting('temp_directory') AS folder",
    "SELECT content FROM read_text('{root}/zzq.log')",
)
LINES = (
    "ranks {root}/job",
    "ranks {root}/gpu --json",
    "mstx-stats -d {root}/job -o {out} --export-type csv",
    "mstx-stats -d {root}/job -o {out} --export-type xlsx --json",
    "table trace.op -d {root}/job -o {out}",
    "stage-durations {root}/zzq.log -o {out}",
    "stage-durations {root}/zzq.log --json",
)
COMMANDS = [*map(str.split, LINES), *(["sql", "-d", "{root}/job", query] for query in QUERIES)]
COMPARISONS = (
    "compare {root}/job {root}/other -o {out} --per run",
    "compare {root}/job {root}/other {root}/job --json",
    "compare {root}/job {root}/gpu",
)


def assert_no_secrets(command: Command, line: list[str], root: Path, out: Path, store: Path) -> None:
    words = [word.format(root=root, out=out) for word in line]
    kept = () if words[0] in ("ranks", "stage-durations") else ("--cache", store)
    leave = ("--allow-files",) if "read_text" in words[-1] else ()
    result = command(*words, *kept, *leave, "--anonymize")
    assert not leaks(result.output), words
    assert result.exit_code == (2 if words[-1].endswith("gpu") and words[0] == "compare" else 0), result.output
    assert not [(file, leak) for file in written(out) for text in contents(file) for leak in leaks(text)]


@pytest.mark.parametrize("lines", quick([COMMANDS[:3:2], COMMANDS], 0), ids=["some", "all"])
def test_the_command_prints_and_writes_no_secret(
    root: Path, tmp_path: Path, store: Path, command: Command, lines: list[list[str]]
) -> None:
    for line in lines:
        assert_no_secrets(command, line, root, tmp_path / "zzq out", store)
    assert len(written(tmp_path / "zzq out")) > (3 if lines == COMMANDS else 0)
    assert leaks(command("ranks", root / "job").output), "a mark that no answer holds shows nothing"


@pytest.mark.slow
@pytest.mark.parametrize("line", COMPARISONS)
def test_a_comparison_prints_and_writes_no_secret(root: Path, tmp_path: Path, store: Path, command: Command, line: str) -> None:
    assert_no_secrets(command, line.split(), root, tmp_path / "zzq out", store)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["job", "gpu", "text", ""])
def test_no_command_and_no_format_has_a_secret(root: Path, tmp_path: Path, store: Path, command: Command, path: str) -> None:
    for name in ANALYSES:
        for words in (["--json"], *(["-o", f"{tmp_path}/zzq", "--export-type", one] for one in ExportType)):
            result = command(name, root / path, "--cache", store, "--anonymize", *words)
            assert not leaks(result.output), (name, words)
    assert len(written(tmp_path)) > 40
    assert not [(file, leak) for file in written(tmp_path) for text in contents(file) for leak in leaks(text)]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["job", "gpu", "text"])
def test_no_report_has_a_secret_and_its_foot_says_so(root: Path, tmp_path: Path, command: Command, path: str) -> None:
    pages = {}
    for name, words in (("plain", ()), ("anonymous", ("--anonymize",))):
        assert command("report", root / path, "-o", tmp_path / f"{name}.html", *words).exit_code == 0
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        pages[name] = re.sub(r'<script type="text/plain" id="library">.*?</script>', "", page, flags=re.DOTALL)
    assert leaks(pages["plain"])
    assert not leaks(pages["anonymous"])
    assert "<footer>Not anonymised: " in pages["plain"]
    assert "<footer>Anonymised: " in pages["anonymous"]


@pytest.mark.parametrize(
    "words",
    [
        ["ranks", "{root}/zzqnothing"],
        ["module-stats", "{root}/job", "--cache", "{root}/zzq.log/store"],
        ["module-stats", "{root}/job", "-o", "{root}/zzq.log"],
        ["module-stats", "{root}/job", "--rank-list", "7"],
        ["mfu", "{root}/job", "--sql-folder", "{root}/zzqsql"],
        ["sql", "-d", "{root}/job", "--file", "{root}/zzq.sql"],
        ["sql", "-d", "{root}/job", "SELECT * FROM zzqx.zzqy"],
        ["memory", "{root}/job"],
        ["stage-durations", "{root}/zzqno.log"],
        ["compare", "{root}/job", "{root}/zzqno"],
        ["module-stats", "{root}/zzq", "{root}/zzq2"],
    ],
)
def test_no_error_has_a_secret_of_a_path(root: Path, store: Path, command: Command, words: list[str]) -> None:
    kept = () if "--cache" in words or words[0] in ("ranks", "stage-durations") else ("--cache", store)
    for more in ([], ["--json"]):
        result = command(*(word.format(root=root) for word in words), "--anonymize", *more, *kept)
        assert result.exit_code in (2, 3)
        found = [leak for leak in leaks(result.output) if "zzqx.zzqy" not in leak]  # what the user wrote himself
        assert not found, result.output


def test_a_broken_rank_fails_without_secrets(tmp_path: Path, command: Command) -> None:
    root = tmp_path / "home" / secrets.USER
    secrets.write_secret(root, 0)
    break_database(secrets.write_secret(root, 1))
    result = command("module-stats", root, "--anonymize", "--debug")
    assert result.exit_code == 1
    assert "failed: rank1/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db" in result.stderr.replace("left out: ", "")
    assert not leaks(result.output)


@pytest.mark.slow
def test_warnings_in_python_have_no_secrets(root: Path, store: Path) -> None:
    with pytest.warns(ProfAnalysisWarning) as caught, open_profile(root, cache=store, anonymize=True) as profile:
        assert [run for run in profile.runs if leaks(run)] == []
        profile.module_stats()
        with profile.only(profile.runs[0]):
            assert not leaks(str(profile.rows("FROM module.statistic")))
        assert leaks(str(profile.path)), "what the caller gave is his"
    assert not leaks("\n".join(str(one.message) for one in caught))
    with pytest.raises(InputError) as failed:
        prof_analysis.module_stats(root / "zzqnothing", anonymize=True)
    assert not leaks(str(failed.value))


def test_names_of_runs_are_replaced_but_base_and_new(root: Path, store: Path) -> None:
    runs = {"base": root / "job", "zzq run": root / "other"}
    with open_profiles(runs, cache=store, anonymize=True) as profile:
        assert profile.runs == ("base", "run2")
        assert {row["profile"] for row in profile.rows("SELECT profile FROM trace.op")} == {
            "base/rank0",
            "base/rank1",
            "run2/rank0",
        }


def test_the_same_profile_has_the_same_replacements(root: Path, store: Path) -> None:
    def shown() -> list[object]:
        with open_profile(root / "job", cache=store, anonymize=True, threads=2) as profile:
            return [profile.table(name, arrow=True).to_pylist() for name in ("trace.op", "stack.by_frame", "mstx.statistic")]

    assert shown() == shown()


def test_an_anonymous_command_line_names_options_and_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["module-stats", "/zzq/job", "--anonymize", "-o/zzq", "--module-domain=Module,zzq", "--depth", "3", "zzq-table"]
    monkeypatch.setattr(sys, "argv", ["/zzq/bin/prof-analysis", *given])
    assert command_line(True) == "prof-analysis module-stats ... --anonymize -o --module-domain --depth ... ..."
    assert command_line(False) == " ".join(["prof-analysis", *given])
    monkeypatch.setattr(sys, "argv", ["/zzq/zzq.py", *given])
    assert command_line(True) == "a Python program"


@pytest.mark.slow
def test_the_provenance_of_an_export_names_options_and_no_values(root: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "prof_analysis", "module-stats", str(root / "job"), "--anonymize", f"-o{tmp_path}/zzq"]
    subprocess.run([*words, "--module-domain=Module,zzq", "--depth", "3", "--cache", "none"], check=True, capture_output=True)
    (file,) = tmp_path.rglob("*.db")
    with closing(sqlite3.connect(file)) as database:
        (row,) = database.execute("SELECT DISTINCT command, inputs FROM Provenance").fetchall()
    assert row == (
        "prof-analysis module-stats ... --anonymize -o --module-domain --depth ... --cache ...",
        '["rank0", "rank1"]',
    )


def test_a_group_keeps_the_name_that_a_framework_gave_it() -> None:
    anonymous = Anonymous()
    usual = (
        "default_group", "default_pg", "mesh_dp_cp", "TENSOR_MODEL_PARALLEL_GROUP", "hccl_world_group", "dp, tp", "0,1,2,3", "7"
    )  # fmt: skip
    assert [anonymous.shown(name, "group") for name in usual] == [*usual]
    assert anonymous.shown("zzqfirm_dp, tp", "group") == "group1, tp"
    assert anonymous.shown("group zzqfirm_dp waits") == "group zzqfirm_dp waits", "only what a column names is known as a group"
    anonymous.learn("zzqfirm_dp", "group")
    assert anonymous.shown("group zzqfirm_dp waits") == "group group1 waits"


TEXT_OF_EACH_KIND = {
    "aten::mm": "aten::mm",
    "Qwen2Model/Qwen2DecoderLayer[3]/Linear[0]": "Qwen2Model/Qwen2DecoderLayer[3]/Linear[0]",
    "void at::native::(anonymous namespace)::kernel<4, c10::BFloat16>(int, float*)": None,
    "aclnnMatmul_MatMulV2Common_MatMulV2": None,
    "1,2,3,4;5,6": None,
    "c10::dead::beef": None,
    "12:34:56": None,
    "8.1.RC1": None,
    "a / b": None,
    "</script><img src=x onerror='x'>": None,
    "nn.Module: Linear_0": None,
    "path1/trace_view.json": None,
    "at /data/zzq/trace_view.json: is damaged": "at path1/trace_view.json: is damaged",
    "at /data/zzq/trace_view.json and /data/zzq/b.txt": "at path1/trace_view.json and path2",
    "~zzq/a/b.txt": "path1",
    "C:\\Users\\zzq\\x.json": "path1",
    "\\\\zzqhost\\share\\x": "path1",
    "pid=123, tid: 45": "process1, process2",
    "(Worker pid=123)": "(Worker process1)",
    "10.0.0.1%eth0_6000_0_17": "address1",
    "fe80::1ff:fe23:4567:890a%eth2": "address1",
    "2001:db8:85a3::8a2e:370:7334 aa:bb:cc:dd:ee:ff": "address1 address2",
    "tcp://zzq:29500": "address1",
    "who@zzq.org": "user1",
    "net.py:12": "user_file_1.py:12",
    "user_file_7.py(3): function_4": None,
    "vllm/worker.py(3): f": "vllm/worker.py(3): f",
    "/home/zzq/vllm-ascend/vllm_ascend/ops/x.py(3): zzq": "vllm_ascend/ops/x.py(3): zzq",
    "/zzq/Megatron-LM/megatron/core/x.py(3): f": "megatron/core/x.py(3): f",
    "/zzq/env/lib/python3.10/site-packages/zzq/x.py(3): zzq": "user_file_1.py(3): function_1",
    "/zzq/lib/python3.10/asyncio/events.py(80): _run": "asyncio/events.py(80): _run",
    "logging/zzq.py(3): <module>": "user_file_1.py(3): <module>",
    "torch/a.py(5): f;/x/zzq.py(7): g;<built-in h>": "torch/a.py(5): f;user_file_1.py(7): function_1;<built-in h>",
    f'  File "{prof_analysis.__file__}", line 3, in f': '  File "prof_analysis/__init__.py", line 3, in f',
    "<string>(1): zzq": "<string>(1): function_1",
    "<string>(1): __init__": None,
    "<zzq>(1): forward": "user_file_1.py(1): forward",
    "<frozen importlib._bootstrap>(241): _call_with_frames_removed": None,
    '  File "<string>", line 3, in zzq': '  File "<string>", line 3, in function_1',
    "//zzqhost:8080/x and file:///home/zzq/x": "address1 and address2",
    "GPU-0badcafe-0011-2233-4455-66778899aabb": "GPU-id1",
    "HF_TOKEN=zzqzzqzzq password: 'zzqzzqzzq' max_token=128000": "HF_TOKEN=secret1 password: 'secret1' max_token=128000",
    "a.py(1): f > b.py(2): f": "user_file_1.py(1): function_1 > user_file_2.py(2): function_1",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXT_OF_EACH_KIND)
def test_what_a_text_becomes(text: str) -> None:
    anonymous = Anonymous()
    shown = anonymous.shown(text, "text")
    assert shown == (TEXT_OF_EACH_KIND[text] or text)
    assert anonymous.shown(shown, "text") == shown, "what is replaced twice stays"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/data/zzq;q/a b: is empty; give another", "path1: is empty; give another"),
        ("/data/zzq;q/a b/zzq.json.gz: is damaged", "path1/file1.json.gz: is damaged"),
        ("/n/zzq > ./r/ASCEND_PROFILER_OUTPUT/trace_view.json: is cut", "rank0/ASCEND_PROFILER_OUTPUT/trace_view.json: is cut"),
        ("/n/zzq > ./r/my zzq.json: is cut", "rank0/file1.json: is cut"),
        ("zzq/r: no kernels, and zzq/r holds none", "rank0: no kernels, and rank0 holds none"),
        ("/x/zzq/r: the worker on zzq.a-b.net has other code", "path2: the worker on host1 has other code"),
        ("run1 (rank zzq/r)", "run1 (rank rank0)"),
    ],
)
def test_what_a_sentence_becomes(text: str, expected: str) -> None:
    anonymous = Anonymous([Path("/data/zzq;q/a b")])
    anonymous.add_profile("zzq/r", "rank0")
    anonymous.add_folder(Path("/n/zzq > ./r"), "rank0")
    assert not leaks(expected)
    assert anonymous.shown(text).replace("host2", "host1") == expected
    assert anonymous.shown(anonymous.shown(text)) == anonymous.shown(text)


@pytest.mark.parametrize("length", [2_000, pytest.param(40_000, marks=pytest.mark.slow)])
def test_a_long_text_takes_no_longer_than_its_length(length: int) -> None:
    anonymous = Anonymous()
    pieces = [
        "/a",
        "x",
        "1.",
        "a/",
        "/ ",
        "_1",
        ":",
        "@",
        " /a b",
        "//a.",
        "\\a",
        "f:",
        ".py(",
        "~",
        "(1): ",
        "pid=",
        "a@",
        '"',
    ]
    before = process_time()
    for text in (piece * (length // len(piece)) + end for piece in pieces for end in ("", ".py", "!")):
        anonymous.shown(text, "frame")
        anonymous.shown(text, "sentence")
    assert process_time() - before < length / 2000, "1 s for 2,000 letters"
