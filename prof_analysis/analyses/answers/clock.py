"""The analysis `clock`: did kernels run below the rated clock?"""

from collections.abc import Iterator, Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, percent, rank_name, several

ANALYSIS = Analysis(
    "clock",
    "Did kernels run below the rated clock?\n\n"
    "Shows the real clock of each device over time beside its rated clock, which kernels ran below that, and what it "
    "cost at most.",
    "compute kernels with samples of the clock",
    {
        "clock.device": "Clock",
        "clock.span": "ClockSpan",
        "clock.kernel_type": "ClockKernelType",
        "across.clock_kernel_type": "ClockKernelTypeAllRanks",
    },
    requires=("compute", "clock"),
    also=("across.clock_total",),
    rows={
        "device": Rows("clock.device"),
        "span": Rows("clock.span", is_listed=True),
        "kernel_type": Rows("clock.kernel_type", is_listed=True),
    },
    place=18,
    heading=WHY,
    examples={"The clock while one step ran": "result --step-id 10"},
    returns="""Return the real clock of each device beside its rated one, and the most that a lower clock cost.

    Spans of time are in clock.span, types of kernels in clock.kernel_type.
    Raises InputError when no rank holds compute kernels and samples of the clock.
    """,
    keys=lambda: schema.answer(
        all=schema.one("all devices", "across.clock_total"),
        devices=schema.rows("devices whose lower clock cost most", "clock.device"),
        kernel_types=schema.rows("types of kernels that it cost most", "across.clock_kernel_type"),
    ),
)


def clock(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the devices whose lower clock cost most, and the types of kernels that it cost most."""
    devices = profile.rows(f"FROM clock.device ORDER BY lost_ns DESC, computing_below_ns DESC, rank_id, profile LIMIT {top:d}")
    types = profile.rows(
        f"FROM across.clock_kernel_type WHERE below_count > 0 ORDER BY lost_ns DESC, duration_ns DESC, type LIMIT {top:d}"
    )
    (whole,) = profile.rows("FROM across.clock_total")
    facts: Facts = {**size_of(profile, "clock.device"), "all": whole, "devices": devices, "kernel_types": types}
    of_devices: dict[str, Source] = {
        "rank": ("text", rank_name),
        "rated MHz": "rated_mhz",
        "seen MHz": "clocks",
        "mean MHz": "mean_clock_mhz",
        "computing": "computing_ns",
        "computing below": "computing_below_ns",
        "cost at most": "lost_ns",
        "below": "below_ns",
        "rated clock from": "origin",
        "folder": "profile",
    }
    of_types: dict[str, Source] = {
        "type": "type",
        "cost at most": "lost_ns",
        "of computing": "computing_lost_ns",
        "kernels below": "below_count",
        "kernels": "kernel_count",
        "time": "duration_ns",
        "mean MHz": "mean_clock_mhz",
    }
    blocks: list[Block] = [table_of("clock.device", devices, of_devices)]
    if types:
        blocks.append(table_of("across.clock_kernel_type", types, of_types))
    return facts, [*blocks, said(*_of_all(facts["ranks"], whole))]


def _of_all(ranks: int, whole: Mapping[str, Any]) -> Iterator[str]:
    """Yield the loss of all ranks together."""
    if not whole["slow_count"]:
        yield f"no kernel ran below the rated clock; {several(ranks, 'rank')}"
    else:
        share = whole["lost_ns"] / whole["computing_ns"] if whole["computing_ns"] else None
        yield (
            f"{several(whole['slow_count'], 'device')} computed below the rated clock; this cost at most "
            f"{duration(whole['lost_ns'])} ({percent(share)} of computing); {several(ranks, 'rank')}"
        )
        if whole["computing_lost_ns"] is not None:
            yield f"{duration(whole['computing_lost_ns'])} of it in kernels that counters show to be bound by computing"
    if whole["unrated_count"]:
        yield f"the rated clock of {several(whole['unrated_count'], 'device')} is not recorded: the highest clock seen is taken"
