"""The tables of prof-analysis, rows in and rows out: a page for each, in the folder of its schema.

Pages of sources/<source>/ are about tables of trace, as a source makes them of its raw tables. What a page may say: cases.py.
"""

from pathlib import Path

import pytest

from prof_analysis.engine.cases import ENDING, failures_in
from prof_analysis.engine.tables import source_tables
from tests.helpers.tables import raw_columns, schema_of

HERE = Path(__file__).parent
PAGES = sorted(HERE.rglob(f"*{ENDING}"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(HERE).as_posix().removesuffix(ENDING))
def test_the_cases_of_a_table_hold(page: Path) -> None:
    name = f"{schema_of(page)}.{page.name.removesuffix(ENDING)}"
    if schema_of(page) == "trace":
        source = page.parts[-2]
        cases = failures_in(page, body=source_tables(source)[name].body, raw_columns=raw_columns(source))
    else:
        cases = failures_in(page)
    assert any(case.rows[name] for case in cases), f"a case, which begins with ##, has rows of {name}"
    assert not {f"line {case.line}: {case.name}": case.failures for case in cases if case.failures}
