"""Write docs/tables.md, the documentation of all tables, from the heads of the files in sql/.

python -m docs.tables
"""

import re
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from prof_analysis.analyses import ANALYSES
from prof_analysis.engine.schemas import schemas
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import documented_tables
from prof_analysis.logs import vllm_stages

PAGE = Path(__file__).with_suffix(".md")
INTRODUCTION = """\
# Tables

<!-- Written by `python -m docs.tables` from the heads of the files in sql/. Edit these, not this page. -->

`prof-analysis sql` and `Profile.sql()` know these tables, and `prof-analysis tables NAME` prints one of them. The table
`schema.name` is the file `sql/schema/name.sql`. A table of a rank is seen over all ranks, with `profile` (the folder of the
rank) and `rank_id` as first columns. Times are integer nanoseconds; what is unknown is NULL.

"""


def page() -> str:
    """Return the text of the page."""
    tables = sorted(documented_tables().values(), key=lambda table: (_position(table), table.name))
    by_schema = [(schema, list(members)) for schema, members in groupby(tables, key=_schema)]
    exported = _exported()
    parts = [INTRODUCTION]
    for schema, members in by_schema:
        links = ", ".join(f"[{table.name.partition('.')[2]}](#{table.name.replace('.', '')})" for table in members)
        parts.append(f"- **{schema}**: {schemas()[schema]} {links}\n")
    for schema, members in by_schema:
        parts.append(f"\n## {schema}\n\n{schemas()[schema]}\n")
        parts += (_section(table, exported.get(table.name)) for table in members)
    return "".join(parts)


def _schema(table: Table) -> str:
    return table.name.partition(".")[0]


def _position(table: Table) -> int:
    """Return where its schema comes on the page."""
    if _schema(table) not in schemas():
        raise ValueError(f"{table.name}: say in sql/schemas.txt what tables of this schema hold")
    return list(schemas()).index(_schema(table))


def _exported() -> dict[str, str]:
    """Return what exports call the tables."""
    exports: list[Mapping[str, str]] = [vllm_stages.EXPORTS]
    for analysis in ANALYSES.values():
        exports += analysis.exports, analysis.of_several_ranks
    return {name: exported for one in exports for name, exported in one.items()}


def _section(table: Table, exported: str | None) -> str:
    """Return the part of the page about one table."""
    rows = "".join(f"| {column.shown_name} | {column.shown_type} | {plain(column.meaning)} |\n" for column in table.columns)
    name = f" In exports: {exported}." if exported else ""
    return f"\n### {table.name}\n\n{plain(table.summary)}{name}\n\n| Column | Type | Meaning |\n|---|---|---|\n{rows}"


def plain(text: str) -> str:
    """Return a text in which nothing but code between backticks means something to Markdown."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = (re.sub(r"([\\*<\[\]])", r"\\\1", part) for part in parts[::2])
    return "".join(parts).replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
