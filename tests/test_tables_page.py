"""docs/tables.md says what the heads of sql/ say."""

from docs import tables
from prof_analysis.engine.tables import documented_tables


def test_the_page_is_that_of_the_heads() -> None:
    written = tables.PAGE.read_text(encoding="utf-8")
    assert written == tables.page(), "docs/tables.md is older than the heads in sql/: run `python -m docs.tables` and commit it"


def test_every_table_and_column_is_on_the_page() -> None:
    sections = dict(part.split("\n", 1) for part in tables.page().split("\n### ")[1:])
    assert sections.keys() == documented_tables().keys()
    for name, table in documented_tables().items():
        for column in table.columns:
            assert f"\n| {column.shown_name} | {column.shown_type} | " in sections[name]


def test_signs_of_markdown_are_written_out() -> None:
    assert tables.plain("pid * 2 | `a|b*` <x> Layer[3]") == r"pid \* 2 \| `a\|b*` \<x> Layer\[3\]"
