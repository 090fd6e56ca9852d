"""The reports that the tests of pages share."""

import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.cli import app
from tests.helpers.hostile import write_hostile


@pytest.fixture(scope="session")
def page_of_sample(kept: Path, kept_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the sample; all workers share it."""
    report = kept_sample.with_name("report.html")
    if not report.exists():
        with open_profile(kept_sample, cache=kept) as profile:
            profile.report(tmp_path_factory.mktemp("report") / "report.html").replace(report)
    return report


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
