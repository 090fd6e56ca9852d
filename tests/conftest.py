"""What several tests need: the places of sample and real data, and a way to run the command."""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prof_analysis import ProfAnalysisWarning, Profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.cli import app

CHECKOUT = Path(__file__).parent.parent
SAMPLE = CHECKOUT / "fixtures" / "sample"

# Columns of the API that ModuleStatistic of msprof-analyze has, and their names there, in its order.
PEER_COLUMNS = {
    "parent_module": "parentModule",
    "module": "module",
    "op_name": "opName",
    "kernel_list": "kernelList",
    "total_kernel_duration_ns": "totalKernelDuration(ns)",
    "avg_kernel_duration_ns": "avgKernelDuration(ns)",
    "op_count": "opCount",
    "rank_id": "rankID",
}


def build_at_once(profile: Profile, *names: str) -> None:
    """Build tables, and those of commands, in one go, which reads each rank once, before they are asked for one by one."""
    tables = dict.fromkeys(table for name in names for table in (ANALYSES[name].tables if name in ANALYSES else (name,)))
    profile.rows(f"SELECT 1 FROM {', '.join(tables)} LIMIT 0")


@pytest.fixture
def realdata() -> Path:
    """Real profiles beside the checkout; a test that needs them is skipped where they are not."""
    folder = CHECKOUT.parent / "shared" / "realdata"
    if not folder.is_dir():
        pytest.skip("the real profiles (../shared/realdata) are not here")
    return folder


@pytest.fixture
def command() -> Iterator[Callable[..., Result]]:
    """Run `prof-analysis` with words; the result has exit_code, stdout and stderr."""

    def run(*words: str | Path) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="prof-analysis")
        assert "Traceback" not in result.output
        return result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        yield run
