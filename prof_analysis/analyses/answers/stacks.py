"""The analysis `stacks`: where in my Python source is the time spent?"""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import STACKS, Analysis, Extra, Rows, flame
from prof_analysis.analyses.answer import Block, Facts, Sort, Source, heaviest_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, percent, several
from prof_analysis.common.errors import InputError
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

ANALYSIS = Analysis(
    "stacks",
    "Where in my Python source is the time spent?\n\n"
    "Shows the places in the source, or whole stacks, from which ops were called: the time of their kernels, and their "
    "own time on the host.",
    "ops with Python stacks",
    {
        "stack.by_frame": "StackFrame",
        "stack.by_stack": "Stack",
        "across.stack_frame": "StackFrameAllRanks",
        "across.stack": "StackAllRanks",
    },
    requires=STACKS,
    options=(INPUT, MODULES, MACHINE, "under", "module", "user_code"),
    also=("op.host", "kernels.duration", "stack.cost", "stack.chosen_path", "across.stack_total", "across.passing_frame"),
    extras={"module": Extra(("modules",), {})},
    pictures=flame("flame.stack", "StackFlame", "kernels"),
    counted="stack.cost",
    rows={"frame": Rows("stack.by_frame", "across.stack_frame"), "stack": Rows("stack.by_stack", "across.stack")},
    place=4,
    examples={
        "Places in your own code alone": "result --user-code",
        "Whole stacks below one place": "result --by stack --under main.py",
    },
    returns="""Return the cost of the ops called from each place in the Python source, the heaviest on the device first.

    With by="stack" a row is a whole stack. Work whose stack is not known has a row with the reason. With across_ranks a row
    covers all ranks.
    Raises InputError when no rank holds Python stacks.
    """,
    keys=lambda: schema.by_level(
        schema.answer(
            all_kernels_ns=schema.amount("time of all kernels", "ns"),
            parts=schema.rows("what has a stack (reason null), and what has none", "across.stack_total"),
            heaviest=schema.rows("places in the source that tell work apart, or whole stacks"),
            frames_left_out=schema.fields(
                framework=schema.count("frames of PyTorch and Python, which are not in `heaviest`"),
                one_frame_inside=schema.count("frames that only call one frame inside, which are not in `heaviest`"),
            ),
        ),
        "heaviest",
        {"frame": "across.stack_frame", "stack": "across.stack"},
    ),
)

# Why a frame tells no work apart, and how a sentence says it.
_REASONS = {"framework": "of PyTorch and Python", "one frame inside": "that only call one frame inside"}
_TABLES = {"frame": "across.stack_frame", "stack": "across.stack"}
_COLUMNS: Mapping[str, Mapping[str, Source]] = {
    "frame": {
        "frame": ("text", lambda row: row["frame"] or f"({row['reason']})"),
        "device": "device_total_ns",
        "share of kernels": "share",
        "own": "device_self_ns",
        "launches": "kernel_count",
        "in backward": "backward_ns",
        "host": "host_total_ns",
        "own host": "host_self_ns",
    },
    "stack": {
        "stack": ("text", lambda row: f"({row['reason']})" if row["stack"] is None else row["stack"].replace(";", " > ")),
        "device": "device_ns",
        "share of kernels": "share",
        "launches": "kernel_count",
        "in backward": "backward_ns",
        "host": "host_ns",
        "ops": "op_count",
    },
}


def stacks(
    profile: Tables, top: int, by: str = "frame", sort: Sort = None, module: str | None = None
) -> tuple[Facts, list[Block]]:
    """Return the places in the source, or whole stacks, that cost most on the device, and how much has no stack.

    `module` is the option of the profile. Raises InputError where no module has that name, or where `sort` is no column.
    """
    if module is not None and not profile.rows("SELECT 1 FROM stack.chosen_path LIMIT 1"):
        raise InputError(f"there is no module {module}; module-stats shows which there are")
    left_out = _left_out(profile) if by == "frame" else {}
    ranked = heaviest_of(profile, _TABLES[by], top + len(left_out), _COLUMNS[by], sort)
    heaviest = [row for row in ranked if row.get("frame") not in left_out][:top]
    (kernels,) = profile.rows(
        "SELECT coalesce(sum(coalesce(total_ns, duration_ns * kernel_count)), 0)::BIGINT AS ns FROM kernels.duration"
    )
    facts: Facts = {
        **size_of(profile, _TABLES[by], "op.host"),
        "level": by,
        "all_kernels_ns": kernels["ns"],
        "parts": profile.rows("FROM across.stack_total"),
        "heaviest": heaviest,
        "frames_left_out": {reason.replace(" ", "_"): sum(why == reason for why in left_out.values()) for reason in _REASONS},
    }
    return facts, [table_of(_TABLES[by], heaviest, _COLUMNS[by]), said(*_sums(facts))]


def _left_out(profile: Tables) -> dict[str | None, str]:
    """Return the frames that tell no work apart, each with the reason."""
    return {row["frame"]: row["reason"] for row in profile.rows("FROM across.passing_frame")}


def _sums(facts: Facts) -> Iterator[str]:
    """Yield sentences about the time that stacks explain, and the reasons for the rest."""
    known: dict[str, Any] = next((part for part in facts["parts"] if part["reason"] is None), {})
    all_ns = facts["all_kernels_ns"]
    count, device_ns, host_ns = (known.get(name, 0) for name in ("stack_count", "device_ns", "host_ns"))
    share = f" ({percent(device_ns / all_ns)})" if all_ns else ""
    launched = f"called ops that launched kernels of {duration(device_ns)}, of {duration(all_ns)} in all{share}"
    yield f"{several(count, 'stack')} {launched}; {several(facts['ranks'], 'rank')}"
    if known.get("backward_ns"):
        yield f"{duration(known['backward_ns'])} of it in the backward, which has the stacks of its forward ops"
    yield f"these ops took {duration(host_ns)} on host threads"
    said_of = {reason: facts["frames_left_out"][reason.replace(" ", "_")] for reason in _REASONS}
    left_out = [f"{several(count, 'frame')} {_REASONS[reason]}" for reason, count in said_of.items() if count]
    if left_out:
        yield f"not shown: {' and '.join(left_out)}; the table stack.by_frame and written files have all"
    unknown = [part for part in facts["parts"] if part["reason"] is not None]
    reasons = ", ".join(f"{part['reason']} {duration(part['device_ns'])}" for part in unknown if part["kernel_count"])
    if reasons:
        yield f"kernels without a stack: {reasons}"
    of_ops = sum(map(itemgetter("host_ns"), unknown))
    if of_ops:
        yield f"ops without a stack took {duration(of_ops)} on host threads"
