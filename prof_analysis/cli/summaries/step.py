"""What step-time and free-time print on stdout."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.cli.summaries.parts import (
    cells,
    duration,
    duration_or_dash,
    grid_of,
    percent,
    print_statistic,
    rank_count,
    size_of,
    text_of,
)

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_PARTS = ("computing", "communication_not_overlapped", "free")


def step_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The longest steps, where their time went, what all steps took together, and what is not in that."""
    steps = profile.rows(f"FROM step.time ORDER BY stage_ns + bubble_ns DESC NULLS LAST, profile, step_id LIMIT {top:d}")
    columns = ("computing", "communication", "communication_not_overlapped", "overlapped", "free", "stage", "bubble")
    sums = ", ".join(f"sum({column}_ns)::BIGINT AS {column}_ns" for column in columns)
    totals = profile.rows(f"SELECT {sums} FROM step.time WHERE stage_ns IS NOT NULL")
    origins = profile.rows(
        """
        SELECT
            count(DISTINCT profile) FILTER (origin = 'profiler') AS ranks_of_profiler,
            coalesce(sum(computing_ns) FILTER (stage_ns IS NULL AND origin = 'kernels'), 0)::BIGINT AS computing_of_no_step_ns,
            count(*) FILTER (stage_ns IS NULL AND origin = 'profiler') AS steps_known_in_part
        FROM step.time
        """
    )
    return {**size_of(profile, "step.time"), "all": totals[0], **origins[0], "longest_steps": steps}


def print_step_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the longest steps with the parts of their time, the parts of all steps, and the files."""
    grid = grid_of(
        "stage", "computing", "communication alone", "overlapped", "free", "bubble", "preparing", "step", "profile", left=2
    )
    for row in facts["longest_steps"]:
        span_ns = None if row["stage_ns"] is None else row["stage_ns"] + row["bubble_ns"]
        grid.add_row(
            duration_or_dash(row["stage_ns"]),
            *(
                _part(row, part, span_ns)
                for part in ("computing", "communication_not_overlapped", "overlapped", "free", "bubble")
            ),
            duration_or_dash(row["preparing_ns"]),
            text_of("-" if row["step_id"] is None else row["step_id"]),
            text_of(row["profile"]),
        )
    whole = facts["all"]
    span_ns = (whole["stage_ns"] or 0) + (whole["bubble_ns"] or 0)
    parts = [f"{part.replace('_', ' ')} {_part(whole, part, span_ns)}" for part in _PARTS]
    lines = [f"{'; '.join(parts)}; {rank_count(facts)}"]
    if of_no_step := facts["computing_of_no_step_ns"]:
        share = of_no_step / (of_no_step + (whole["computing_ns"] or 0))
        lines.append(f"not in this: {duration(of_no_step)} of computing, {percent(share)} of it, by kernels of no step")
    if of_profiler := facts["ranks_of_profiler"]:
        lines.append(
            f"of {of_profiler:,} of the ranks, which have no kernels, the times are those that the profiler worked out"
        )
    if in_part := facts["steps_known_in_part"]:
        lines.append(f"not in this: {in_part:,} steps of which the profiler recorded only a part")
    print_statistic(grid, lines, written)


def free_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The causes of the free time of all steps, the longest gaps, and what the profiles cannot tell."""
    causes = profile.rows(
        """
        SELECT
            cause,
            sum(gap_count)::BIGINT AS gap_count,
            sum(total_ns)::BIGINT AS total_ns,
            sum(total_ns) / sum(sum(total_ns)) OVER () AS share
        FROM free.cause
        GROUP BY cause
        ORDER BY total_ns DESC, cause
        """
    )
    gaps = profile.rows(f"FROM free.longest_gap ORDER BY duration_ns DESC, profile, start_ns LIMIT {top:d}")
    unknown_causes = profile.rows("SELECT cause, reason, count(*) AS ranks FROM free.unknown_cause GROUP BY ALL ORDER BY ALL")
    return {
        **size_of(profile, "free.cause"),
        "ranks": size_of(profile, "step.time")["ranks"],
        "causes": causes,
        "longest_gaps": gaps,
        "unknown_causes": unknown_causes,
    }


def print_free_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the longest gaps with what the host did, the causes of all free time, what is not told, and the files."""
    grid = grid_of("gap", "of it", "main cause", "op before", "op after", "longest host call", "step", "profile", left=6)
    for row in facts["longest_gaps"]:
        call = None if row["host_call"] is None else f"{row['host_call']} ({duration(row['host_call_ns'])})"
        step = None if row["step_id"] is None else str(row["step_id"])
        grid.add_row(
            duration(row["duration_ns"]),
            percent(row["cause_ns"] / row["duration_ns"]),
            *cells(row["cause"], row["op_before"], row["op_after"], call, step, row["profile"]),
        )
    total_ns = sum(row["total_ns"] for row in facts["causes"])
    lines = [f"free {duration(total_ns)}; {rank_count(facts)}"]
    lines += [f"{percent(row['share'])} {row['cause']}, {duration(row['total_ns'])}{_gaps(row)}" for row in facts["causes"]]
    lines += [f"not told: {row['cause']}: {row['reason']}" for row in facts["unknown_causes"]]
    print_statistic(grid, lines, written)


def _gaps(row: dict[str, Any]) -> str:
    count = row["gap_count"]
    return "" if count is None else f" in {count:,} gap{'s' * (count != 1)}"


def _part(row: dict[str, Any], part: str, of_ns: int | None) -> str:
    """A time, and its part of another."""
    time_ns = row[f"{part}_ns"]
    share = f" ({percent(time_ns / of_ns)})" if time_ns is not None and of_ns else ""
    return f"{duration_or_dash(time_ns)}{share}"
