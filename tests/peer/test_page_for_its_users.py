"""The page for those who know msprof-analyze leaves out none of its modes."""

import re
from importlib.util import find_spec
from pathlib import Path

from tests.helpers.places import CHECKOUT

PAGE = CHECKOUT / "docs" / "from-msprof-analyze.md"


def test_every_mode_is_on_the_page() -> None:
    spec = find_spec("msprof_analyze")
    assert spec and spec.submodule_search_locations
    recipes = Path(spec.submodule_search_locations[0], "cluster_analyse", "recipes")
    modes = {folder.parent.name for folder in recipes.glob("*/__init__.py")}
    assert len(modes) > 20
    text = PAGE.read_text(encoding="utf-8").partition("## What only prof-analysis has")[0]
    named = set(re.findall(r"`(\w+)`", text))
    assert modes | {"all", "communication_time", "communication_matrix"} <= named, "a mode is not on the page"
