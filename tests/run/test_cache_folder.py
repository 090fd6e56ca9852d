"""The folder of the cache: who may read it, what stays in it, and that nothing that happens to it changes an answer."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, OutputError, open_profile
from prof_analysis.common.user_cache import VARIABLE
from prof_analysis.run.cache import entries
from tests.helpers.frames import arrow_of
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

Command = Callable[..., Result]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return profile_in(tmp_path / "0_ascend_pt")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def profile_in(folder: Path, duration_ns: int = 40) -> Path:
    ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1000 + duration_ns),)),)
    write_profile(folder, ops, (Range("Net", 100, 200),), rank=0)
    return folder


def duration(path: Path, **options: Any) -> int:
    """Return the time of the one kernel of a profile."""
    with open_profile(path, **options) as profile:
        (answer,) = profile.kernel_stats()["total_ns"].tolist()
        return int(answer)


def kernel_count(path: Path, **options: Any) -> int:
    """Return the answer to another question, which reads tables that the first one kept."""
    with open_profile(path, **options) as profile:
        (answer,) = profile.op_stats()["kernel_count"].tolist()
        return int(answer)


def files(cache: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in cache.rglob("*") if file.is_file()}


def test_none_keeps_nothing_also_on_the_command_line(
    path: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the option is a path: it was the folder `none` where the user happened to be."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept"))
    assert command("op-stats", path, "--cache", "none", "--quiet").exit_code == 0
    assert duration(path, cache=Path("none")) == 40
    assert list((tmp_path / "here").iterdir()) == []
    assert not (tmp_path / "kept").exists() or not list((tmp_path / "kept").rglob("*.parquet"))


def test_only_the_user_may_read_what_is_kept(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(cache))
    cache.mkdir(mode=0o755)
    duration(path)
    modes = {stat.S_IMODE(one.stat().st_mode) for one in cache.rglob("*") if one.is_dir()}
    assert modes == {0o700}
    assert {stat.S_IMODE(one.stat().st_mode) for one in cache.rglob("*") if one.is_file()} == {0o600}


def test_the_cache_of_the_user_is_the_usual_one(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(cache))
    assert duration(path, cache="none") == 40
    assert not [file for file in files(cache) if not file.name.startswith(("plans-", "code-"))], "of profiles nothing is kept"
    assert duration(path) == 40
    before = files(cache)
    assert duration(path) == 40
    assert {file for file, time in files(cache).items() if before.get(file) != time} == set(cache.glob("*/about.json"))


def test_listing_ranks_keeps_nothing(path: Path, cache: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(cache))
    assert command("ranks", "-d", path).exit_code == 0
    assert not cache.exists()


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_a_home_that_cannot_be_used_is_no_reason_to_say_a_word(
    path: Path, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(tmp_path / where))
    assert duration(path) == 40
    assert [str(one.message) for one in recwarn if "cache" in str(one.message)] == []


def test_a_chosen_folder_that_cannot_be_used_is_named(path: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="give --cache a folder"):
        open_profile(path, cache=tmp_path / "file")


@pytest.mark.parametrize("options", [{"cache": "none", "cache_dir": "a"}, {"store": "a", "cache_dir": "b"}])
def test_two_choices_of_where_results_stay_are_refused(path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="give one of the two places"):
        open_profile(path, **options)


@pytest.mark.slow
def test_a_changed_input_is_read_anew(path: Path, cache: Path) -> None:
    assert duration(path, cache=cache) == 40
    edit(next(path.rglob("*.db")), "UPDATE TASK SET endNs = endNs + 5")
    assert (duration(path, cache=cache), kernel_count(path, cache=cache)) == (45, 1)
    assert len(list(cache.glob("*/about.json"))) == 2


@pytest.mark.slow
def test_a_journal_that_appears_beside_a_database_is_seen(path: Path, cache: Path) -> None:
    assert duration(path, cache=cache) == 40
    with closing(sqlite3.connect(next(path.rglob("*.db")), isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        for expected in (45, 50):
            writer.execute("UPDATE TASK SET endNs = endNs + 5")
            assert duration(path, cache=cache) == expected


def cut(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size * 2 // 3)


def overwrite_the_middle(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    file.write_bytes(content)


def swap(file: Path) -> None:
    """Put another table's file in its place."""
    other = max((one for one in file.parent.glob("*.parquet") if one != file), default=file)
    shutil.copyfile(other, file)


@pytest.mark.parametrize("damage", quick([cut, overwrite_the_middle, swap, Path.unlink, lambda file: file.write_bytes(b"")], 1))
@pytest.mark.parametrize(
    "names", quick(["engine/*", "engine/trace.kernel.*", "engine/trace.string.*", "*.parquet", "*.json"], 0)
)
def test_what_is_damaged_is_built_again(path: Path, cache: Path, damage: Callable[[Path], object], names: str) -> None:
    assert duration(path, cache=cache) == 40
    damaged = [file for entry in cache.iterdir() for file in entry.glob(names) if file.name != "about.json"]
    assert damaged
    for file in damaged:
        damage(file)
    for _ in range(2):
        assert (kernel_count(path, cache=cache), duration(path, cache=cache)) == (1, 40)


