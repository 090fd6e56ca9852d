"""The answer of `compare`: the finding, the figures of whole runs, and changes by module, op, kernel, step and cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from prof_analysis.analyses.answer import Answer, Block, Facts, ShownTable, Source, said, table_of
from prof_analysis.analyses.asked import Compared
from prof_analysis.analyses.words import as_text, change, count, percent, several
from prof_analysis.engine.quotes import quote_text

# The rows of a table that changed by more than noise, and rows whose noise is not known.
_CHANGED = "change IS NOT NULL AND change <> 'noise'"
# Types of kernels with their shapes that one run alone has; they are not shown where they have more than this part of the time.
_IN_ONE_RUN = "coalesce(change IN ('added', 'removed'), false)"
_MOST_OF_TIME = 0.5
# The figure of kernels of no unit.
_OUTSIDE = "kernel time outside"
_OUTLIER = "(base_outlier IS NOT NULL OR new_outlier IS NOT NULL)"
_TIMES: Mapping[str, Source] = {
    "difference": ("change", lambda row: row["difference_ns"]),
    "base": "base_ns",
    "new": "new_ns",
    "new / base": "ratio",
}


def answers_of(comparison: Compared, top: int, *, efficiency: bool = False) -> dict[str, Answer]:
    """Return the answer about each run that is compared with the base, by its name; '' where one was given.

    With `efficiency` it has MFU and bounds of modules too.
    """
    comparison.prepare()
    found = {run: _answer(comparison, run, top, efficiency) for run in comparison.runs}
    return found if comparison.has_several else {"": next(iter(found.values()))}


def _answer(comparison: Compared, run: str, top: int, efficiency: bool) -> Answer:
    def rows(table: str, condition: str = "true", limit: int | None = top) -> list[dict[str, Any]]:
        first = "" if limit is None else f" LIMIT {limit:d}"
        return [
            {name: value for name, value in row.items() if name != "run"}
            for row in comparison.rows(f"FROM {table} WHERE run = {quote_text(run)} AND {condition}{first}")
        ]

    (size,) = rows("runs.comparison")
    (steps,) = comparison.rows(
        f"""
        SELECT
            count(base_step_id) AS base,
            count(new_step_id) AS new,
            count(base_outlier) AS base_outliers,
            count(new_outlier) AS new_outliers
        FROM runs.step_comparison
        WHERE run = {quote_text(run)}
        """
    )
    (finding,) = rows("runs.comparison_finding")
    # A run is compared with the base, whose ranks can lack others of its job too.
    jobs = comparison.rows(
        f"SELECT run, sentence FROM across.job WHERE sentence IS NOT NULL AND run IN ('base', {quote_text(run)}) ORDER BY run"
    )
    (in_one_run,) = comparison.rows(
        f"""
        SELECT sum(both_ns) FILTER ({_IN_ONE_RUN}) / nullif(sum(both_ns), 0) AS share
        FROM (
            SELECT change, round(base_ns + new_ns)::BIGINT AS both_ns
            FROM runs.kernel_comparison
            WHERE run = {quote_text(run)}
        )
        """
    )
    # Kernels of two vendors have other names: line by line, they would be added and removed.
    is_other_device = (in_one_run["share"] or 0) > _MOST_OF_TIME
    of_kernels = f"{_CHANGED} AND NOT ({_IN_ONE_RUN})" if is_other_device else _CHANGED
    facts: Facts = {
        "finding": finding,
        "size": size,
        "summary": rows("runs.comparison_summary", limit=None),
        "modules": rows("runs.module_group", "verdict NOT IN ('same', 'noise')"),
        "ops": rows("runs.op_group", _CHANGED),
        # How many kernels of no unit there are depends on when the recording began.
        "kernels": rows("runs.kernel_comparison", f"{of_kernels} AND place IS NULL"),
        "kernels_in_one_run_share": in_one_run["share"],
        "communication": rows("runs.communication_comparison", "difference_ns <> 0"),
        "jobs": jobs,
        "step_count": steps,
        "steps": rows("runs.step_comparison", "true" if max(steps["base"], steps["new"]) <= top else _OUTLIER),
        "idle": rows("runs.idle_comparison", "difference_ns <> 0"),
        "locations": rows("runs.comparison_location", limit=None),
    }
    if comparison.has_memory:
        facts["memory"] = rows("runs.memory_comparison", "(live_difference_bytes <> 0 OR difference_bytes <> 0)")
    if efficiency:
        facts["efficiency"] = rows("runs.efficiency_comparison")
    blocks = [said(finding["sentence"]), _summary(facts["summary"]), *_changes(facts), said(*_sentences(facts))]
    return Answer("compare", facts, tuple(blocks), tuple(comparison.warnings), tuple(comparison.failures))


def _summary(rows: Iterable[Mapping[str, Any]]) -> ShownTable:
    """Return the times of the whole run; those that neither run has are left out."""
    columns: dict[str, Source] = {
        "per unit": "figure",
        "difference": ("change", lambda row: row["difference"]),
        "base": ("time", lambda row: row["base"]),
        "new": ("time", lambda row: row["new"]),
        "new / base": "ratio",
        "noise": ("text", _noise),
    }
    shown = (row for row in rows if row["unit"] == "ns" and row["figure"] != _OUTSIDE and (row["base"] or row["new"]))
    return table_of("runs.comparison_summary", shown, columns)


def _counts(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the figures of the whole run that are no times, in words."""
    return ", ".join(
        f"{row['figure']} {_both(*(_shown(row[side], row['unit']) for side in ('base', 'new')))}"
        for row in rows
        if row["unit"] != "ns" and row["figure"] != "kernels outside" and (row["base"] is not None or row["new"] is not None)
    )


