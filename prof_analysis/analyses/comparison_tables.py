"""The tables of the answer of `compare`: the figures of whole runs, and what changed at each level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from prof_analysis.analyses.answer import Block, Facts, ShownTable, Source, table_of
from prof_analysis.analyses.comparison_words import OUTSIDE, both, number_of
from prof_analysis.analyses.words import as_text

_TIMES: Mapping[str, Source] = {
    "difference": ("change", lambda row: row["difference_ns"]),
    "base": "base_ns",
    "new": "new_ns",
    "new / base": "ratio",
}


def summary_of(rows: Iterable[Mapping[str, Any]]) -> ShownTable:
    """Return the times of the whole run; those that neither run has are left out."""
    columns: dict[str, Source] = {
        "per unit": "figure",
        "difference": ("change", lambda row: row["difference"]),
        "base": ("time", lambda row: row["base"]),
        "new": ("time", lambda row: row["new"]),
        "new / base": "ratio",
        "noise": ("text", _noise),
    }
    shown = (row for row in rows if row["unit"] == "ns" and row["figure"] != OUTSIDE and (row["base"] or row["new"]))
    return table_of("runs.comparison_summary", shown, columns)


def _noise(row: Mapping[str, Any]) -> str:
    """Return whether a difference is noise; a dash where it is not known, or where there is no difference."""
    difference = row["difference_ns"] if "difference_ns" in row else row["difference"]
    return as_text(row["is_noise"] if difference else None, "text")


def changes(facts: Facts) -> Iterable[Block]:
    """Yield a table of changes for each level that has rows."""
    columns_of: Mapping[str, tuple[str, Mapping[str, Source]]] = {
        "modules": (
            "runs.module_group",
            {
                "module": "modules",
                "own difference": ("change", lambda row: row["self_difference_ns"]),
                "base": "base_self_ns",
                "new": "new_self_ns",
                "new / base": ("number", lambda row: row["self_ratio"]),
                "share of difference": "difference_share",
                "modules": "module_count",
                "noise": ("text", lambda row: "-" if row["verdict"] == "changed" else "no"),
                "rule": "rule",
            },
        ),
        "efficiency": (
            "runs.efficiency_comparison",
            {
                "efficiency of": ("text", _whole_name),
                "MFU base": ("share", lambda row: row["base_mfu"]),
                "MFU new": ("share", lambda row: row["new_mfu"]),
                "efficiency base": ("share", lambda row: row["base_efficiency"]),
                "efficiency new": ("share", lambda row: row["new_efficiency"]),
                "bound": ("text", partial(_texts, column="bound")),
            },
        ),
        "ops": (
            "runs.op_group",
            {
                "op": ("text", lambda row: row["op_name"] or row["modules"]),
                "in module": "modules",
                "change": "change",
                **_TIMES,
                "kernels": ("text", partial(_pair, column="kernel_count")),
                "modules": "module_count",
                "kernel types": ("text", partial(_texts, column="kernel_types")),
                "input shapes": (
                    "text",
                    lambda row: both(*(_shapes(row[f"{side}_input_shapes"]) for side in ("base", "new"))),
                ),
                "noise": ("text", _noise),
            },
        ),
        "kernels": (
            "runs.kernel_comparison",
            {
                "kernel type": ("text", lambda row: row["type"] or f"{row['kind']} of unknown type"),
                "input shapes": ("text", lambda row: _shapes(row["input_shapes"])),
                "change": "change",
                **_TIMES,
                "kernels": ("text", partial(_pair, column="kernel_count")),
                "mean base": "base_mean_ns",
                "mean new": "new_mean_ns",
                "noise": ("text", _noise),
            },
        ),
        "communication": (
            "runs.communication_comparison",
            {
                "communication": ("text", lambda row: row["operation"] or row["kind"]),
                "change": "change",
                **_TIMES,
                "group": "group_role",
                "elements from": "elements_from",
                "wait base": "base_wait_ns",
                "wait new": "new_wait_ns",
                "GB/s base": "base_bandwidth_gb_s",
                "GB/s new": "new_bandwidth_gb_s",
                "operators": ("text", partial(_pair, column="op_count")),
                "noise": ("text", _noise),
            },
        ),
        "memory": (
            "runs.memory_comparison",
            {
                "memory of": ("text", _memory_name),
                "in module": ("text", lambda row: _whole_name(row) if row["module"] else "-"),
                "peak difference": ("size", lambda row: row["live_difference_bytes"]),
                "peak base": ("size", lambda row: row["base_live_bytes"]),
                "peak new": ("size", lambda row: row["new_live_bytes"]),
                "allocated difference": ("size", lambda row: row["difference_bytes"]),
                "allocated base": ("size", lambda row: row["base_bytes"]),
                "allocated new": ("size", lambda row: row["new_bytes"]),
                "blocks": ("text", partial(_pair, column="block_count")),
                **({"call site": "site"} if any(row["site"] for row in facts.get("memory", ())) else {}),
            },
        ),
        "passes": (
            "runs.pass_comparison",
            {
                "passes in phase": ("text", lambda row: row["phase"] or "unknown"),
                "requests": "request_count",
                "difference": "difference_ns",
                "median base": "base_median_ns",
                "median new": "new_median_ns",
                "p99 base": "base_p99_ns",
                "p99 new": "new_p99_ns",
                "gap base": "base_median_gap_ns",
                "gap new": "new_median_gap_ns",
                "passes": ("text", partial(_pair, column="pass_count")),
            },
        ),
        "idle": ("runs.idle_comparison", {"idle by cause": "cause", **_TIMES, "noise": ("text", _noise)}),
    }
    for name, (table, columns) in columns_of.items():
        if facts.get(name):
            yield table_of(table, facts[name], columns)
    if facts["steps"] and max(facts["step_count"]["base"], facts["step_count"]["new"]) > 1:
        yield _steps(facts["steps"])


def _whole_name(row: Mapping[str, Any]) -> str:
    """Return the path of a module, or the sign for all of them."""
    return "(all)" if row["module"] is None else "/".join(filter(None, (row["parent_module"], row["module"])))


def _memory_name(row: Mapping[str, Any]) -> str:
    """Return the op that allocated blocks, or another part of the peak."""
    if row["part"] == "blocks":
        return row["op_name"] or "(op not recorded)"
    part = f"({row['part']}, {row['role']})"
    return part if row["op_name"] is None else f"{row['op_name']} {part}"


def _steps(rows: Iterable[Mapping[str, Any]]) -> ShownTable:
    columns: dict[str, Source] = {
        "step": ("text", partial(_texts, column="step_id")),
        **_TIMES,
        "outlier": ("text", partial(_texts, column="outlier")),
    }
    return table_of("runs.step_comparison", rows, columns)


def _texts(row: Mapping[str, Any], column: str) -> str:
    """Return what base and new have, once where it is the same."""
    base, new = row[f"base_{column}"], row[f"new_{column}"]
    return both(as_text(base, "text"), as_text(new, "text"))


def _shapes(text: str | None) -> str:
    """Return input shapes without those behind the last tensor, which say nothing."""
    return (text or "").rstrip(";") or "-"


def _pair(row: Mapping[str, Any], column: str) -> str:
    return both(*(number_of(row[f"{side}_{column}"]) for side in ("base", "new")))
