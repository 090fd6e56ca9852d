"""The analysis `communication-time`: does communication transfer, wait or idle?"""

from collections.abc import Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import COMMUNICATION, WHY, Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, job_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, several
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

_PARTS = ("elapse_ns", "transit_ns", "wait_ns", "synchronization_ns", "idle_ns", "longest_plane_wait_ns", "unknown_ns")
_OF_GROUPS = ("op_count", *_PARTS, "bandwidth_gb_s", "type", "group_name")

ANALYSIS = Analysis(
    "communication-time",
    "Does communication transfer, wait or idle?\n\n"
    "Splits the time of communication operators into transfer, wait for other ranks, and idle: by operator and group "
    "on the screen, also by module, rank and link in files.",
    "communication operators",
    {
        "communication.time": "CommunicationTime",
        "communication.group_time": "CommunicationGroupTime",
        "communication.module_time": "CommunicationModuleTime",
        "communication.rank_time": "CommunicationRankTime",
        "communication.link": "CommunicationLink",
        "across.communication_group_time": "CommunicationGroupTimeAllRanks",
        "across.p2p": "P2p",
    },
    section="communication",
    captions=("Groups",),
    requires=(COMMUNICATION,),
    options=(INPUT, MODULES, MACHINE),
    also=("module.chosen_domain", "across.communication_time", "across.communication_unknown", "across.job"),
    rows={
        "op": Rows("communication.time"),
        "group": Rows("communication.group_time", is_listed=True),
        "module": Rows("communication.module_time", is_listed=True),
        "rank": Rows("communication.rank_time", is_listed=True),
        "link": Rows("communication.link", is_listed=True),
        "p2p": Rows("across.p2p", is_listed=True),
    },
    place=13,
    heading=WHY,
    examples={"The 20 operators that take longest": "result --top 20"},
    returns="""Return communication time split into transfer, wait and idle, from the tasks on the planes of the device.

    A row is an operator, a group, a module, a rank or, with by="link", a link between two ranks; with by="p2p" a send and
    the receive of the other rank.
    elapse_ns = transit_ns + wait_ns + idle_ns, those of the master plane, as in the profiler's own files; reason says why
    a split is None.
    Raises InputError when no rank holds communication operators.
    """,
    keys=lambda: schema.answer(
        job=schema.JOB,
        all=schema.one("all operators", "across.communication_time"),
        longest_groups=schema.rows("operators by type and group", schema.row("across.communication_group_time", *_OF_GROUPS)),
        unknown=schema.rows("what is not split, by reason", "across.communication_unknown"),
        unpaired=schema.rows(
            "operators that send or receive without a partner",
            schema.fields(reason=schema.text("why there is none"), operators=schema.count("operators")),
        ),
    ),
)


def communication_time(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the groups and types of operators that took longest, the time of all operators, and why some is not split."""
    groups = profile.rows(
        f"""
        SELECT {", ".join(_OF_GROUPS)}
        FROM across.communication_group_time
        ORDER BY elapse_ns DESC, type, group_name, kind
        LIMIT {top:d}
        """
    )
    (whole,) = profile.rows("FROM across.communication_time")
    unknown = profile.rows("FROM across.communication_unknown")
    unpaired = profile.rows("FROM across.p2p_unpaired")
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
