"""The analysis `diagnose`: what is wrong with this profile, on one screen?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import FIRST, Analysis, Rows
from prof_analysis.analyses.answer import Block, Entry, Facts, ShownColumn, ShownTable, said
from prof_analysis.analyses.answers.advise import (
    OF_STEPS,
    facts_of,
    how_to_read,
    lacking,
    numbered,
    place_of,
    steps_line,
    win_of,
)
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import several
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

# So many causes are shown.
_CAUSES = 3
# They are among so many findings, whatever the number of rows that somebody asks for.
_AMONG = 20

ANALYSIS = Analysis(
    "diagnose",
    "What was recorded, where does a step go, and why?\n\n"
    "Shows on one screen what the recording has, the parts of a step, and the three changes that win most, of which none "
    "counts only time that one above it counts too. `prof-analysis PATH` is the same.",
    "kernels",
    {"advice.finding": "Finding", "step.time": "StepTime"},
    requires=(any_of("kernels", "reported_steps"),),
    options=(INPUT, MODULES, MACHINE, "thresholds", "peak_tflops"),
    also=("step.overlap", "across.rank_step", "across.step_total", "across.job", "mfu.judged_share"),
    counted="across.rank_step",
    rows={"finding": Rows("advice.finding")},
    place=0,
    heading=FIRST,
    examples={"The same": "result", "Only steps that begin warm": "result --step-id 11"},
    returns="""Return the changes of advise(); the command shows three of them, the parts of a step and the recording.

    Raises InputError when no rank holds kernels or step times reported by the profiler.
    """,
    keys=lambda: schema.answer(
        job=schema.JOB,
        recording=schema.rows(
            "what is recorded, by rank",
            schema.fields(
                profile=schema.text("folder of the rank"),
                read_from=schema.text("what it was read from"),
                missing=schema.texts("what is missing, and how to record it"),
            ),
        ),
        parts=schema.rows(
            "parts of a step on the device, the mean over steps and ranks; together they are the step",
            schema.fields(
                part=schema.text("the part"),
                ns_per_step=schema.count("its time, ns"),
                share={"type": "number", "description": "its share of the step"},
            ),
        ),
        causes=schema.rows("the changes that win most", schema.row("advice.finding")),
        findings=schema.rows("all changes, the first ones", schema.row("advice.finding")),
        steps_of_ranks=schema.rows("how long the steps of each rank take", "across.rank_step"),
        products=schema.rows("how much of the matrix products of each rank can be judged", "mfu.judged_share"),
        has_steps={"type": "boolean", "description": "whether steps are recorded; else the whole recording counts as one"},
        step_count=schema.count("steps; 0 where none are recorded"),
        judged=schema.texts("rules by which at least one rank can be judged"),
        not_judged=schema.rows("rules by which ranks cannot be judged, as in the answer of advise"),
    ),
)

Row = Mapping[str, Any]


def diagnose(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return what is recorded, the parts of a step, and the causes that win most."""
    most = profile.rows(f"FROM advice.finding LIMIT {max(top, _AMONG):d}")
    findings = most[: max(top, _CAUSES)]
    (total,) = profile.rows("FROM across.step_total")
    facts, of_job = facts_of(profile)
    facts |= {
        "recording": _recording(profile),
        "parts": list(_parts(facts["steps_of_ranks"], total)),
        "findings": findings,
        "causes": _causes(most),
    }
    of_steps = [OF_STEPS] if facts["has_steps"] and facts["causes"] else []
    blocks: list[Block] = [said(*_of_recording(facts["recording"]), *of_job, *steps_line(facts), *of_steps)]
    if facts["parts"]:
        blocks.append(_bar(facts["parts"]))
    if not findings:
        return facts, [*blocks, said(*how_to_read(facts), *lacking(facts))]
    more = facts["rows"] - len(facts["causes"])
    shared = "" if len(facts["causes"]) == _CAUSES or not more else ", which count the same time"
    further = f"{several(more, 'further finding')}{shared}, and all evidence" if more else "the evidence"
    return facts, [*blocks, *_entries(facts["causes"]), said(f"{further}: {profile.question_line('advise')}")]


def _recording(profile: Tables) -> list[dict[str, Any]]:
    """Return what each rank is read from, and what it lacks."""
    return [
        {"profile": row["profile"], "read_from": row["read_from"], "missing": list(row["missing"])}
        for row in profile.rank_rows()
        if not row["left_out"]
    ]


def _of_recording(ranks: Sequence[Row]) -> Iterator[str]:
    """Yield how many ranks there are of what, and what of them could have been recorded, without how."""
    sources = ", ".join(dict.fromkeys(row["read_from"] for row in ranks))
    yield f"{several(len(ranks), 'rank')}, read from {sources}"
    reasons = dict.fromkeys(reason for row in ranks for reason in row["missing"] if reason.startswith("no ") and ";" in reason)
    if reasons:
        yield f"not recorded: {', '.join(reason[3:].partition(';')[0].replace(' and no ', ' or ') for reason in reasons)}"


def _parts(ranks: Sequence[Row], total: Row) -> Iterator[dict[str, Any]]:
    """Yield the parts of a mean step, which together are the step with the idle time before it."""
    count, whole = (sum(row[name] for row in ranks) for name in ("step_count", "duration_ns"))
    if not whole or total["computing_ns"] is None:
        return
    named = {
        "computing": total["computing_ns"],
        "communication alone": total["communication_not_overlapped_ns"],
        "copying alone": total["copying_not_overlapped_ns"],
        "idle": total["free_ns"] - sum(row["edge_ns"] for row in ranks),
        "idle between steps": sum(row["between_ns"] for row in ranks),
    }
    for part, time in named.items():
        if mean := round(time / count):
            yield {"part": part, "ns_per_step": mean, "share": time / whole}


def _bar(parts: Sequence[Row]) -> ShownTable:
    columns = ShownColumn("a step", "text"), ShownColumn("time", "time"), ShownColumn("share of it", "share")
    return ShownTable(columns, tuple((row["part"], row["ns_per_step"], row["share"]) for row in parts), "share of it")


def _causes(findings: Sequence[Row]) -> list[Row]:
    """Return the first findings, without those all of whose win one of them may count too."""
    chosen: list[Row] = []
    for row in findings:
        is_counted = row["shared_with"] in [one["finding_id"] for one in chosen]
        if len(chosen) < _CAUSES and not (is_counted and row["shared_ns_per_step"] == row["win_ns_per_step"]):
            chosen.append(row)
    return chosen


def _entries(causes: Sequence[Row]) -> Iterator[Entry]:
    for row in numbered(causes):
        texts = {"where": place_of(row), "evidence": row["evidence"], "to do": row["what_to_do"]}
        shown = tuple((label, text) for label, text in texts.items() if text)
        yield Entry(f"{row['number']}. {row['title']}: {win_of(row)}", shown)