def _outside(facts: Facts) -> Iterable[str]:
    """Yield how many kernels are of no unit, which no figure per unit counts."""
    figure = {row["figure"]: row for row in facts["summary"]}
    if "kernels outside" not in figure:
        return
    kernels, times = figure["kernels outside"], figure[_OUTSIDE]
    if kernels["base"] or kernels["new"]:
        shown = _both(*(f"{_number(kernels[side])} kernels, {as_text(times[side], 'time')}" for side in ("base", "new")))
        yield f"of no {facts['size']['base_unit_kind']}, in the whole recording of a rank: {shown}"


def _shown(value: float | None, unit: str) -> str:
    return percent(value) if unit == "share" else _number(value)


def _both(base: str, new: str) -> str:
    return base if base == new else f"{base} -> {new}"


def _noise(row: Mapping[str, Any]) -> str:
    """Return whether a difference is noise; a dash where it is not known, or where there is no difference."""
    difference = row["difference_ns"] if "difference_ns" in row else row["difference"]
    return as_text(row["is_noise"] if difference else None, "text")


def _number(value: float | None) -> str:
    """Return a mean of counts; without decimals where it is whole."""
    return "-" if value is None else count(round(value)) if value == round(value) else as_text(value, "number")


def _changes(facts: Facts) -> Iterable[Block]:
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
                    lambda row: _both(*(_shapes(row[f"{side}_input_shapes"]) for side in ("base", "new"))),
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
    return (row["op_name"] or "(op not recorded)") if row["part"] == "blocks" else f"({row['part']}, {row['role']})"


def _steps(rows: Iterable[Mapping[str, Any]]) -> ShownTable:
    columns: dict[str, Source] = {
        "step": ("text", partial(_texts, column="step_id")),
        **_TIMES,
        "outlier": ("text", partial(_texts, column="outlier")),
    }
    return table_of("runs.step_comparison", rows, columns)


def _texts(row: Mapping[str, Any], column: str) -> str:
    """Return the values of base and new, once if they are equal."""
    base, new = row[f"base_{column}"], row[f"new_{column}"]
    return _both(as_text(base, "text"), as_text(new, "text"))


def _shapes(text: str | None) -> str:
    """Return input shapes without those behind the last tensor, which say nothing."""
    return (text or "").rstrip(";") or "-"


def _pair(row: Mapping[str, Any], column: str) -> str:
    return _both(*(_number(row[f"{side}_{column}"]) for side in ("base", "new")))


def _sentences(facts: Facts) -> Iterable[str]:
    size = facts["size"]
    if counts := _counts(facts["summary"]):
        yield f"per {size['base_unit_kind']}: {counts}"
    yield from _outside(facts)
    yield f"base: {_size(size, 'base')}; new: {_size(size, 'new')}"
    yield from (f"{job['run']}: {job['sentence']}" for job in facts["jobs"])
    if size["noise_reason"]:
        yield f"noise is not known: {size['noise_reason']}"
    else:
        samples = " and ".join(several(size[f"{side}_sample_count"], size["sample_kind"]) for side in ("base", "new"))
        few = "; with so few, even large differences can pass for noise" if _has_few_samples(size) else ""
        yield f"noise is what {size['sample_kind']}s vary: {samples}{few}"
    with_modules = [side for side in ("base", "new") if size[f"{side}_paired_share"] is not None]
    if len(with_modules) == 1:
        yield f"only {with_modules[0]} has kernel time inside modules, so none has a partner; `prof-analysis ranks` says why"
    elif any(size[f"{side}_paired_share"] not in (None, 1) for side in ("base", "new")):
        shares = " and ".join(f"{percent(size[f'{side}_paired_share'])} of {side}" for side in ("base", "new"))
        yield f"of the kernel time inside modules, {shares} is in modules that both runs have"
    if (facts["kernels_in_one_run_share"] or 0) > _MOST_OF_TIME:
        share = f"{percent(facts['kernels_in_one_run_share'])} of the kernel time of both runs"
        yield f"{share} is of types and shapes of kernels that only one has, which are not shown"
    steps = facts["step_count"]
    if steps["base_outliers"] or steps["new_outliers"]:
        outliers = " and ".join(
            f"{steps[f'{side}_outliers']:,} of {several(steps[side], 'step')} of {side}" for side in ("base", "new")
        )
        yield f"outliers among steps: {outliers}; --skip-steps leaves steps out"
    if not facts["modules"] and any(row["location"] == "inside modules" for row in facts["locations"]):
        yield "no module changed by more than noise"
    if "memory" in facts and not facts["memory"]:
        yield "memory of the device: nothing changed"
    parts = [f"{row['location']} {change(row['difference_ns'])}" for row in facts["locations"] if row["difference_ns"]]
    whole = "all kernel time" if any(row["figure"] == _OUTSIDE for row in facts["summary"]) else "kernel time"
    yield f"{whole} {change(size['difference_ns'])}{': ' if parts else ''}{', '.join(parts)}"


def _has_few_samples(size: Mapping[str, Any]) -> bool:
    """Return whether a side has so few values that a test finds but the largest differences; as in comparison_finding."""
    return bool(min(size["base_sample_count"], size["new_sample_count"]) < 5)


def _size(size: Mapping[str, Any], side: str) -> str:
    ranks = several(size[f"{side}_rank_count"], "rank")
    if size[f"{side}_unit_kind"] == "run":
        return ranks
    return f"{ranks}, {several(size[f'{side}_distinct_count'], size[f'{side}_unit_kind'])}"
