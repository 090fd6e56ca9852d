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

    tables, others = _tables_of(command)
    first, *others = tables.values()
    also = f", of several ranks {', '.join(of_several_ranks.values())}," if of_several_ranks else ""
    names = f"tables {', '.join((first, *others[:-1]))} and {others[-1]}" if others else f"table {first}"
    return (
        f"Writes the {names}{also} into cluster_analysis_output/cluster_analysis.db; with --export_type text or excel "
        f"it writes workbooks into {first}/ there, else files named like the tables, as in {file_name(first)}.csv."
    )


def _tables_of(command: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the tables that a command writes, by their names outside, and those that it writes of several ranks besides."""
    from prof_analysis.analyses import ANALYSES
    from prof_analysis.logs.vllm_stages import EXPORTS

    return (ANALYSES[command].exports, ANALYSES[command].of_several_ranks) if command in ANALYSES else (EXPORTS, {})
