"""What several tests need: the real data, and a way to run the command."""

import gc
import json
import os
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import which
from time import monotonic
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.cli import app
from prof_analysis.common.user_cache import VARIABLE
from prof_analysis.engine import remembered
from tests.helpers import pages
from tests.helpers.asking import build_at_once
from tests.helpers.json_schema import misfits
from tests.helpers.places import CHECKOUT, SAMPLE

# As in the command. With Python's own threshold, to look for garbage takes a seventh of the time of the suite.
gc.set_threshold(200_000)
# Else the command is put together anew for each of some thousand invocations, 20 ms each.
typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]
# No test, and no process that a test starts, may touch the home of who runs it.
os.environ[VARIABLE] = "off"
# Who works here may read another language.
os.environ["LANGUAGE"] = "en"
# Else each process that a test starts would compile the package anew, which takes as long as what it is started for.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell starts what it runs in the background without Ctrl-C, and what that starts does not know it either.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
shared_s, shared_count = monotonic(), 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="write pages, pictures and notebooks anew that are older than the program"
    )


def pytest_configure(config: pytest.Config) -> None:
    pages.updates = config.getoption("--update")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Know what earlier runs of the suite found out about the same SQL: to plan it anew takes each worker half a minute."""
    global shared_count  # noqa: PLW0603
    if folder := plans_folder(session):
        remembered.read(folder)
        shared_count = remembered.count()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Every few seconds, share with the other workers what this one found out: on a fresh clone each plans all there is.

    Where nothing is new, which is usual, that would take a hundredth of the suite.
    """
    global shared_s, shared_count  # noqa: PLW0603
    if monotonic() - shared_s > 5 and (folder := plans_folder(item.session)):
        if remembered.count() != shared_count:
            remembered.write(folder)
            remembered.read(folder)
            shared_count = remembered.count()
        shared_s = monotonic()
    return (yield)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if folder := plans_folder(session):
        remembered.write(folder)


def plans_folder(session: pytest.Session) -> Path | None:
    """Return a folder of pytest's own cache; None where that is switched off."""
    kept_by_pytest: pytest.Cache | None = getattr(session.config, "cache", None)
    return None if kept_by_pytest is None else kept_by_pytest.mkdir("plans")


@pytest.fixture
def realdata() -> Path:
    """Real profiles beside the checkout; a test that needs them is skipped where they are not."""
    folder = CHECKOUT.parent / "shared" / "realdata"
    if not folder.is_dir():
        pytest.skip("the real profiles (../shared/realdata) are not here")
    return folder


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of answers for tests that ask one profile again and again; all workers of a run share it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if os.environ.get("PYTEST_XDIST_WORKER") is None else base.parent) / "kept"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def kept_sample(kept: Path) -> Path:
    """The training run of the sample, as a folder `result`; all answers about it are kept in `kept`."""
    result = kept.with_name("of_the_sample") / "result"
    result.parent.mkdir(exist_ok=True)
    with suppress(FileExistsError):  # Another worker was faster.
        result.symlink_to(SAMPLE / "decoder_training")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(result, cache=kept) as profile:
            build_at_once(profile, *ANALYSES)
    return result


@pytest.fixture
def keeping(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep answers as users do. No test that compares answers to one question may: it would compare one with itself."""
    monkeypatch.setenv(VARIABLE, str(kept))


@pytest.fixture
def command() -> Iterator[Callable[..., Result]]:
    """Run `prof-analysis` with words; the result has exit_code, stdout and stderr. JSON fits its schema."""

    def run(*words: str | Path) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="prof-analysis")
        assert "Traceback" not in result.output
        assert "--json" not in words or misfits(json.loads(result.stdout)) == []
        return result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        yield run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end how many tests were skipped, in one line for each reason."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else str(report.longrepr)
        for report in terminalreporter.stats.get("skipped", ())
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser of the system; tests that need one are skipped where there is none."""
    program = which("chromium") or which("chromium-browser") or which("google-chrome")
    if program is None:
        pytest.skip("no chromium is here (apt-get install chromium): pages are not opened in a browser")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
