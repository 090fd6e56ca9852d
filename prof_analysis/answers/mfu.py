"""The answer of `mfu`: how well modules, ops, kernels or ranks use the cube cores, by which peaks, and what is left out."""

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from prof_analysis.answers.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.answers.words import duration, percent, several

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_FIGURES = ("mfu", "achieved_tflops", "known_share", "duration_ns", "kernel_count")
_SELECTED = ", ".join(_FIGURES)
_ROWS = {
    "module": f"""
        SELECT {_SELECTED}, if(parent_module = '', module, parent_module || '/' || module) AS module
        FROM across.mfu
        WHERE level = 'module' AND cube_duration_ns > 0
        ORDER BY duration_ns DESC, module
    """,
    "op": f"""
        SELECT {_SELECTED}, op_name AS op, type, input_shapes
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
    "rank": f"SELECT {_SELECTED}, profile AS rank FROM mfu.rank ORDER BY profile",
}


def mfu(profile: "Profile", top: int, level: str | None = None) -> tuple[Facts, list[Block]]:
    """Return the MFU of the heaviest modules, ops, kernels or ranks; over all ranks, the peaks and what is left out."""
    has_modules = bool(profile.rows("SELECT 1 FROM mfu.module LIMIT 1"))
    level = level or ("module" if has_modules else "op")
    rows = profile.rows(f"{_ROWS[level]} LIMIT {top:d}")
    figures = (*_FIGURES, "cube_duration_ns", "cube_known_share")
    (whole,) = profile.rows(f"SELECT {', '.join(figures)} FROM across.mfu WHERE level = 'all'") or [dict.fromkeys(figures)]
    facts: Facts = {
        **size_of(profile, "mfu.rank"),
        "level": level,
        "heaviest": rows,
        "all": whole,
        "peaks": profile.rows("FROM across.mfu_peak"),
        "left_out": profile.rows("FROM across.mfu_left_out"),
        "audit": profile.rows("FROM across.mfu_finding"),
    }
    labels = [name for name in rows[0] if name not in _FIGURES] if rows else []
    columns: dict[str, Source] = {
        "MFU": "mfu",
        "TFLOPS": "achieved_tflops",
        "in MFU": "known_share",
        "kernel time": "duration_ns",
        "kernels": "kernel_count",
        **{label: ("text", itemgetter(label)) for label in labels or [level]},
    }
    return facts, [table_of("across.mfu", rows, columns), said(*_lines(facts, whole))]


def _lines(facts: Facts, whole: dict[str, Any]) -> Iterator[str]:
    """Yield sentences: which part of the time is in the MFU, by which peaks, and what is left out."""
    cube, compute = percent(whole["cube_known_share"]), percent(whole["known_share"])
    shares = f"{cube} of the time of kernels that may multiply matrices, which is {compute} of compute time"
    yield f"MFU {percent(whole['mfu'])}, measured over {shares}; {several(facts['ranks'], 'rank')}"
    left_out = facts["left_out"]
    if left_out and whole["cube_known_share"] is not None:
        main = left_out[0]
        share = main["duration_ns"] / whole["cube_duration_ns"]
        mostly = f"{percent(share)} since {main['reason']}" if len(left_out) > 1 else f"since {main['reason']}"
        yield f"not in MFU: {percent(1 - whole['cube_known_share'])} of the time of these kernels, {mostly}"
    for row in facts["peaks"]:
        yield f"peak: {row['peak']}"
    for row in left_out:
        yield f"not in MFU: {duration(row['duration_ns'])} in {several(row['kernel_count'], 'kernel')}: {row['reason']}"
    for row in facts["audit"]:
        yield f"see MfuAudit: {row['rows']:,} x {row['finding']}"
