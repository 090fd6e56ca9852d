"""The analysis `mfu`: how much of the peak of the device does the model use?"""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.tree import PATH, as_tree
from prof_analysis.analyses.words import duration, percent, several
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

_FIGURES = ("mfu", "efficiency", "achieved_tflops", "known_share", "duration_ns", "kernel_count", "mac_ratio", "reasons")

ANALYSIS = Analysis(
    "mfu",
    "How much of the peak of the device does the model use?\n\n"
    "Shows model FLOPs utilisation (MFU: FLOPs by the time of the steps), and how well the matrix products use the "
    "device while they run.",
    "compute kernels",
    {
        "mfu.rank": "Mfu",
        "mfu.module": "MfuModule",
        "mfu.op": "MfuOp",
        "mfu.kernel_efficiency": "MfuKernel",
        "mfu.audit": "MfuAudit",
        "mfu.operator_mfu": "OperatorMFU",
        "mfu.module_mfu": "ModuleMFU",
        "across.mfu": "MfuAllRanks",
    },
    section="kernels",
    captions=("MFU and efficiency of ops, by their shapes",),
    requires=("compute", "shapes"),
    options=(INPUT, MODULES, MACHINE, "peak_tflops"),
    only_written=("mfu.kernel_efficiency", "mfu.operator_mfu", "mfu.module_mfu"),
    also=("module.chosen_domain", "across.mfu_peak", "across.mfu_left_out", "across.mfu_finding"),
    extras={
        "by phase": Extra((), {"mfu.by_phase": "MfuByPhase"}, ("across.mfu_by_phase",)),
        "attention by phase": Extra((), {"roofline.attention_by_phase": "AttentionByPhase"}, ("across.attention_by_phase",)),
    },
    rows={
        "module": Rows("mfu.module", requires=("modules", "kernels")),
        "op": Rows("mfu.op"),
        "kernel": Rows("mfu.kernel_efficiency"),
        "rank": Rows("mfu.rank"),
        "phase": Rows("mfu.by_phase", "across.mfu_by_phase", requires=("kernels",), extra="by phase", is_listed=True),
        "attention": Rows(
            "roofline.attention_by_phase",
            "across.attention_by_phase",
            requires=("kernels",),
            extra="attention by phase",
            is_listed=True,
        ),
    },
    place=6,
    heading=WHY,
    examples={
        "Each op by its input shapes": "result --by op",
        "Against the peaks of your device": "result --peak-tflops fp16=376,bf16=353.9",
    },
    returns="""Return model FLOPs utilisation, and how much of the peak of the device the matrix products used while they ran.

    mfu = time that the FLOPs would take at the peak / time from the first kernel to the end of the last one;
    efficiency = known_flops / possible_flops, over kernels with known FLOPs and peak; reasons say why others are left out.
    Table across.mfu has the same over all ranks.
    Raises InputError when no rank holds compute kernels with types, or with by="module" no modules.
    """,
    keys=lambda: schema.by_level(
        schema.answer(
            heaviest=schema.rows("modules, ops, kernels or ranks with most kernel time"),
            all=schema.one(
                "all together", schema.row("across.mfu", *_FIGURES, "elapsed_ns", "cube_duration_ns", "cube_known_share")
            ),
            peaks=schema.rows("the peaks that it counts with", "across.mfu_peak"),
            left_out=schema.rows("kernels without FLOPs", "across.mfu_left_out"),
            audit=schema.rows("what contradicts itself", "across.mfu_finding"),
        ),
        "heaviest",
        {
            "module": schema.row("across.mfu", *_FIGURES, module=schema.MODULE),
            "op": schema.row("across.mfu", *_FIGURES, "type", "input_shapes", op=schema.columns_of("across.mfu")["op_name"]),
            "kernel": schema.row("across.mfu", *_FIGURES, kernel=schema.columns_of("mfu.kernel_efficiency")["name"]),
            "rank": schema.row("across.mfu", *_FIGURES, rank=schema.columns_of("mfu.rank")["profile"]),
        },
    ),
)

_SELECTED = ", ".join(_FIGURES)
_ROWS = {
    "module": f"""
        SELECT {_SELECTED}, {PATH} AS module
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
            kernel.mfu,
            kernel.efficiency,
            kernel.achieved_tflops,
            if(kernel.efficiency IS NULL, 0, 1)::DOUBLE AS known_share,
            kernel.duration_ns,
            1 AS kernel_count,
            kernel.mac_ratio,
            kernel.reason AS reasons,
            kernel.name AS kernel
        FROM mfu.kernel_efficiency AS kernel
        ORDER BY duration_ns DESC, profile, start_ns, kernel_id
    """,
    "rank": f"SELECT {_SELECTED}, profile AS rank FROM mfu.rank ORDER BY profile",
}


