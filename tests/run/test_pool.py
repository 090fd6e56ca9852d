"""Ranks in processes: the same answer as in one process, and a worker that dies takes only its rank."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Any, cast

import pytest

from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from prof_analysis.common.options import Keywords
from prof_analysis.run import machine
from tests.helpers.frames import arrow_of
from tests.helpers.processes import children, command_line, environment_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

RANGES = (Range("Net", 100, 200),)


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three ranks that are analysed in processes, however small."""
    monkeypatch.setattr(machine, "_WORTH_PROCESSES_BYTES", 0)
    for rank in range(3):
        ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040 + rank),)),)
        write_profile(tmp_path / f"{rank}_ascend_pt", ops, RANGES, rank=rank)
    return tmp_path


@pytest.mark.slow
def test_processes_give_the_same_rows_as_threads(three: Path) -> None:
    with open_profile(three, workers=2) as in_processes:
        rows = arrow_of(in_processes.module_stats()).to_pylist()
    with open_profile(three, workers=1) as here:
        assert arrow_of(here.module_stats()).to_pylist() == rows
    assert [row["total_kernel_duration_ns"] for row in rows] == [40, 41, 42]


def test_a_worker_that_is_killed_is_told_with_its_rank_and_the_others_answer(three: Path) -> None:
    with killing_a_child(), pytest.warns(ProfAnalysisWarning, match="the process that analysed it died"):
        profile = open_profile(three, workers=2)
        with profile:
            ranks = profile.module_stats()["rank_id"].tolist()
            (failure,) = profile.failures
    (dead,) = {0, 1, 2} - set(ranks)
    assert failure.startswith(f"{three / f'{dead}_ascend_pt'}: ")


@pytest.mark.slow
def test_workers_killed_at_random_moments_leave_the_right_answer_to_the_next_run(
    three: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with open_profile(three, workers=1) as here:
        rows = arrow_of(here.module_stats()).to_pylist()
    draw = random.Random(7)
    for _ in range(20):
        store = tmp_path_factory.mktemp("store")
        with killing_a_child(draw.uniform(0, 2)), warnings.catch_warnings():
            warnings.simplefilter("ignore", ProfAnalysisWarning)
            with open_profile(three, workers=2, cache=store) as profile:
                found = arrow_of(profile.module_stats()).to_pylist()
        assert [row for row in rows if row in found] == found
        assert len(found) + len(profile.failures) == 3
        with open_profile(three, workers=2, cache=store) as again:
            assert arrow_of(again.module_stats()).to_pylist() == rows


@pytest.mark.parametrize("set_by_user", [None, "glibc.malloc.check=0"])
def test_workers_keep_freed_memory_at_hand_unless_the_user_sets_it_otherwise(
    three: Path, monkeypatch: pytest.MonkeyPatch, set_by_user: str | None
) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if set_by_user:
        monkeypatch.setenv("GLIBC_TUNABLES", set_by_user)
    with watching_workers() as environments, open_profile(three, workers=2) as profile:
        profile.module_stats()
    wanted = set_by_user or "glibc.malloc.tcache_count=1000"
    assert {environment["GLIBC_TUNABLES"] for environment in environments} == {wanted}


@pytest.mark.slow
def test_many_small_ranks_are_worth_processes(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_WORTH_PROCESSES_BYTES", 2**20)
    with watching_workers() as of_few, open_profile(three, workers=2) as profile:
        profile.module_stats()
    monkeypatch.setattr(machine, "_WORTH_PROCESSES_RANKS", 1)
    with watching_workers() as of_many, open_profile(three, workers=2) as profile:
        profile.module_stats()
    assert (len(of_few), len(of_many)) == (0, 2)


@pytest.mark.slow
def test_an_unguarded_script_may_use_processes(three: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from prof_analysis import open_profile\nfrom prof_analysis.run import machine\n"
        "machine._WORTH_PROCESSES_BYTES = 0\n"
        f"print(len(open_profile({str(three)!r}, workers=2).module_stats()))\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("3\n", "", 0)


@pytest.mark.slow
def test_memory_that_does_not_suffice_spills_and_the_answer_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ops = [
        Op("aten::mm", 10 * n, 10 * n + 5, (Kernel(f"kernel {n}", 10 * n + 1, 10 * n + 7, inputs=f"{n},16"),))
        for n in range(20_000)
    ]
    write_profile(tmp_path / "profile" / "a_ascend_pt", ops, (Range("Net", 0, 10**6),))
    (tmp_path / "spill").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spill"))
    with open_profile(tmp_path / "profile") as profile:
        whole = arrow_of(profile.kernels())
    for megabytes in (96, 88, 80, 72):  # Where there is too little is a matter of the SQL; above it some limit makes it spill.
        spilled: set[str] = set()
        limit = megabytes * 1_000_000
        with (
            watching(tmp_path / "spill", spilled),
            open_profile(tmp_path / "profile", memory_limit=limit, threads=1) as profile,
        ):
            assert arrow_of(profile.kernels()) == whole
        if spilled:
            break
    assert spilled
    assert whole.num_rows == 20_000
    assert list((tmp_path / "spill").iterdir()) == []


@contextmanager
def watching(folder: Path, spilled: set[str]) -> Iterator[None]:
    """Note what files DuckDB spills to."""
    done = Event()

    def watch() -> None:
        while not done.wait(0.001):
            with suppress(FileNotFoundError):  # a folder that is removed meanwhile
                spilled.update(file.name for file in folder.rglob("duckdb_temp*"))

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@pytest.mark.parametrize("option", ["workers", "threads", "memory_limit"])
def test_a_limit_of_nothing_is_refused(tmp_path: Path, option: str) -> None:
    with pytest.raises(InputError, match=f"{option}=0: give 1 or more"):
        open_profile(tmp_path, **cast(Keywords, {option: 0}))


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named(three: Path) -> None:
    nobody: dict[str, Any] = {"scheduler": "tcp://127.0.0.1:1", "store": three / "store"}
    with open_profile(three, **nobody) as profile, pytest.raises(InputError, match="no Dask scheduler"):
        profile.module_stats()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"store": "s", "workers": 2}, ("workers=2: ", "give no value", "limits of its own")),
        ({"store": "s", "memory_limit": 9}, ("memory_limit=9: ", "give no value", "limits of its own")),
        ({}, ("cache=None: ", "give a folder", "workers of the cluster see")),
    ],
)
def test_what_a_cluster_is_not_told_and_what_it_needs_is_said(
    three: Path, options: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError, match=says(*words).pattern):
        open_profile(three, scheduler="tcp://127.0.0.1:1", **options)


