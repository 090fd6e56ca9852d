"""The help of commands that write tables: it ends with the names of the tables, taken from the registry of analyses."""

from collections.abc import Mapping
from typing import Any

import typer


class AnalysisCommand(typer.core.TyperCommand):
    """A command whose help ends with the tables that it writes."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, with the tables that the command writes after its example."""
        example = self.epilog
        self.epilog = f"{example} {written_by(str(self.name))}"
        try:
            super().format_help(ctx, formatter)
        finally:
            self.epilog = example


def written_by(command: str) -> str:
    """Return a sentence that names the tables and files that a command writes."""
    from prof_analysis.exports.names import file_name

    tables, more = _tables_of(command)
    first, *others = tables.values()
    names = f"tables {', '.join((first, *others[:-1]))} and {others[-1]}" if others else f"table {first}"
    return (
        f"Writes the {names}{''.join(more)} into cluster_analysis_output/cluster_analysis.db; with --export_type xlsx "
        f"it writes workbooks into {first}/ there, with duckdb all tables into {file_name(first)}.duckdb; with others one file "
        f"per table, such as {file_name(first)}.csv."
    )


def _tables_of(command: str) -> tuple[Mapping[str, str], list[str]]:
    """Return the names in exports of the tables that a command writes, and words about those that it writes only sometimes."""
    from prof_analysis.analyses import ANALYSES

    if command not in ANALYSES:
        from prof_analysis.logs.vllm_stages import EXPORTS  # It imports DuckDB.

        return EXPORTS, []
    analysis = ANALYSES[command]
    more = {"for several ranks": analysis.of_several_ranks}
    more |= {f"with --{name}": extra.exports for name, extra in analysis.extras.items()}
    return analysis.exports, [f", {when} {', '.join(tables.values())}" for when, tables in more.items() if tables]
