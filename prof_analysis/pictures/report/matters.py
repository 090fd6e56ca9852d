"""Sentences with the most important figures of a profile, made of the facts of its answers, so that both say the same."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from prof_analysis.analyses.answer import Facts
from prof_analysis.analyses.words import duration, percent, rank_name, several, size, steps_of
from prof_analysis.pictures.report.parts import plain

# What a sentence is about, the sentence, and the section that shows more.
Matter = tuple[str, str, str]
_HEAVIEST = 3
# A share below this is rounded to 0.0%.
_ROUNDED = 0.0005
_BOUNDS = ("compute", "memory", "on chip", "scalar", "wait")


def matters(facts: Mapping[str, Facts], said: Container[str] = ()) -> list[Matter]:
    """Return what matters, by the facts of each command that has an answer, without facts already said above."""
    found = [
        *(_step(facts["step-time"]) if "step-time" in facts else ()),
        *(_modules(facts["module-stats"]) if "module-stats" in facts else ()),
        *(_use(facts["mfu"], facts.get("pmu-stats")) if "mfu" in facts else ()),
        *(_bound(facts["pmu-stats"]) if "mfu" not in facts and "pmu-stats" in facts else ()),
        *(_communication(facts["step-time"]) if "step-time" in facts else ()),
        *(_idle(facts["free-time"], facts.get("step-time")) if "free-time" in facts else ()),
        *(_slow(facts["slow-ranks"]) if "slow-ranks" in facts else ()),
        *(_memory(facts["memory"]) if "memory" in facts else ()),
        *(_outside(facts["module-stats"]) if "module-stats" in facts else ()),
    ]
    return [(about, plain(sentence), section) for about, sentence, section in found if about not in said]


def _step(facts: Facts) -> Iterator[Matter]:
    whole, durations = facts["all"], facts["durations"]
    span = _span(whole)
    if not span:
        return
    if durations["rank_step_count"] > 1:
        begin = f"A step takes {duration(durations['median_ns'])} on the device (median of {steps_of(durations)})"
    elif durations["rank_step_count"]:
        begin = f"The step takes {duration(durations['median_ns'])} on the device ({_ranks(facts)})"
    else:
        begin = f"The device works on the profile for {duration(span)} ({_ranks(facts)})"
    parts = {
        "computing": whole["computing_ns"],
        "communication alone": whole["communication_not_overlapped_ns"],
        "copying alone": whole["copying_not_overlapped_ns"],
        "idle": whole["free_ns"],
    }
    shares = ", ".join(f"{name} {percent(time / span)}" for name, time in parts.items() if time)
    yield "Time", f"{begin}: {shares}.", "steps"


def _modules(facts: Facts) -> Iterator[Matter]:
    # A share is of the same whole as in module-stats.
    whole = sum(row["kernel_duration_ns"] for row in facts["coverage"] if row["kind"] == "compute")
    computing = [row for row in facts["heaviest_modules"] if row["own_computing_ns"]]
    heaviest = sorted(computing, key=lambda row: -row["own_computing_ns"])[:_HEAVIEST]
    if not heaviest or not whole:
        return
    named = [
        f"{name} {duration(row['own_computing_ns'])} ({percent(row['own_computing_ns'] / whole)} of compute)"
        for name, row in zip(_short([row["module"] for row in heaviest]), heaviest, strict=True)
    ]
    yield "Modules", f"The heaviest by compute time of their own: {_listed(named)}.", "modules"


def _use(facts: Facts, counters: Facts | None) -> Iterator[Matter]:
    whole = facts["all"]
    if whole["mfu"] is None:
        yield "MFU", "MFU is not known: no kernel has both known FLOPs and a known peak.", "kernels"
    else:
        at_least = "" if whole["cube_known_share"] == 1 else "at least "
        sentence = (
            f"The model uses {at_least}{percent(whole['mfu'])} of the peak of the device (MFU, idle time included); "
            f"matrix products reach {percent(whole['efficiency'])} while they run."
        )
        yield "MFU", sentence, "kernels"
    if counters is not None:
        yield from _bound(counters)


def _bound(facts: Facts) -> Iterator[Matter]:
    times = {bound: facts["all"][f"{bound.replace(' ', '_')}_ns"] or 0 for bound in _BOUNDS}
    known = sum(times.values())
    if not known:
        return
    parts = [f"{bound} {percent(time / known)}" for bound, time in sorted(times.items(), key=lambda one: -one[1]) if time]
    yield "Bound", f"What bounds the kernels, by their time: {', '.join(parts)}.", "kernels"


def _communication(facts: Facts) -> Iterator[Matter]:
    whole = facts["all"]
    alone, all_of_it, span = whole["communication_not_overlapped_ns"], whole["communication_ns"], _span(whole)
    if not all_of_it or not span or alone is None:
        return
    sentence = (
        f"Computing hides {percent(1 - alone / all_of_it)} of the communication; the rest, {duration(alone)}, is exposed and "
        f"takes {percent(alone / span)} of the time."
    )
    yield "Communication", sentence, "communication"


def _idle(facts: Facts, steps: Facts | None) -> Iterator[Matter]:
    causes = facts["causes"]
    if not causes or not causes[0]["total_ns"]:
        return
    main, idle = causes[0], sum(row["total_ns"] for row in causes)
    span = _span(steps["all"]) if steps else None
    of_time = f" ({percent(idle / span)} of the time)" if span else ""
    sentence = f"The device is idle for {duration(idle)}{of_time}; main cause: {main['cause']}, {percent(main['share'])} of it."
    yield "Idle", sentence, "timeline"


def _slow(facts: Facts) -> Iterator[Matter]:
    if facts["ranks"] > 1:
        yield "Ranks", facts["sentence"], "ranks"


def _memory(facts: Facts) -> Iterator[Matter]:
    if not facts["devices"] or facts["devices"][0]["used_bytes"] is None:
        return
    fullest = facts["devices"][0]
    left = f", {percent(fullest['left_share'])} of it left" if fullest["left_share"] is not None else ""
    of = f" of {size(fullest['memory_bytes'])}" if fullest["memory_bytes"] else ""
    yield "Memory", f"Rank {rank_name(fullest)} uses at most {size(fullest['used_bytes'])}{of}{left}.", "memory"


def _outside(facts: Facts) -> Iterator[Matter]:
    rows = facts["coverage"]
    known = [row for row in rows if row["share"] is not None]
    outside = {
        kind: 1 - sum(row["share"] for row in known if row["kind"] == kind and row["location"] == "inside modules")
        for kind in dict.fromkeys(row["kind"] for row in known)
    }
    parts = [f"{percent(share)} of the {kind} time" for kind, share in outside.items() if share > _ROUNDED]
    if parts:
        yield "Coverage", f"Modules do not account for {_listed(parts)}.", "modules"
    elif outside:
        yield "Coverage", "Modules account for all kernel time.", "modules"


def not_answered(reasons: Mapping[str, Sequence[str]]) -> Iterator[Matter]:
    """Yield why commands have no answer, each reason once."""
    commands_of: dict[str, list[str]] = {}
    for command, found in reasons.items():
        for reason in found:
            commands_of.setdefault(reason, []).append(command)
    for reason, commands in commands_of.items():
        yield "Not answered", plain(f"{_listed(commands)}: {reason}."), "made"


def _span(whole: Mapping[str, Any]) -> int | None:
    return None if whole["stage_ns"] is None else whole["stage_ns"] + (whole["bubble_ns"] or 0)


def _ranks(facts: Facts) -> str:
    return several(facts["ranks"], "rank")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _short(paths: Sequence[str]) -> list[str]:
    """Return the names of modules, each with the name of the one around it, or with more where these are the same."""
    for length in range(2, max(path.count("/") for path in paths) + 1):
        names = ["/".join(path.split("/")[-length:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return list(paths)
