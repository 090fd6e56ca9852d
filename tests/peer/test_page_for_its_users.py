"""The page for those who know msprof-analyze has a row for each of its modes and sub-commands, in both languages."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from click import Group

from tests.helpers.places import CHECKOUT

PAGES = [CHECKOUT / "docs" / "from-msprof-analyze.md", CHECKOUT / "docs" / "zh" / "from-msprof-analyze.md"]


def modes() -> set[str]:
    """The modes of `msprof-analyze -m`: its recipes, and those that are none."""
    spec = find_spec("msprof_analyze")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("msprof-analyze is not installed beside this Python (pip install -e '.[dev]' has it)")
    recipes = Path(spec.submodule_search_locations[0], "cluster_analyse", "recipes")
    return {folder.parent.name for folder in recipes.glob("*/__init__.py")} | {
        "all",
        "communication_time",
        "communication_matrix",
    }


def replaced(page: Path) -> set[str]:
    """What the first column of the table of replacements names."""
    table = page.read_text(encoding="utf-8").partition("|---|---|---|\n")[2].partition("\n\n")[0]
    return {name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("page", PAGES, ids=["English", "Chinese"])
def test_every_mode_and_sub_command_has_a_row(page: Path) -> None:
    of_peer = modes()
    assert len(of_peer) > 20
    commands = import_module("msprof_analyze.cli.entrance").msprof_analyze_cli.commands
    advisor = commands["advisor"]
    assert isinstance(advisor, Group)
    expected = of_peer | {f"msprof-analyze {name}" for name in commands if name not in ("cluster", "advisor")}
    expected |= {"msprof-analyze advisor all", *(name for name in advisor.commands if name != "all"), "--export_type notebook"}
    assert replaced(page) == expected