@pytest.mark.slow
def test_a_cache_that_is_removed_while_it_is_in_use_is_made_again(path: Path, cache: Path) -> None:
    with open_profile(path, cache=cache) as profile:
        assert profile.module_stats()["total_kernel_duration_ns"].tolist() == [40]
        shutil.rmtree(cache)
        assert profile.kernel_stats()["kernel_count"].tolist() == [1]


@pytest.mark.slow
def test_what_was_not_used_for_the_longest_time_goes_first(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(cache))
    paths = [profile_in(tmp_path / f"{number}_ascend_pt") for number in range(3)]
    for number, path in enumerate(paths):
        with open_profile(path) as profile:
            profile.module_stats()  # It keeps much more than the questions below.
        os.utime(next(cache.glob(f"{path.name}-*/about.json")), (number, number))
    assert duration(paths[0]) == 40  # Now the second one was not used for the longest time.
    sizes = {entry.profile: entry.size_bytes for entry in entries.entries(cache)}
    monkeypatch.setattr(entries, "_MOST_BYTES", sum(sizes.values()) - 1)
    with open_profile(paths[2]) as profile:
        profile.op_stats()
    assert {entry.profile for entry in entries.entries(cache)} == {"0_ascend_pt", "2_ascend_pt"}


@pytest.mark.parametrize("grown", ["0.parquet", "engine/0.parquet"])
@pytest.mark.parametrize("kept", [None, "", "[1]", '{"a": [1, "x"]}'])
def test_an_entry_that_grew_is_measured_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown: str, kept: str | None
) -> None:
    for number, name in enumerate("ab"):
        (tmp_path / name / "engine").mkdir(parents=True)
        (tmp_path / name / "about.json").write_text("{}")
        os.utime(tmp_path / name / "about.json", (number, number))
    monkeypatch.setattr(entries, "_MOST_BYTES", 1_000)
    entries.shrink(tmp_path)
    if kept is not None:
        (tmp_path / "sizes.json").write_text(kept)
    (tmp_path / "b" / grown).write_bytes(b"0" * 990)
    entries.shrink(tmp_path)
    assert (tmp_path / "a").is_dir(), "994 bytes"
    (tmp_path / "b" / grown).unlink()
    (tmp_path / "b" / grown).write_bytes(b"0" * 997)
    entries.shrink(tmp_path)
    assert not (tmp_path / "a").exists() and (tmp_path / "b").is_dir()


def test_what_is_in_use_stays(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.setenv(VARIABLE, str(cache))
    first, second = (profile_in(tmp_path / f"{number}_ascend_pt") for number in range(2))
    monkeypatch.setattr(entries, "_MOST_BYTES", 1)
    with open_profile(first) as profile:
        rows = arrow_of(profile.op_stats())
        duration(second)
        assert next(entry.profile for entry in entries.entries(cache)) == "0_ascend_pt"
        assert command("cache", "clear", "--cache", cache).stdout.endswith("; 1 in use stay\n")
        assert arrow_of(profile.op_stats()) == rows
    assert command("cache", "clear", "--cache", cache).stdout.startswith("removed 1 entry")
    assert [one for one in cache.iterdir() if one.is_dir()] == []


@pytest.mark.slow
def test_processes_that_ask_at_once_get_the_same_answers(path: Path, cache: Path) -> None:
    script = (
        "import sys, warnings; warnings.simplefilter('ignore'); from prof_analysis import open_profile\n"
        "with open_profile(sys.argv[1], cache=sys.argv[2]) as profile:\n"
        "    print(profile.module_stats()['total_kernel_duration_ns'].tolist())\n"
        "    print(profile.kernel_stats()['kernel_count'].tolist())"
    )
    words = [sys.executable, "-c", script, str(path), str(cache)]
    asking = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in asking] == ["[40]\n[1]\n"] * 3


def test_tables_of_the_users_own_are_of_their_own_text(path: Path, cache: Path, tmp_path: Path) -> None:
    own = tmp_path / "own" / "mine"
    own.mkdir(parents=True)
    for factor in (1, 2):
        (own / "kernel.sql").write_text(
            f"-- One row is a kernel.\n--\n-- twice  BIGINT  a time\nSELECT duration_ns * {factor} AS twice FROM trace.kernel"
        )
        with open_profile(path, cache=cache, sql=own.parent) as profile:
            assert profile.table("mine.kernel")["twice"].tolist() == [40 * factor]
