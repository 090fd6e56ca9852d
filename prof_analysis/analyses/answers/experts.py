"""The analysis `experts`: do experts (MoE) load the ranks evenly?"""

from collections.abc import Iterator, Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import count, duration, rank_name, several
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

ANALYSIS = Analysis(
    "experts",
    "Do experts (MoE) load the ranks evenly?\n\n"
    "Shows time and rows of grouped matmuls by rank and place in the step, how uneven they are over the ranks that "
    "share the experts, and the cost.",
    "grouped matmuls, the kernels of experts (MoE)",
    {
        "experts.load": "ExpertLoad",
        "experts.call": "ExpertCall",
        "experts.expert": "Expert",
        "experts.kernel": "ExpertKernel",
        "across.expert_total": "ExpertGroup",
        "across.expert_rank": "ExpertRank",
        "across.expert_call": "ExpertCallAllRanks",
    },
    requires=("compute",),
    options=(INPUT, MODULES, MACHINE),
    also=("module.chosen_domain", "across.expert_group", "across.expert_rows", "across.expert_kernel"),
    counted="experts.kernel",
    rows={
        "call": Rows("across.expert_call"),
        "rank": Rows("across.expert_rank", is_listed=True),
        "group": Rows("across.expert_total", is_listed=True),
    },
    place=17,
    heading=WHY,
    examples={"The 20 grouped matmuls that cost most": "result --top 20"},
    returns="""Return the grouped matmuls of experts (MoE) at each place of a step, and what their uneven spread costs.

    Sums by rank and by group of ranks are in across.expert_rank and across.expert_total.
    Raises InputError when no rank holds grouped matmuls.
    """,
    keys=lambda: schema.answer(
        groups=schema.rows("groups of ranks", "across.expert_total"),
        most_loaded_ranks=schema.rows("ranks", "across.expert_rank"),
        costliest_calls=schema.rows("grouped matmuls", "across.expert_call"),
        rows_by_expert=schema.rows("experts", "across.expert_rows"),
        kernels=schema.rows("kernels of experts by role and type", "across.expert_kernel"),
    ),
)


def experts(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the ranks with most work for their experts, the grouped matmuls whose spread costs most, and each group's sum."""
    groups = profile.rows("FROM across.expert_total")
    ranks = profile.rows(f"FROM across.expert_rank ORDER BY duration_ns DESC, rank_id, profile LIMIT {top:d}")
    calls = profile.rows(
        f"FROM across.expert_call WHERE rank_count > 1 ORDER BY cost_ns DESC, expert_group, step_id, position LIMIT {top:d}"
    )
    by_expert = profile.rows("FROM across.expert_rows")
    facts: Facts = {
        **size_of(profile, "across.expert_call", "experts.load"),
        "groups": groups,
        "most_loaded_ranks": ranks,
        "costliest_calls": calls,
        "rows_by_expert": by_expert,
        "kernels": profile.rows("FROM across.expert_kernel"),
    }
    of_ranks: dict[str, Source] = {
        "rank": ("text", rank_name),
        "time": "duration_ns",
        "time / mean": "time_imbalance",
        "rows": "row_count",
        "rows / mean": "row_imbalance",
        "experts": "expert_count",
        "grouped matmuls": "kernel_count",
        "expert group": "expert_group",
    }
    of_calls: dict[str, Source] = {
        "step": ("text", lambda row: row["step_id"]),
        "place": "position",
        "slowest rank": "slowest_rank",
        "cost": "cost_ns",
        "slowest": "max_ns",
        "mean": "mean_ns",
        "most rows / mean": "row_imbalance",
        "wait after": "wait_ns",
        "module": "module",
    }
    blocks: list[Block] = [table_of("across.expert_rank", ranks, of_ranks)] if ranks else []
    if calls:
        blocks.append(table_of("across.expert_call", calls, of_calls))
    blocks.append(
        said(
            *(line for group in groups for line in _of_group(group)),
            *_left_out(facts["kernels"]),
            *_of_experts(by_expert, bool(ranks)),
        )
    )
    return facts, blocks


def _of_group(group: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about a group of ranks."""
    recorded = "" if group["is_recorded"] else " (no expert parallel group is recorded)"
    even = "unknown" if group["time_imbalance"] is None else f"{group['time_imbalance']:.2f} times the mean"
    line = f"{group['expert_group']}{recorded}: {several(group['rank_count'], 'rank')}, grouped matmuls"
    yield f"{line} {duration(group['duration_ns'])}; the most loaded rank has {even}"
    if group["cost_ns"] is None:
        yield f"cost not known: {group['reason']}"
    else:
        wait = "" if group["wait_ns"] is None else f"; ranks then waited {duration(group['wait_ns'])} on average"
        paired = f"{count(group['paired_count'])} grouped matmuls"
        yield f"uneven load costs each rank {duration(group['cost_ns'])} in {paired}{wait}"
    if group["row_range"] == "all equal":
        yield "all grouped matmuls have the same number of rows: a buffer of fixed size, or an even load; time says which"


_WHY_LEFT_OUT = {
    "fused": "exchange rows, multiply and exchange the results in one kernel: rows and the time of each part are not recorded",
    "dispatch": "send rows to their experts",
    "combine": "gather the results of experts",
}


def _left_out(kernels: list[dict[str, Any]]) -> Iterator[str]:
    """Yield which kernels of experts are no grouped matmuls, with their time: they are in none of the figures above."""
    for row in kernels:
        if row["role"] != "grouped matmul":
            experts = "" if row["expert_count"] is None else f" with {several(row['expert_count'], 'expert')} of the rank each"
            yield (
                f"not counted above: {count(row['kernel_count'])} x {row['kernel_type']}{experts}, "
                f"{duration(row['duration_ns'])} ({duration(row['min_ns'])} to {duration(row['max_ns'])}); they "
                f"{_WHY_LEFT_OUT[row['role']]}"
            )


def _of_experts(by_expert: list[dict[str, Any]], has_matmuls: bool) -> Iterator[str]:
    """Yield which expert gets most rows, or why that is not known."""
    if not by_expert:
        if not has_matmuls:
            yield "no grouped matmuls: how even the load of the ranks is, is not recorded"
            return
        yield "rows of each expert are not recorded: they are values of an input; the rows above are of all experts of a rank"
        return
    most = by_expert[0]
    much = "" if most["row_imbalance"] is None else f", {most['row_imbalance']:.2f} times the mean"
    where = f"expert {most['expert']} of rank {rank_name(most)}"
    yield f"most rows: {where}, {count(most['row_count'])}{much} of {several(len(by_expert), 'expert')}"
