"""The sentences of the answer of `compare`: figures that are no times, what was compared with what, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prof_analysis.analyses.answer import Facts
from prof_analysis.analyses.comparison_words import OUTSIDE, both, number_of
from prof_analysis.analyses.words import as_text, change, percent, several

# Types of kernels with their shapes that one run alone has are not shown where they have more than this part of the time.
MOST_OF_TIME = 0.5


def sentences_of(facts: Facts) -> Iterable[str]:
    """Yield the sentences about a run that is compared with the base."""
    size = facts["size"]
    if counts := _counts(facts["summary"]):
        yield f"per {size['base_unit_kind']}: {counts}"
    yield from _outside(facts)
    yield f"base: {_size(size, 'base')}; new: {_size(size, 'new')}"
    yield from (f"{job['run']}: {job['sentence']}" for job in facts["jobs"])
    if facts["finding"] is None:
        yield "there are no kernels to compare, only memory"
        return
    if size["noise_reason"]:
        yield f"noise is not known: {size['noise_reason']}"
    else:
        samples = " and ".join(several(size[f"{side}_sample_count"], size["sample_kind"]) for side in ("base", "new"))
        # Then a test finds none but the largest differences; as in comparison_finding.
        is_few = min(size["base_sample_count"], size["new_sample_count"]) < 5
        few = "; with so few, even large differences can pass for noise" if is_few else ""
        yield f"noise is what {size['sample_kind']}s vary: {samples}{few}"
    with_modules = [side for side in ("base", "new") if size[f"{side}_paired_share"] is not None]
    if len(with_modules) == 1:
        yield f"only {with_modules[0]} has kernel time inside modules, so none has a partner; `prof-analysis ranks` says why"
    elif any(size[f"{side}_paired_share"] not in (None, 1) for side in ("base", "new")):
        shares = " and ".join(f"{percent(size[f'{side}_paired_share'])} of {side}" for side in ("base", "new"))
        yield f"of the kernel time inside modules, {shares} is in modules that both runs have"
    if (facts["kernels_in_one_run_share"] or 0) > MOST_OF_TIME:
        share = f"{percent(facts['kernels_in_one_run_share'])} of the kernel time of both runs"
        yield f"{share} is of types and shapes of kernels that only one has, which are not shown"
    steps = facts["step_count"]
    if steps["base_outliers"] or steps["new_outliers"]:
        outliers = " and ".join(
            f"{steps[f'{side}_outliers']:,} of {several(steps[side], 'step')} of {side}" for side in ("base", "new")
        )
        yield f"outliers among steps: {outliers}; --skip-steps leaves steps out"
    if facts["pass_work"] and facts["pass_work"]["sentence"]:
        yield facts["pass_work"]["sentence"]
    if not facts["modules"] and any(row["location"] == "inside modules" for row in facts["locations"]):
        yield "no module changed by more than noise"
    if "memory" in facts and not facts["memory"]:
        yield "memory of the device: nothing changed"
    parts = [f"{row['location']} {change(row['difference_ns'])}" for row in facts["locations"] if row["difference_ns"]]
    whole = "all kernel time" if any(row["figure"] == OUTSIDE for row in facts["summary"]) else "kernel time"
    yield f"{whole} {change(size['difference_ns'])}{': ' if parts else ''}{', '.join(parts)}"


def _size(size: Mapping[str, Any], side: str) -> str:
    ranks = several(size[f"{side}_rank_count"], "rank")
    if size[f"{side}_unit_kind"] == "run":
        return ranks
    return f"{ranks}, {several(size[f'{side}_distinct_count'], size[f'{side}_unit_kind'])}"


def _counts(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the figures of the whole run that are no times, in words."""
    return ", ".join(
        f"{row['figure']} {both(*(_shown(row[side], row['unit']) for side in ('base', 'new')))}"
        for row in rows
        if row["unit"] != "ns" and row["figure"] != "kernels outside" and (row["base"] is not None or row["new"] is not None)
    )


def _outside(facts: Facts) -> Iterable[str]:
    """Yield how many kernels are of no unit, which no figure per unit counts."""
    figure = {row["figure"]: row for row in facts["summary"]}
    if "kernels outside" not in figure:
        return
    kernels, times = figure["kernels outside"], figure[OUTSIDE]
    if kernels["base"] or kernels["new"]:
        shown = both(*(f"{number_of(kernels[side])} kernels, {as_text(times[side], 'time')}" for side in ("base", "new")))
        yield f"of no {facts['size']['base_unit_kind']}, in the whole recording of a rank: {shown}"


def _shown(value: float | None, unit: str) -> str:
    return percent(value) if unit == "share" else number_of(value)
