"""What `stage-durations` prints: the stages over all processes, those of each process, and what the logs hold besides."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from prof_analysis import frames
from prof_analysis.cli.summaries.parts import cells, duration, grid_of, print_statistic
from prof_analysis.logs.vllm_stages import StageLogs

_TIMES = ("mean", "p50", "p95", "p99", "max")


def stage_facts(logs: StageLogs, top: int) -> dict[str, Any]:
    """The stages over all processes, the first of those of each process, and the lines of the logs."""

    def rows(query: str) -> list[dict[str, Any]]:
        return frames.rows(logs.connection.sql(query))

    counts = rows("""
        SELECT
            count(*) AS logs,
            coalesce(sum(line_count), 0)::BIGINT AS lines,
            coalesce(sum(announcement_count), 0)::BIGINT AS announcements,
            coalesce(sum(other_line_count), 0)::BIGINT AS other_lines,
            coalesce(sum(process_count), 0)::BIGINT AS processes
        FROM vllm.log
    """)
    return {
        **counts[0],
        "stages": rows(f"FROM vllm.across_processes LIMIT {top:d}"),
        "stages_of_processes": rows(f"FROM vllm.statistic LIMIT {top:d}"),
    }


def print_stage_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the stages of all processes and of each, how many lines told them, and the files."""
    headers = (*_TIMES, "last / first tenth", "host rest", "count", "phase", "stage")
    whole = grid_of(*headers, left=2)
    for row in facts["stages"]:
        _add(whole, row)
    each = grid_of(*headers, "process", left=3)
    for row in facts["stages_of_processes"]:
        _add(each, row, row["process"])
    line = (
        f"{_counted(facts, 'announcement')} of {_counted(facts, 'process', 'es')} in {_counted(facts, 'line')} of "
        f"{_counted(facts, 'log')}; {facts['other_lines']:,} of the lines say something else and are skipped"
    )
    print_statistic(whole, [line], ())
    print_statistic(each, [""], written)


def _add(grid: Grid, row: dict[str, Any], *more: str | None) -> None:
    ratio = row["last_to_first"]
    rest = row["host_rest_mean_ns"]
    grid.add_row(
        *(duration(round(row[f"{time}_ns"])) for time in _TIMES),
        "-" if ratio is None else f"{ratio:.2f}",
        "-" if rest is None else duration(round(rest)),
        f"{row['duration_count']:,}",
        *cells(row["phase"], row["stage"], *more),
    )


def _counted(facts: dict[str, Any], what: str, plural: str = "s") -> str:
    count = facts[f"{what}{plural}"]
    return f"{count:,} {what}{plural * (count != 1)}"
