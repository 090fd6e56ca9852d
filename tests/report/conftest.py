"""The reports that the tests of pages share, and a browser that opens them."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from prof_analysis import ProfAnalysisWarning, compare, open_profile
from tests.helpers.hostile import write_hostile
from tests.helpers.places import SAMPLE


@pytest.fixture(scope="session")
def page_of_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the sample."""
    done: list[int] = []
    with open_profile(SAMPLE / "decoder_training", on_progress=lambda now, _: done.append(now)) as profile:
        file = profile.report(tmp_path_factory.mktemp("report") / "sample.html")
    assert done and done == sorted(done), "the files are read once, for all questions together"
    return file


@pytest.fixture(scope="session")
def hostile_pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The reports of a rank whose names an enemy has written, and of its comparison with itself."""
    folder = tmp_path_factory.mktemp("hostile")
    write_hostile(folder / "<b>job</b>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(folder / "<b>job</b>") as profile:
            report = profile.report(folder / "report.html")
        with compare(folder / "<b>job</b>", folder / "<b>job</b>") as comparison:
            return [report, comparison.report(folder / "compared.html")]


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
