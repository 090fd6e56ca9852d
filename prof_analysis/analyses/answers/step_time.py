"""The analysis `step-time`: what is each step made of: computing, communication?"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import TIMELINE, Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.input_sentences import inputs_of, of_inputs
from prof_analysis.analyses.words import as_text, count, duration, percent, rank_name, several, size, steps_of
from prof_analysis.common.capabilities import any_of

_PARTS_OF_STEPS = ("computing_ns", "communication_ns", "communication_not_overlapped_ns", "overlapped_ns", "free_ns")
_SUMS = (*_PARTS_OF_STEPS, "stage_ns", "bubble_ns", "copying_not_overlapped_ns")
_REST = ("ranks_of_profiler", "computing_of_no_step_ns", "steps_known_in_part", "kernels_of_no_step")

ANALYSIS = Analysis(
    "step-time",
    "What is each step made of: computing, communication?\n\n"
    "Shows for each step the time in which the device computes, communicates, does both at once, or neither; and how "
    "much of each group's communication, and of copies, computing covers.",
    "kernels",
    {"step.time": "StepTime", "step.communication": "StepCommunication", "step.copy": "StepCopy"},
    section="steps",
    captions=("Steps", "Communication of groups, and how much of it computing covers"),
    requires=(any_of("kernels", "reported_steps"),),
    also=(
        "step.overlap",
        "step.reported_audit",
        "module.lost_launch",
        "across.step_total",
        "across.step_duration",
        "across.rank_step",
        "across.step_communication",
        "across.copy",
        "step.input",
    ),
    pictures=TIMELINE,
    rows={
        "step": Rows("step.time"),
        "communication": Rows("step.communication", is_listed=True),
        "copy": Rows("step.copy", is_listed=True),
        "launch": Rows("step.launch", requires=("kernels",), extra="launch", is_listed=True),
    },
    extras={"launch": Extra(("kernels",), {"step.launch": "StepLaunch"})},
    place=10,
    examples={
        "Only some columns": "result --columns step,rank,time,free",
        "Launches of each step, and the part of its kernels in graphs": "result --by launch",
    },
    returns="""Return where the time of each step went on the device, in ns; where kernels overlap, time counts once.

    stage + bubble = computing + communication not overlapped + copying not overlapped + free. With by="launch" a row is a step
    with its launches and the part of its kernels that replayed graphs ran.
    Raises InputError when no rank holds kernels or step times reported by the profiler.
    """,
    keys=lambda: schema.answer(
        all=schema.one("all steps together", schema.row("across.step_total", *_SUMS)),
        **{name: schema.columns_of("across.step_total")[name] for name in _REST},
        longest_steps=schema.rows("steps", "step.time"),
        durations=schema.one("how long the steps took", "across.step_duration"),
        steps_of_ranks=schema.rows("how long the steps of each rank take together", "across.rank_step"),
        communication=schema.rows("communication by type and group, and how much is not covered", "across.step_communication"),
        copies=schema.rows("copies by direction", "across.copy"),
        inputs=schema.rows("pipelines that feed devices with data", "step.input"),
    ),
)

_PARTS = {
    "computing": "computing_ns",
    "communication alone": "communication_not_overlapped_ns",
    "free": "free_ns",
    "copying alone": "copying_not_overlapped_ns",
    "overlapped": "overlapped_ns",
    "bubble": "bubble_ns",
}


def step_time(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the longest steps, where their time went, the times of all steps together, and the time outside steps."""
    steps = profile.rows(f"FROM step.time ORDER BY stage_ns + bubble_ns DESC NULLS LAST, profile, step_id LIMIT {top:d}")
    (total,) = profile.rows("FROM across.step_total")
    whole = {name: total[name] for name in _SUMS}
    rest = {name: total[name] for name in _REST}
    facts: Facts = {**size_of(profile, "step.time"), "all": whole, **rest, "longest_steps": steps}
    (durations,) = profile.rows("FROM across.step_duration")
    facts["durations"] = durations
    facts["steps_of_ranks"] = profile.rows("FROM across.rank_step")
    facts["communication"] = profile.rows(
        f"FROM across.step_communication WHERE level = 'operator' "
        f"ORDER BY not_overlapped_ns DESC, communication_ns DESC, group_name, type LIMIT {top:d}"
    )
    facts["copies"] = profile.rows("FROM across.copy")
    # Only GPU traces have copies as kernels; a rank that is alone does not communicate, and idle time gets the room.
    without = {"copying alone"} if not whole["copying_not_overlapped_ns"] else set()
    if whole["communication_ns"] == 0:
        without |= {"communication alone", "overlapped", "bubble"}
    shown = {header: column for header, column in _PARTS.items() if header not in without}
    columns: dict[str, Source] = {
        "step": ("text", lambda row: row["step_id"]),
        "rank": ("text", rank_name),
        "time": "stage_ns",
        **{header: ("time", partial(_part, column=column)) for header, column in shown.items()},
        "preparing": "preparing_ns",
        "host": "host_ns",
        "folder": "profile",
    }
    parts = [
        f"{part.replace('_', ' ')} {as_text(_part(whole, f'{part}_ns'), 'time')}"
        for part in ("computing", "communication_not_overlapped", "free")
    ]
    shown_steps = sum(row["step_id"] is not None and row["stage_ns"] is not None for row in steps)
    lines = [
        f"{'; '.join(parts)}; {several(facts['ranks'], 'rank')}",
        *_of_durations(durations, shown_steps),
        *_between(facts["steps_of_ranks"]),
    ]
    if kernels := rest["kernels_of_no_step"]:
        of_no_step = rest["computing_of_no_step_ns"]
        share = of_no_step / (of_no_step + (whole["computing_ns"] or 0)) if of_no_step else 0
        lines.append(
            f"not included: {several(kernels, 'kernel')} of no step, which compute for {duration(of_no_step)} "
            f"({percent(share)} of all computing)"
        )
    for row in profile.rows("FROM across.step_communication WHERE level = 'step' AND no_step_count > 0"):
        of_no_step = f"{count(row['no_step_count'])} of {several(row['op_count'], 'operator')}"
        lines.append(f"communication above: {of_no_step} of no step, {duration(row['no_step_ns'])}, are included")
    if of_profiler := rest["ranks_of_profiler"]:
        lines.append(f"{several(of_profiler, 'rank')} without kernels: the times are those that the profiler reported")
    if in_part := rest["steps_known_in_part"]:
        lines.append(f"not included: {several(in_part, 'step')} that the profiler recorded only in part")
    lines += _of_copies(facts["copies"])
    facts["inputs"] = inputs_of(profile)
    lines += of_inputs(facts["inputs"])
    in_order = sorted(steps, key=lambda row: (row["step_id"] is None, row["step_id"], row["profile"]))
    in_part_of_ranks = any(row["rank_count"] < facts["ranks"] for row in facts["communication"])
    of_groups: dict[str, Source] = {
        "type": "type",
        "purpose": "group_label",
        **({"ranks": "rank_count"} if in_part_of_ranks else {}),
        "operators": "op_count",
        "communication": "communication_ns",
        "covered": ("time", lambda row: (row["overlapped_ns"], row["overlapped_share"])),
        "alone": "not_overlapped_ns",
        "group": "group_name",
    }
    groups = [table_of("across.step_communication", facts["communication"], of_groups)] if facts["communication"] else []
    return facts, [table_of("step.time", in_order, columns), *groups, said(*lines)]


