"""The reports that the tests of pages share."""

import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.cli import app
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
    job = folder / "<b>job</b>"
    write_hostile(job)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(job) as profile:
            report = profile.report(folder / "report.html")
        words = ["compare", job, job, "--export-type", "html", "-o", folder / "compared.html", "--quiet"]
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
    return [report, folder / "compared.html"]
