"""Ranks on a Dask cluster: only workers of the same code that see the store, and a word on what is missing."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from prof_analysis.run import cluster as dask_cluster
from prof_analysis.run.cache.store import entry_folder
from prof_analysis.run.job import Job, own_code
from prof_analysis.run.work import run_elsewhere
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.faults import LIBRARY, check, limit
from tests.helpers.places import CHECKOUT
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

Command = Callable[..., Result]


@pytest.fixture
def six(tmp_path: Path) -> Path:
    folder = tmp_path / "profiles"
    for rank in range(6):
        ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040 + rank),)),)
        write_profile(folder / f"{rank}_ascend_pt", ops, (Range("Net", 100, 200),), rank=rank)
    return folder


def job_of(folder: Path, store: Path) -> Job:
    rank = find_ranks(folder / "0_ascend_pt")[0]
    return Job(rank, ("module.statistic",), {}, entry_folder(store, rank))


def test_a_worker_of_another_code_writes_nothing_and_says_which_code_it_has(six: Path, tmp_path: Path) -> None:
    job = job_of(six, tmp_path / "store")
    for other in (replace(own_code(), digest="0" * 64), replace(own_code(), duckdb="1.9")):
        failure = run_elsewhere(job, other).failure
        assert failure is not None
        other_code = (f"worker on {socket.gethostname()}", "other code", "install the same versions on all machines")
        assert failure == says(f"{six / '0_ascend_pt'}: ", *other_code)
    assert [file.name for file in job.folder.iterdir()] == ["about.json"]
    assert run_elsewhere(job, own_code()).failure is None
    about, table, warnings = sorted(file.name for file in job.folder.iterdir())
    assert (about, table) == ("about.json", "module.statistic.parquet")
    assert warnings.startswith("warnings.")


def test_a_worker_that_does_not_see_the_store_says_so_and_makes_no_folder(six: Path, tmp_path: Path) -> None:
    job = replace(job_of(six, tmp_path / "store"), folder=tmp_path / "not here")
    failure = run_elsewhere(job, own_code()).failure
    assert failure is not None
    assert failure == says("does not see the store", f"({tmp_path / 'not here'})", "--cache", "all machines see")
    assert not (tmp_path / "not here").exists()


def test_a_worker_that_does_not_see_the_profile_says_so_and_names_itself_and_the_file(six: Path, tmp_path: Path) -> None:
    job = job_of(six, tmp_path / "store")
    (database,) = (six / "0_ascend_pt").rglob("*.db")
    (six / "0_ascend_pt").rename(tmp_path / "elsewhere")
    outcome = run_elsewhere(job, own_code())
    assert outcome.failure is not None
    assert outcome.failure == says(
        f"{database}: ", f"worker on {socket.gethostname()}", "cannot read", "No such file or directory", "put the profile"
    )
    assert outcome.path == database
    assert [file.name for file in job.folder.iterdir()] == ["about.json"]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("foo", "missing port number in address 'foo'"),
        ("", "missing port number in address ''"),
        ("http://127.0.0.1:1", "unknown address scheme 'http'"),
        ("tcp://127.0.0.1:abc", "invalid literal"),
        ("tls://127.0.0.1:1", "TLS expects"),
        ("ucx://127.0.0.1:1", ""),
    ],
)
def test_a_wrong_address_is_one_line(six: Path, tmp_path: Path, command: Command, address: str, reason: str) -> None:
    done = command("module-stats", "-d", six, "--cache", tmp_path / "store", "--scheduler", address)
    assert done.exit_code == 2
    advice = ("start one", "address", "such as tcp://host:8786")
    assert done.stderr == says(f"error: {address}: ", "no Dask scheduler answers", f"({reason}", *advice)


def test_a_cluster_answers_and_the_tables_are_in_the_store(six: Path, tmp_path: Path) -> None:
    from distributed import LocalCluster

    options: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with (
        LocalCluster(protocol="tcp", **options) as local,  # type: ignore[no-untyped-call]
        open_profile(six, cache=tmp_path / "store", scheduler=local.scheduler_address) as profile,
    ):
        rows = profile.rows("SELECT rank_id, duration_ns FROM kernels.duration ORDER BY rank_id")
    assert [tuple(row.values()) for row in rows] == [(rank, 40 + rank) for rank in range(6)]
    assert len(list((tmp_path / "store").rglob("kernels.duration.parquet"))) == 6


@contextmanager
def cluster(folder: Path, *workers: dict[str, str]) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """A Dask scheduler and a worker for each environment; its address and the scheduler's process."""
    from distributed import Client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--host", address]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    (folder / "elsewhere").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    started = [subprocess.Popen(scheduler, **options, cwd=folder, env=environment)]
    try:
        for one in workers:
            started.append(subprocess.Popen(worker, **options, cwd=folder / "elsewhere", env={**environment, **one}))
        with Client(address, timeout="60s", set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(len(workers), timeout=60) if workers else None
        yield address, started[0]
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_what_a_worker_of_a_cluster_throws_fails_its_rank_alone(
    six: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    faulty = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(CHECKOUT)])}
    with limit(120), cluster(tmp_path, faulty) as (address, _), open_profile(six, scheduler=address, cache="kept") as profile:
        check(profile, six)
    assert list((tmp_path / "elsewhere").glob("kept")) == []