def mfu(profile: Tables, top: int, by: str | None = None) -> tuple[Facts, list[Block]]:
    """Return MFU and efficiency of the heaviest modules, ops, kernels or ranks, and of all; the peaks; the kernels left out."""
    has_modules = bool(profile.rows("SELECT 1 FROM mfu.module LIMIT 1"))
    by = by or ("module" if has_modules else "op")
    rows = profile.rows(f"{_ROWS[by]} LIMIT {top:d}")
    figures = (*_FIGURES, "elapsed_ns", "cube_duration_ns", "cube_known_share")
    (whole,) = profile.rows(f"SELECT {', '.join(figures)} FROM across.mfu WHERE level = 'all'") or [dict.fromkeys(figures)]
    facts: Facts = {
        **size_of(profile, "mfu.rank"),
        "level": by,
        "heaviest": rows,
        "all": whole,
        "peaks": profile.rows("FROM across.mfu_peak"),
        "left_out": profile.rows("FROM across.mfu_left_out"),
        "audit": profile.rows("FROM across.mfu_finding"),
    }
    labels = [name for name in rows[0] if name not in (*_FIGURES, "input_shapes")] if rows else [by]
    has_shapes = any("input_shapes" in row for row in rows)
    columns: dict[str, Source] = {
        **{label: ("tree", itemgetter("line")) if label == "module" else ("text", itemgetter(label)) for label in labels},
        "kernel time": "duration_ns",
        "MFU": "mfu",
        "efficiency": "efficiency",
        "TFLOPS": "achieved_tflops",
        **({"input shapes": ("text", itemgetter("input_shapes"))} if has_shapes else {}),
        "with FLOPs": "known_share",
        "kernels": "kernel_count",
        **({"matrix unit": "mac_ratio"} if any(row["mac_ratio"] is not None for row in rows) else {}),
        **({"why FLOPs lack": ("text", itemgetter("reasons"))} if any(row["reasons"] for row in rows) else {}),
    }
    shown = as_tree(rows) if by == "module" else rows
    return facts, [table_of("across.mfu", shown, columns, "efficiency"), said(*_lines(facts, whole))]


def _lines(facts: Facts, whole: dict[str, Any]) -> Iterator[str]:
    """Yield sentences: MFU and efficiency, the part of the time that they count, the peaks, and the kernels left out."""
    cube, compute = percent(whole["cube_known_share"]), percent(whole["known_share"])
    is_whole = whole["cube_known_share"] == 1
    at_least = "" if is_whole or whole["mfu"] is None else "at least "  # FLOPs that are not known are missing in it.
    time = f"{duration(whole['elapsed_ns'])} of {several(facts['ranks'], 'rank')}, idle time included"
    if whole["mfu"] is None:
        yield f"MFU and efficiency are not known: no kernel has both known FLOPs and a known peak; {time}"
    else:
        yield f"MFU {at_least}{percent(whole['mfu'])} of the peak, over {time}"
        yield (
            f"efficiency {percent(whole['efficiency'])} of the peak, while kernels with known FLOPs ran: {cube} of the time of "
            f"kernels that may multiply matrices, {compute} of compute time"
        )
    yield from _peaks(facts["peaks"])
    all_ns = whole["cube_duration_ns"]
    for row in facts["left_out"]:
        share = percent(row["duration_ns"] / all_ns if all_ns else None)
        time = f"{duration(row['duration_ns'])} in {several(row['kernel_count'], 'kernel')}"
        busy = "" if row["mac_ratio"] is None else f"; it worked for {percent(row['mac_ratio'])} of the time of the cube cores"
        yield f"without FLOPs: {time} ({share} of the time of kernels that may multiply matrices): {row['reason']}{busy}"
    for row in facts["audit"]:
        yield f"see MfuAudit: {row['rows']:,} x {row['finding']}"


def _peaks(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each peak; one that ranks have from files of their own is shown with the first."""
    same: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        same.setdefault(row["peak"].partition(" (")[0], []).append(row)
    for first, *others in same.values():
        more = sum(row["ranks"] for row in others)
        same_for = f", and the same for {several(more, 'more rank')}"
        yield f"peak: {first['peak']}{same_for if more else ''}"
