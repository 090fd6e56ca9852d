"""What `mfu` prints."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.cli.summaries.parts import cells, duration, grid_of, percent, print_statistic, rank_count, size_of

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
        FROM mfu.kernel_mfu
        WHERE reason IS NOT NULL
        GROUP BY reason
        ORDER BY duration_ns DESC, reason
        """
    )
    figures = (*_MFU_FIGURES, "cube_duration_ns", "cube_known_share")
    whole = profile.rows(f"SELECT {', '.join(figures)} FROM across.mfu WHERE level = 'all'") or [dict.fromkeys(figures)]
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
    grid = grid_of("MFU", "TFLOPS", "in MFU", "kernel time", "kernels", *labels, left=len(labels))
    for row in facts["heaviest"]:
        grid.add_row(*_mfu_figures(row), *cells(*(row[label] for label in labels)))
    whole = facts["all"]
    lines = [f"MFU {percent(whole['mfu'])} of the kernels in it: {_shares(whole)}; {rank_count(facts)}"]
    lines += _main_reason(whole, facts["left_out"])
    lines += [f"peak: {row['peak']}" for row in facts["peaks"]]
    lines += [
        f"not in MFU: {duration(row['duration_ns'])} in {row['kernel_count']:,} kernels: {row['reason']}"
        for row in facts["left_out"]
    ]
    lines += [f"to look at: {row['rows']:,} x {row['finding']} (MfuAudit)" for row in facts["audit"]]
    print_statistic(grid, lines, written)


_MFU_FIGURES = ("mfu", "achieved_tflops", "known_share", "duration_ns", "kernel_count")
_MFU = ", ".join(_MFU_FIGURES)
_MFU_ROWS = {
    "module": f"""
        SELECT {_MFU}, if(parent_module = '', module, parent_module || '/' || module) AS module
        FROM across.mfu
        WHERE level = 'module' AND cube_duration_ns > 0
        ORDER BY duration_ns DESC, module
    """,
    "op": f"""
        SELECT {_MFU}, op_name AS op, type, input_shapes
        FROM across.mfu
        WHERE level = 'op'
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
        FROM mfu.kernel_mfu
        ORDER BY duration_ns DESC, profile, start_ns, kernel_id
    """,
    "rank": f"SELECT {_MFU}, profile AS rank FROM mfu.rank ORDER BY profile",
}


def _shares(whole: dict[str, Any]) -> str:
    """Which part of the time is in the MFU, in words."""
    cube, compute = percent(whole["cube_known_share"]), percent(whole["known_share"])
    return f"{cube} of the time of kernels that may multiply matrices, {compute} of compute time"


def _main_reason(whole: dict[str, Any], left_out: list[dict[str, Any]]) -> Iterator[str]:
    """Say which part of the time of matrix products is not in the MFU, and the reason for most of it."""
    if left_out and whole["cube_known_share"] is not None:
        main = left_out[0]
        share = main["duration_ns"] / whole["cube_duration_ns"]
        mostly = f"{percent(share)} since {main['reason']}" if len(left_out) > 1 else f"since {main['reason']}"
        yield f"not in MFU: {percent(1 - whole['cube_known_share'])} of the time of these kernels, {mostly}"


def _mfu_figures(row: dict[str, Any]) -> list[str]:
    tflops = "-" if row["achieved_tflops"] is None else f"{row['achieved_tflops']:,.1f}"
    time = duration(row["duration_ns"])
    return [percent(row["mfu"]), tflops, percent(row["known_share"]), time, f"{row['kernel_count']:,}"]