def _of_copies(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence about all copies, and where they have several directions, one about each."""
    for row in rows if len(rows) > 2 else rows[1:]:
        which = {"all": "", "fill": "", None: " (direction not recorded)"}.get(row["direction"], f" {row['direction']}")
        one, more = ("fill", "fills") if row["direction"] == "fill" else ("copy", "copies")
        sized = "bytes not recorded" if row["size_bytes"] is None else size(row["size_bytes"])
        if row["size_bytes"] is not None and row["unsized_count"]:
            sized += f" and {count(row['unsized_count'])} of unknown size"
        what = f"{count(row['copy_count'])} {one if row['copy_count'] == 1 else more}{which}"
        yield f"{what}: {duration(row['copying_ns'])}, {duration(row['not_overlapped_ns'])} of it alone, {sized}"


def _of_durations(durations: Mapping[str, Any], shown: int) -> Iterator[str]:
    """Yield a sentence about how long all steps took, where there are several, or one on several ranks."""
    if durations["rank_step_count"] < 2:
        return
    longest = f"the longest {shown} above" if shown < durations["rank_step_count"] else "all above"
    line = f"{steps_of(durations)} ({longest}): "
    line += ", ".join(f"{name} {duration(durations[f'{name}_ns'])}" for name in ("median", "p95", "max"))
    if durations["outlier_count"]:
        line += f"; {several(durations['outlier_count'], 'outlier')}, longer than {duration(durations['outlier_above_ns'])}"
    yield line


def _between(ranks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence about the idle time between steps, where there is some."""
    between, step = (sum(row[name] for row in ranks) for name in ("between_ns", "step_ns"))
    if between:
        yield (
            f"not included: {duration(between)} between the steps, in which the device was idle "
            f"({percent(between / (between + step))} of both)"
        )


def _part(row: Mapping[str, Any], column: str) -> tuple[int, float | None] | None:
    """Return a time of a step and its share of the step; no share where the time of the step is unknown."""
    if row[column] is None:
        return None
    span_ns = 0 if row["stage_ns"] is None else row["stage_ns"] + (row["bubble_ns"] or 0)
    return row[column], row[column] / span_ns if span_ns else None
