"""The answers of `communication-time` and `slow-ranks`."""

from collections.abc import Mapping
from typing import Any

from prof_analysis.analyses.answers.answer import Block, Facts, Source, job_of, said, size_of, table_of
from prof_analysis.analyses.answers.words import duration, rank_name, several
from prof_analysis.analyses.asked import Tables

_PARTS = ("elapse", "transit", "wait", "synchronization", "idle", "longest_plane_wait")
_SHOWN_MODULES = 3


def communication_time(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
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
    unpaired = profile.rows(
        "SELECT reason, count(*) AS operators FROM across.p2p WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason"
    )
    job, of_job = job_of(profile)
    facts: Facts = {
        **size_of(profile, "communication.time"),
        **job,
        "all": whole,
        "longest_groups": groups,
        "unknown": unknown,
        "unpaired": unpaired,
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
            *_waiting(whole),
            *(
                f"not split: {duration(row['elapse_ns'])} in {several(row['op_count'], 'operator')}: {row['reason']}"
                for row in unknown
            ),
            *(f"not paired: {several(row['operators'], 'operator')} that send or receive: {row['reason']}" for row in unpaired),
            *of_job,
        ),
    ]


def _waiting(whole: Mapping[str, Any]) -> list[str]:
    """Return how long operators wait for other ranks, where the master planes, whose times are shown, do not show it all."""
    if whole["waiting_ns"] is None or whole["waiting_ns"] == whole["wait_ns"]:
        return []
    return [
        f"waiting for other ranks: {duration(whole['waiting_ns'])}, by the plane of each operator that waits longest; wait and"
        " idle are those of the master planes, as in communication.json"
    ]


def slow_ranks(profile: Tables, top: int, by: str = "rank") -> tuple[Facts, list[Block]]:
    """Return the finding, and the ranks that waited least for others with the evidence; or the collectives that cost most."""
    if by == "collective":
        return _slow_collectives(profile, top)
    (finding,) = profile.rows("FROM across.slow_rank_finding") or [{"finding": None, "sentence": "no ranks to compare"}]
    ranks = profile.rows(
        f"FROM across.slow_rank ORDER BY is_slow DESC NULLS LAST, waited_ns NULLS LAST, rank_id, profile LIMIT {top:d}"
    )
    modules = profile.rows(f"FROM across.slow_rank_module WHERE excess_ns > 0 LIMIT {_SHOWN_MODULES}")
    job, of_job = job_of(profile)
    facts: Facts = {**size_of(profile, "across.slow_rank"), **job, **finding, "evidence": ranks, "modules": modules}
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
        said(facts["sentence"], *of_modules, several(facts["ranks"], "rank"), *of_job),
    ]


def _slow_collectives(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the collectives in which ranks waited most, and how much of all this waiting has which cause."""
    collectives = profile.rows(f"FROM across.collective LIMIT {top:d}")
    causes = profile.rows(
        "SELECT cause, count(*) AS collectives, sum(all_waited_ns)::BIGINT AS all_waited_ns FROM across.collective "
        "GROUP BY cause ORDER BY all_waited_ns DESC, cause"
    )
    job, of_job = job_of(profile)
    size = size_of(profile, "across.collective", "communication.approach")
    facts: Facts = {**size, **job, "causes": causes, "worst": collectives}
    columns: dict[str, Source] = {
        "collective": "name",
        "last": ("text", lambda row: _rank(row, "last")),
        "first": ("text", lambda row: _rank(row, "first")),
        "waited": "waited_ns",
        "by all": "all_waited_ns",
        "cause": "cause",
        "host": "idle_cause",
        "computing": ("change", lambda row: row["more_computing_ns"]),
        "idle": ("change", lambda row: row["more_idle_ns"]),
        "other communication": ("change", lambda row: row["more_communication_ns"]),
        "step": ("text", lambda row: row["step_id"]),
        "group": "group_name",
    }
    lines = [
        f"{row['cause'] or 'cause not known'}: {duration(row['all_waited_ns'])} waited in"
        f" {several(row['collectives'], 'collective')}"
        for row in causes
    ]
    shown = [table_of("across.collective", collectives, columns)] if collectives else []
    return facts, [
        *shown,
        said(
            *(lines or ["no rank waits for another one for 5% of a collective or longer"]),
            several(facts["ranks"], "rank"),
            *of_job,
        ),
    ]


def _rank(row: Mapping[str, Any], which: str) -> str:
    """Return the rank that came first or last in a collective."""
    return rank_name({"rank_id": row[f"{which}_rank_id"], "profile": row[f"{which}_profile"]})
