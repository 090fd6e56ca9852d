"""The analysis `slow-ranks`: which rank makes the others wait?"""

from collections.abc import Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, job_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, rank_name, several
from prof_analysis.common.capabilities import any_of

ANALYSIS = Analysis(
    "slow-ranks",
    "Which rank makes the others wait?\n\n"
    "Finds the slow rank or pipeline stage by what the ranks wait for each other in communication, and shows where "
    "it loses the time.",
    "communication and steps",
    {
        "across.slow_rank": "SlowRank",
        "across.slow_rank_finding": "SlowRankFinding",
        "across.slow_rank_module": "SlowRankModule",
        "across.rank_communication": "RankCommunication",
    },
    section="ranks",
    requires=(any_of("kernels", "reported_communication", "reported_steps"),),
    also=("step.reported_audit", "across.job"),
    extras={
        "by collective": Extra(("kernels", "communication"), {"across.collective": "SlowCollective"}),
        "by op": Extra(("ops",), {"across.host_difference": "HostDifference"}),
    },
    rows={
        "rank": Rows("across.slow_rank"),
        "group": Rows("across.rank_communication", is_listed=True),
        "module": Rows("across.slow_rank_module", is_listed=True),
        "finding": Rows("across.slow_rank_finding", is_listed=True),
        "collective": Rows("across.collective", extra="by collective"),
        "op": Rows("across.host_difference", requires=("ops",), extra="by op", is_listed=True),
    },
    place=15,
    heading=WHY,
    examples={
        "The collectives in which ranks waited most, and why": "result --by collective",
        "The ops that its host is longer in than the others": "result --by op",
    },
    returns="""Return which rank, or pipeline stage, makes the others wait, with the evidence.

    A row is a rank, with means per step; with by="group" a rank and a group, all steps together; with by="module" a module
    of a slow rank, the largest excess first; with by="finding" the only row is the conclusion; with by="collective" a
    collective in which ranks waited, with the rank that came last and the cause; with by="op" an op in a module in which the
    host of a slow rank is longer than those of the others.
    Raises InputError when no rank holds communication or steps.
    """,
    keys=lambda: {
        "anyOf": [
            schema.answer(
                job=schema.JOB,
                **schema.columns_of("across.slow_rank_finding"),
                evidence=schema.rows("ranks, those that waited least first", "across.slow_rank"),
                modules=schema.rows("modules in which a slow rank computes longer", "across.slow_rank_module"),
            ),
            schema.answer(
                job=schema.JOB,
                causes=schema.rows(
                    "with --by collective: all waiting in collectives by cause",
                    schema.fields(
                        cause=schema.columns_of("across.collective")["cause"],
                        collectives=schema.count("collectives"),
                        all_waited_ns=schema.amount("what all ranks waited", "ns"),
                    ),
                ),
                worst=schema.rows("with --by collective: the collectives in which ranks waited most", "across.collective"),
            ),
        ]
    },
)
_SHOWN_MODULES = 3


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
    causes = profile.rows("FROM across.collective_cause")
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