@pytest.mark.slow
def test_tables_of_a_worker_of_another_version_do_not_enter_the_store(six: Path, tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "prof_analysis", tmp_path / "other" / "prof_analysis")
    shutil.copytree(CHECKOUT / "sql", tmp_path / "other" / "sql")
    statistic = tmp_path / "other" / "sql" / "kernels" / "statistic.sql"
    statistic.write_text(statistic.read_text().replace("-- ", "--  ", 1))
    with limit(120), cluster(tmp_path, {"PYTHONPATH": str(tmp_path / "other")}) as (address, _), warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(six, scheduler=address, cache=tmp_path / "kept") as profile:
            other = says("has other code", "install the same versions", "and 5 more")
            with pytest.raises(InputError, match=other.pattern):
                profile.kernel_stats()
            assert len(profile.failures) == 6
    assert list((tmp_path / "kept").rglob("*.parquet")) == []


@pytest.mark.slow
def test_a_scheduler_that_ends_midway_is_said_and_the_next_run_goes_on(six: Path, tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs kill -9")
    (tmp_path / "site").mkdir()
    slow = LIBRARY.replace("raise ZeroDivisionError", "import time; time.sleep(600); raise ZeroDivisionError")
    (tmp_path / "site" / "sitecustomize.py").write_text(slow, encoding="utf-8")
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(CHECKOUT)])}
    store = tmp_path / "kept"
    with limit(180), cluster(tmp_path, environment, environment) as (address, scheduler):

        def kill() -> None:
            while not list(store.rglob("*.parquet")):
                time.sleep(0.05)
            time.sleep(1)
            scheduler.send_signal(signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        words = [
            sys.executable,
            "-m",
            "prof_analysis",
            "module-stats",
            "-d",
            str(six),
            "-o",
            str(tmp_path),
            "--cache",
            str(store),
        ]
        done = subprocess.run([*words, "--scheduler", address], capture_output=True, text=True, check=False, timeout=120)
        killer.join()
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == says(f"error: {address}: ", "scheduler ended", "with the same --cache")
    assert "Traceback" not in done.stderr, done.stderr
    with open_profile(six, cache=store) as profile:
        assert profile.module_stats()["rank_id"].tolist() == [*range(6)]


@pytest.mark.slow
def test_a_cluster_without_workers_is_said(six: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_WORKERS_WITHIN_S", 3)
    with limit(60), cluster(tmp_path) as (address, _):
        said = says("no workers for 3 s", f"`dask worker {address}`").pattern
        with open_profile(six, scheduler=address, cache=tmp_path / "kept") as profile, pytest.raises(InputError, match=said):
            profile.module_stats()
