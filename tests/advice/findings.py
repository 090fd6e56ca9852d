"""What holds for each finding of each rule."""

import re
from collections.abc import Mapping
from typing import Any

from prof_analysis.engine.tables import documented_tables

RULES = {name: documented_tables()[name] for name in sorted(documented_tables()["advice.finding_of_rank"].needs)}
KINDS = {"exact cause", "upper bound", "hint"}


def assert_it_can_be_used(row: Mapping[str, Any]) -> None:
    """A finding has its kind, its page, whole sentences, and an identity without figures."""
    assert row["kind"] in KINDS, row
    assert not re.search(r"\d", re.sub(r"FP\d+|BF\d+|HF\d+|TF\d+", "", row["title"])), row["title"]
    assert row["evidence"], row
    evidence = row["evidence"].replace("[Backward]", "")  # of the names of modules
    assert not re.search(r"\bnan\b|\bNULL\b|\bNone\b|[{}\[\]]", evidence), row["evidence"]
    assert row["what_to_do"].endswith("."), row["what_to_do"]
    assert row["doc"] == f"docs/rules.md#{row['rule'].replace('_', '-')}"
