"""The help of commands that write tables: it ends with their names, which the registry of analyses knows."""

from collections.abc import Mapping
from typing import Any

import typer


class AnalysisCommand(typer.core.TyperCommand):
    """A command of an analysis. What it writes is looked up when its help is shown, since the registry takes time to import."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, with the tables that the command writes behind its example."""
        example = self.epilog
        self.epilog = f"{example} {written_by(str(self.name))}"
        try:
            super().format_help(ctx, formatter)
        finally:
            self.epilog = example


def written_by(command: str) -> str:
    """Return what a command writes, in words."""
    from prof_analysis.exports.names import file_name

    tables, more = _tables_of(command)
    first, *others = tables.values()
    names = f"tables {', '.join((first, *others[:-1]))} and {others[-1]}" if others else f"table {first}"
    return (
        f"Writes the {names}{''.join(more)} into cluster_analysis_output/cluster_analysis.db; with --export_type text or excel "
        f"it writes workbooks into {first}/ there, else files named like the tables, as in {file_name(first)}.csv."
    )


def _tables_of(command: str) -> tuple[Mapping[str, str], list[str]]:
    """Return the tables that a command writes, by their names outside, and what it says of those that it may write besides."""
    from prof_analysis.analyses import ANALYSES
    from prof_analysis.logs.vllm_stages import EXPORTS

    if command not in ANALYSES:
        return EXPORTS, []
    analysis = ANALYSES[command]
    more = {"of several ranks": analysis.of_several_ranks}
    more |= {f"with --{name}": extra.exports for name, extra in analysis.extras.items()}
    return analysis.exports, [f", {when} {', '.join(tables.values())}" for when, tables in more.items() if tables]
