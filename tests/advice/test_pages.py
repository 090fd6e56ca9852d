"""What rules say of the findings in the cases of their pages (tests/tables/advice): all of it is there and can be used."""

import re
from typing import Any

import pytest

from prof_analysis.common.answer_options import Options
from prof_analysis.engine.cases import ENDING, cases_in
from prof_analysis.engine.rows_of import rows_of
from tests.advice.findings import RULES, assert_it_can_be_used
from tests.helpers.places import CHECKOUT

PAGES = CHECKOUT / "tests" / "tables" / "advice"


def found_in(name: str) -> list[dict[str, Any]]:
    """Return the findings of a rule in all cases of its page."""
    found = []
    for case in cases_in(PAGES / f"{name.partition('.')[2]}{ENDING}"):
        given = {table: rows for table, rows in case.rows.items() if table != name}
        found += rows_of(name, given, Options(**case.options).variables())  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("name", RULES)
def test_what_a_rule_says_of_the_findings_of_its_page_can_be_used(name: str) -> None:
    found = found_in(name)
    assert found, "a rule has a page of cases, in one of which it finds something"
    for row in found:
        assert_it_can_be_used({"rule": name.partition(".")[2], **row})
    # A title or a remedy whose condition no case meets is one that nobody has seen.
    head = (CHECKOUT / "sql" / name.replace(".", "/")).with_suffix(".sql").read_text(encoding="utf-8")
    assert len({row["title"] for row in found}) >= len(re.findall(r"^-- @title ", head, re.MULTILINE))
    assert len({row["what_to_do"] for row in found}) >= len(re.findall(r"^-- @remedy ", head, re.MULTILINE))
    assert all((row["win_ns"] is None) is (row["kind"] == "hint") for row in found)
    assert {row["kind"] for row in found} == set(re.findall(r"^-- @kind (?:\(.+\) )?([\w ]+)$", head, re.MULTILINE))
