"""What --cache keeps is the same answer, at once; what changed or broke is built anew."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from typer.testing import Result

from prof_analysis import OutputError, ProfAnalysisWarning, Profile, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

Command = Callable[..., Result]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    folder = tmp_path / "profiles"
    for rank in range(2):
        ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040 + rank),)),)
        write_profile(folder / f"{rank}_ascend_pt", ops, (Range("Net", 100, 200),), rank=rank)
    return folder


def times(profile: Profile) -> list[int]:
    answer: list[int] = profile.kernel_stats()["total_ns"].tolist()
    return answer


def written(store: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in store.rglob("*.parquet")}


def test_a_second_question_reads_the_store_and_not_the_profile(two: Path, tmp_path: Path) -> None:
    store = tmp_path / "kept"
    with open_profile(two, cache=store) as profile:
        rows = arrow_of(profile.op_stats()).to_pylist()
    before = written(store)
    read: list[int] = []
    with open_profile(two, cache=store, on_progress=lambda done, _: read.append(done)) as profile:
        assert arrow_of(profile.op_stats()).to_pylist() == rows
    assert (written(store), read) == (before, [])
    with open_profile(two) as profile:
        assert arrow_of(profile.op_stats()).to_pylist() == rows


def test_a_changed_input_and_another_question_are_built_anew(two: Path, tmp_path: Path) -> None:
    store = tmp_path / "kept"
    with open_profile(two, cache=store) as profile:
        assert times(profile) == [40, 41]
    edit(next(two.rglob("*_1.db")), "UPDATE TASK SET endNs = endNs + 5")
    with open_profile(two, cache=store) as profile:
        assert times(profile) == [40, 46]
    with open_profile(two, cache=store) as profile:
        assert profile.op_stats()["device_total_ns"].tolist() == [40, 46]


@pytest.mark.slow
@pytest.mark.parametrize("content", quick([b"", b"PAR1", b"PAR1" + b"x" * 500], 2))
def test_a_damaged_table_is_built_anew(two: Path, tmp_path: Path, content: bytes) -> None:
    store = tmp_path / "kept"
    with open_profile(two, cache=store) as profile:
        assert times(profile) == [40, 41]
    next(store.rglob("kernels.statistic.parquet")).write_bytes(content)
    with open_profile(two, cache=store) as profile:
        assert times(profile) == [40, 41]


@pytest.mark.slow
def test_warnings_are_told_again(two: Path, tmp_path: Path) -> None:
    edit(next(two.rglob("*_1.db")), "UPDATE PYTORCH_API SET sequenceNumber = 'x'")
    for _ in range(2):
        with (
            open_profile(two, cache=tmp_path / "kept") as profile,
            pytest.warns(ProfAnalysisWarning, match=r"1 value of PYTORCH_API.sequenceNumber"),
        ):
            profile.module_stats()


def test_warnings_of_a_table_that_is_kept_are_told_where_it_is_asked_with_others(two: Path, tmp_path: Path) -> None:
    edit(next(two.rglob("*_1.db")), "UPDATE PYTORCH_API SET sequenceNumber = 'x'")
    tables = ["module.statistic"], ["module.statistic", "module.lost_launch"]
    for asked in tables:
        with (
            open_profile(two / "1_ascend_pt", cache=tmp_path / "kept") as profile,
            pytest.warns(ProfAnalysisWarning, match=r"1 value of PYTORCH_API.sequenceNumber"),
        ):
            profile.rows(" UNION ALL ".join(f"SELECT count(*) FROM {table}" for table in asked))


def test_what_is_kept_is_plain_parquet(two: Path, tmp_path: Path) -> None:
    with open_profile(two, cache=tmp_path / "kept") as profile:
        frame = profile.kernel_stats()
    files = sorted((tmp_path / "kept").rglob("kernels.statistic.parquet"))
    assert pd.concat(pd.read_parquet(file) for file in files)["rank_id"].tolist() == frame["rank_id"].tolist()
    assert duckdb.read_parquet([str(file) for file in files]).aggregate("count(*)").fetchall() == [(2,)]


def test_ls_tells_what_is_current_and_clear_removes_only_entries(two: Path, tmp_path: Path, command: Command) -> None:
    store = tmp_path / "kept"
    assert command("kernel-stats", "-d", two, "--cache", store).exit_code == 0
    (store / "mine.txt").write_text("kept")
    (store / "mine").mkdir()
    os.utime(next(two.rglob("*_1.db")), (1, 1))
    listed = command("cache", "ls", "--cache", store)
    assert [line.split()[2] for line in listed.stdout.splitlines()[1:]] == ["unchanged", "changed"]
    kept = json.loads(command("cache", "ls", "--cache", store, "--json").stdout)["entries"]
    assert [(entry["profile"], entry["is_current"]) for entry in kept] == [("0_ascend_pt", True), ("1_ascend_pt", False)]
    assert "kernels.statistic" in kept[0]["tables"]
    assert command("cache", "clear", "--cache", store).stdout.startswith("removed 2 entries, ")
    assert sorted(file.name for file in store.iterdir()) == ["mine", "mine.txt"]


def test_a_store_that_cannot_be_made_is_named(two: Path, tmp_path: Path, command: Command) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="give --cache a folder you may write to"):
        open_profile(two, cache=tmp_path / "file")
    result = command("module-stats", "-d", two, "--cache", tmp_path / "file")
    assert (result.exit_code, result.stderr.startswith(f"error: {tmp_path / 'file'}")) == (3, True)


@pytest.mark.slow
def test_a_store_may_be_gone_at_the_next_question(two: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with open_profile(two, cache=tmp_path / "kept") as profile:
            assert times(profile) == [40, 41]
        shutil.rmtree(tmp_path / "kept")


@pytest.mark.parametrize("journal_mode", quick(["WAL", "PERSIST"], 0))
def test_what_a_writer_commits_into_a_journal_beside_the_database_is_seen(two: Path, tmp_path: Path, journal_mode: str) -> None:
    database = next(two.rglob("*_1.db"))
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute(f"PRAGMA journal_mode = {journal_mode}")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        for expected in (41, 541):
            with open_profile(two, cache=tmp_path / "kept") as profile:
                assert times(profile) == [40, expected]
            writer.execute("UPDATE TASK SET endNs = endNs + 500")


@pytest.mark.slow
def test_an_input_that_was_replaced_by_one_of_its_size_and_time_is_built_anew(two: Path, tmp_path: Path) -> None:
    database = next(two.rglob("*_1.db"))
    with open_profile(two, cache=tmp_path / "kept") as profile:
        assert times(profile) == [40, 41]
    before = database.stat()
    edit(database, "UPDATE TASK SET endNs = endNs + 5")
    os.utime(database, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert database.stat().st_size == before.st_size
    with open_profile(two, cache=tmp_path / "kept") as profile:
        assert times(profile) == [40, 46]


def test_a_store_that_is_not_there_is_named(tmp_path: Path, command: Command) -> None:
    for word in ("ls", "clear"):
        result = command("cache", word, "--cache", tmp_path / "nowhere")
        said = says(f"error: {tmp_path / 'nowhere'}: ", "no such folder", "--cache")
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", said)


@pytest.mark.slow
def test_warnings_come_in_the_order_of_the_ranks(two: Path, tmp_path: Path) -> None:
    for number, database in enumerate(sorted(two.rglob("*.db"), reverse=True)):
        edit(database, f"UPDATE PYTORCH_API SET sequenceNumber = '{'x' * (number + 1)}'")
    for _ in range(2):
        with warnings.catch_warnings(), open_profile(two, cache=tmp_path / "kept") as profile:
            warnings.simplefilter("ignore", ProfAnalysisWarning)
            profile.module_stats()
            named = [Path(warning.split(":")[0]).name for warning in profile.warnings if "sequenceNumber" in warning]
        assert named == ["ascend_pytorch_profiler_0.db", "ascend_pytorch_profiler_1.db"]


@pytest.mark.slow
def test_what_a_killed_run_left_unfinished_is_removed_and_nothing_else(two: Path, tmp_path: Path) -> None:
    store = tmp_path / "kept"
    with open_profile(two, cache=store) as profile:
        profile.op_stats()
    entry = next(store.iterdir())
    with killed_while_it_writes(entry) as left:
        assert left.is_dir()
    before = {file.name for file in entry.iterdir()} - {left.name}
    with open_profile(two, cache=store) as profile:
        profile.kernel_stats()
    assert not left.exists()
    assert {"about.json", "op.statistic.parquet"} < before < {file.name for file in entry.iterdir()}


@contextmanager
def killed_while_it_writes(entry: Path) -> Iterator[Path]:
    script = (
        "import sys, os, signal; from pathlib import Path; from prof_analysis.common.scratch import make_folder\n"
        "folder = make_folder(Path(sys.argv[1])).path; (folder / 'trace.op.parquet').write_bytes(b'PAR1')\n"
        "print(folder, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, entry], capture_output=True, text=True, check=False)
    yield Path(done.stdout.strip())


@pytest.mark.parametrize(
    "other", quick([{"depth": 3}, {"peak_tflops": "published"}, {"instances": True}, {"module_domains": "A"}], 0)
)
def test_an_option_that_a_table_does_not_read_builds_nothing_anew(two: Path, tmp_path: Path, other: Any) -> None:
    store = tmp_path / "kept"
    with open_profile(two, cache=store) as profile:
        rows = arrow_of(profile.op_stats()).to_pylist()
    before, read = written(store), list[int]()
    with open_profile(two, cache=store, on_progress=lambda done, _: read.append(done), **other) as profile:
        assert arrow_of(profile.op_stats()).to_pylist() == rows
    assert (written(store), read) == (before, [])


@pytest.mark.slow
def test_of_tables_that_read_another_option_only_these_are_built(two: Path, tmp_path: Path) -> None:
    store = tmp_path / "kept"
    with open_profile(two, cache=store) as profile:
        profile.module_stats()
    before = written(store)
    with open_profile(two, cache=store, depth=3) as profile:
        assert profile.module_stats()["total_kernel_duration_ns"].tolist() == [40, 41]
    new = {file.name.split(".parquet")[0] for file in written(store).keys() - before.keys()}
    assert {".".join(name.split(".")[:2]) for name in new} == {
        "module.statistic", "module.tree", "module.coverage", "module.lost_backward",
        "module.cost", "module.time", "module.step_count", "module.call", "module.path", "module.replayed",
        "module.crossing_time", "module.doubted_time",
    }  # fmt: skip
    assert all(len(name.split(".")) >= 3 for name in new), "a table of other values has another name"
    assert {file: time for file, time in written(store).items() if file in before} == before
    with open_profile(two, cache=store, depth=3) as profile:
        assert profile.module_stats()["total_kernel_duration_ns"].tolist() == [40, 41]
        assert profile.table("module.path", arrow=True).num_rows == 2
    kept = json.loads((next(store.iterdir()) / "about.json").read_text())
    assert set(kept) == {"profile", "inputs", "identity"}


@pytest.mark.slow
def test_ls_names_a_table_of_several_values_once(two: Path, tmp_path: Path, command: Command) -> None:
    for words in ((), ("--depth", "1"), ("--instances",)):
        assert command("module-stats", "-d", two, "-o", tmp_path, "--cache", tmp_path / "kept", *words).exit_code == 0
    (first, _) = json.loads(command("cache", "ls", "--cache", tmp_path / "kept", "--json").stdout)["entries"]
    assert first["tables"].count("module.statistic") == 1
    assert len(list(Path(first["folder"]).glob("module.statistic*.parquet"))) == 3
