"""The answers of `communication-time` and `slow-ranks`."""

from typing import TYPE_CHECKING

from prof_analysis.answers.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.answers.words import duration, rank_name, several

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_PARTS = ("elapse", "transit", "wait", "synchronization", "idle", "longest_plane_wait")
_SHOWN_MODULES = 3


def communication_time(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the groups and types of operators that took longest, the time of all operators, and why some is not split."""
    parts = ", ".join(f"{part}_ns" for part in _PARTS)
    groups = profile.rows(
        f"""
        SELECT op_count, {parts}, unknown_ns, bandwidth_gb_s, type, group_name
        FROM across.communication_group_time
        ORDER BY elapse_ns DESC, type, group_name, kind
        LIMIT {top:d}
        """
    )
    (whole,) = profile.rows("FROM across.communication_time")
    unknown = profile.rows("FROM across.communication_unknown")
    facts: Facts = {
        **size_of(profile, "communication.time"),
        "all": whole,
        "longest_groups": groups,
        "unknown": unknown,
    }
    columns = {
        "type": "type",
        "group": "group_name",
        "operators": "op_count",
        **{part.replace("_", " "): f"{part}_ns" for part in ("elapse", "transit", "wait", "idle")},
        "GB/s": "bandwidth_gb_s",
        "synchronization": "synchronization_ns",
        "longest plane wait": "longest_plane_wait_ns",
    }
    of_parts = ", ".join(f"{part} {duration(whole[f'{part}_ns'])}" for part in ("transit", "wait", "idle"))
    return facts, [
        table_of("across.communication_group_time", groups, columns),
        said(
            f"communication {duration(whole['elapse_ns'])}: {of_parts}; {several(facts['ranks'], 'rank')}",
            *(
                f"not split: {duration(row['elapse_ns'])} in {several(row['op_count'], 'operator')}: {row['reason']}"
                for row in unknown
            ),
        ),
    ]


def slow_ranks(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the finding, and the ranks that waited least for others with the evidence."""
    (finding,) = profile.rows("FROM across.slow_rank_finding") or [{"finding": None, "sentence": "no ranks to compare"}]
    ranks = profile.rows(
        f"FROM across.slow_rank ORDER BY is_slow DESC NULLS LAST, waited_ns NULLS LAST, rank_id, profile LIMIT {top:d}"
    )
    modules = profile.rows(f"FROM across.slow_rank_module WHERE excess_ns > 0 LIMIT {_SHOWN_MODULES}")
    facts: Facts = {**size_of(profile, "across.slow_rank"), **finding, "evidence": ranks, "modules": modules}
    columns: dict[str, Source] = {
        "rank": ("text", rank_name),
        "slow": "is_slow",
        "waited": "waited_ns",
        "step": "step_ns",
        "computing": "computing_ns",
        "p2p": "p2p_elapse_ns",
        "p2p wait": "p2p_wait_ns",
        "collective": "collective_elapse_ns",
        "collective wait": "collective_wait_ns",
        "last to arrive": "last_count",
        "pipeline stage": "pipeline_stage",
        "folder": "profile",
    }
    of_modules = (
        f"rank {rank_name(row)} computes {duration(row['excess_ns'])} longer in"
        f" {row['parent_module']}{'/' if row['parent_module'] else ''}{row['module']} than the others"
        for row in modules
    )
    return facts, [
        table_of("across.slow_rank", ranks, columns),
        said(facts["sentence"], *of_modules, several(facts["ranks"], "rank")),
    ]
