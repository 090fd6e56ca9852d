"""What `mfu` prints."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.summaries.parts import cells, duration, grid_of, percent, print_statistic, rank_count, size_of

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


def mfu_facts(profile: "Profile", top: int, level: str | None = None) -> dict[str, Any]:
    """MFU of the heaviest modules, ops, kernels or ranks; the peaks it is measured by; and what is left out, over all ranks."""
    has_modules = bool(profile.rows("SELECT 1 FROM mfu.module LIMIT 1"))
    level = level or ("module" if has_modules else "op")
    rows = profile.rows(f"{_MFU_ROWS[level]} LIMIT {top:d}")
    peaks = profile.rows(
        "SELECT unnest(string_split(peaks, ', ')) AS peak, count(*) AS ranks FROM mfu.rank GROUP BY peak ORDER BY peak"
    )
    left_out = profile.rows(
        """
        SELECT reason, count(*) AS kernel_count, sum(duration_ns)::BIGINT AS duration_ns
        FROM mfu.kernel
        WHERE reason IS NOT NULL
        GROUP BY reason
        ORDER BY duration_ns DESC, reason
        """
    )
    whole = profile.rows(f"SELECT {_MFU} FROM mfu.rank")
    audit = profile.rows("SELECT finding, count(*) AS rows FROM mfu.audit GROUP BY finding ORDER BY finding")
    return {
        **size_of(profile, "mfu.rank"),
        "level": level,
        "heaviest": rows,
        "all": whole[0],
        "peaks": peaks,
        "left_out": left_out,
        "audit": audit,
    }


def print_mfu_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print MFU by row, the peaks, what is left out and to be looked at, and the files."""
    labels = [name for name in facts["heaviest"][0] if name not in _MFU_FIGURES] if facts["heaviest"] else [facts["level"]]
    grid = grid_of("MFU", "TFLOPS", "time in MFU", "kernel time", "kernels", *labels, left=len(labels))
    for row in facts["heaviest"]:
        grid.add_row(*_mfu_figures(row), *cells(*(row[label] for label in labels)))
    whole = facts["all"]
    known = f"{percent(whole['known_share'])} of compute time"
    lines = [f"MFU {percent(whole['mfu'])} of the kernels in it, {known}; {rank_count(facts)}"]
    lines += [f"peak: {row['peak']}" for row in facts["peaks"]]
    lines += [
        f"not in MFU: {duration(row['duration_ns'])} in {row['kernel_count']:,} kernels: {row['reason']}"
        for row in facts["left_out"]
    ]
    lines += [f"to look at: {row['rows']:,} x {row['finding']} (MfuAudit)" for row in facts["audit"]]
    print_statistic(grid, lines, written)


_MFU = """
    sum(flops) / sum(flops / nullif(mfu, 0)) AS mfu,
    sum(flops) / nullif(sum(known_duration_ns), 0) / 1000 AS achieved_tflops,
    sum(known_duration_ns) / nullif(sum(duration_ns), 0) AS known_share,
    sum(duration_ns)::BIGINT AS duration_ns,
    sum(kernel_count)::BIGINT AS kernel_count
"""
_MFU_FIGURES = ("mfu", "achieved_tflops", "known_share", "duration_ns", "kernel_count")
_MFU_ROWS = {
    "module": f"""
        SELECT {_MFU}, if(parent_module = '', module, parent_module || '/' || module) AS module
        FROM mfu.module
        GROUP BY ALL
        HAVING sum(cube_duration_ns) > 0
        ORDER BY duration_ns DESC, module
    """,
    "op": f"""
        SELECT {_MFU}, op_name AS op, type, input_shapes
        FROM mfu.op
        GROUP BY ALL
        ORDER BY duration_ns DESC, op, type, input_shapes
    """,
    "kernel": """
        SELECT
            mfu,
            achieved_tflops,
            if(mfu IS NULL, 0, 1)::DOUBLE AS known_share,
            duration_ns,
            1 AS kernel_count,
            name AS kernel,
            coalesce(flops_source, reason) AS source
        FROM mfu.kernel
        ORDER BY duration_ns DESC, profile, start_ns, kernel_id
    """,
    "rank": f"SELECT {_MFU}, profile AS rank FROM mfu.rank GROUP BY profile ORDER BY profile",
}


def _mfu_figures(row: dict[str, Any]) -> list[str]:
    tflops = "-" if row["achieved_tflops"] is None else f"{row['achieved_tflops']:,.1f}"
    time = duration(row["duration_ns"])
    return [percent(row["mfu"]), tflops, percent(row["known_share"]), time, f"{row['kernel_count']:,}"]
