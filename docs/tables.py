"""Write the documentation of all tables, a page for each schema, from the heads of the files in sql/.

python -m docs.tables [FOLDER]    by default docs/tables/, which git ignores
"""

import re
import sys
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from prof_analysis.analyses import ANALYSES
from prof_analysis.engine.schemas import schemas
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import documented_tables
from prof_analysis.logs import vllm_stages

FOLDER = Path(__file__).with_suffix("")


def pages() -> dict[str, str]:
    """Return the text of the page of each schema."""
    tables = sorted(documented_tables().values(), key=lambda table: table.name)
    exported = _exported()
    return {schema: _page(schema, list(members), exported) for schema, members in groupby(tables, key=_schema)}


def _page(schema: str, tables: Iterable[Table], exported: Mapping[str, str]) -> str:
    """Return the page of a schema."""
    if schema not in schemas():
        raise ValueError(f"say in sql/schemas.txt what the tables of {schema} hold")
    sections = "".join(_section(table, exported.get(table.name)) for table in tables)
    return f"# {schema}\n\n{schemas()[schema]}\n{sections}"


def _schema(table: Table) -> str:
    return table.name.partition(".")[0]


def _exported() -> dict[str, str]:
    """Return the names of tables in exports."""
    exports: list[Mapping[str, str]] = [vllm_stages.EXPORTS]
    for analysis in ANALYSES.values():
        exports += analysis.exports, analysis.of_several_ranks
    return {name: exported for one in exports for name, exported in one.items()}


def _section(table: Table, exported: str | None) -> str:
    """Return the part of a page about one table."""
    rows = "".join(f"| {column.shown_name} | {column.shown_type} | {plain(column.meaning)} |\n" for column in table.columns)
    name = f" In exports: {exported}." if exported else ""
    return f"\n## {table.name}\n\n{plain(table.summary)}{name}\n\n| Column | Type | Meaning |\n|---|---|---|\n{rows}"


def plain(text: str) -> str:
    """Return a text in which Markdown sees nothing but code between backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = (re.sub(r"([\\*<\[\]])", r"\\\1", part) for part in parts[::2])
    return "".join(parts).replace("|", r"\|")


def write(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for schema, text in pages().items():
        (folder / f"{schema}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