@pytest.mark.slow
def test_a_cluster_gives_the_same_rows_though_one_of_its_workers_is_killed(three: Path, tmp_path: Path) -> None:
    for rank in range(3, 12):
        ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040 + rank),)),)
        write_profile(three / f"{rank}_ascend_pt", ops, RANGES, rank=rank)
    with open_profile(three, workers=1) as here:
        rows = arrow_of(here.module_stats()).to_pylist()
    with cluster(tmp_path) as (address, workers):
        killer = Timer(0.3, workers[0].kill)
        killer.start()
        with open_profile(three, scheduler=address, cache=tmp_path / "store") as profile:
            assert arrow_of(profile.module_stats()).to_pylist() == rows
        killer.join()
        with open_profile(three, scheduler=address, cache=tmp_path / "other store") as profile:
            assert arrow_of(profile.module_stats()).to_pylist() == rows


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A Dask scheduler and two workers on this machine."""
    from distributed import Client

    place = folder / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    started = [subprocess.Popen([*dask, "--host", "127.0.0.1", "--scheduler-file", place], **options)]
    try:
        while not place.exists():
            time.sleep(0.05)
        started += [subprocess.Popen([*worker, "--scheduler-file", place], **options) for _ in range(2)]
        address = json.loads(place.read_text())["address"]
        with Client(address, timeout="20s", set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(2, timeout=60)
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


def workers_but(known: set[int]) -> list[int]:
    """The processes that work for this one, without those that are known."""
    return [child for child in set(children()) - known if b"popen_loky_posix" in command_line(child)]


@contextmanager
def watching_workers() -> Iterator[list[dict[str, str]]]:
    """Collect the environments of the processes that work for this one."""
    if sys.platform == "win32":
        pytest.skip("needs /proc")
    environments: dict[int, dict[str, str]] = {}
    found: list[dict[str, str]] = []
    done = Event()
    known = set(children())

    def look() -> None:
        while not done.is_set():
            for worker in workers_but(known | environments.keys()):
                environments[worker] = environment_of(worker)
            time.sleep(0.002)

    watcher = Thread(target=look)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()
        found.extend(environments.values())


@contextmanager
def killing_a_child(after_s: float = 0) -> Iterator[None]:
    """Kill -9 the first process that works for this one after so long."""
    if sys.platform == "win32":
        pytest.skip("needs kill -9")
    done = Event()
    known = set(children())

    def kill() -> None:
        done.wait(after_s)
        while not done.is_set():
            for worker in workers_but(known):
                os.kill(worker, signal.SIGKILL)
                return
            time.sleep(0.002)

    killer = Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        done.set()
        killer.join()
