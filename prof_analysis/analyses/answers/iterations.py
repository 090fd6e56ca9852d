"""The analysis `iterations`: how long are the passes of a server, prefill and decode, and what is between them?"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.iterations_requests import shown_requests
from prof_analysis.analyses.iterations_roles import shown_roles
from prof_analysis.analyses.words import duration, percent, rank_name, several
from prof_analysis.common.option_docs import INPUT, MACHINE

ANALYSIS = Analysis(
    "iterations",
    "How long are passes of a server: prefill and decode?\n\n"
    "Shows the passes of a server by phase and number of requests, with the time of each on the device and on the "
    "host, what it is made of, and what lies between passes.",
    "passes of a server (a batch of requests in prefill or decode, which annotations of the engine or the kernels of its "
    "attention show)",
    {
        "pass.time": "Pass",
        "pass.cause": "PassIdle",
        "across.pass_statistic": "PassStatistic",
        "across.pass_rank": "PassRank",
        "across.pass_role": "PassRole",
    },
    section="iterations",
    captions=("Passes by phase and requests", "The passes that took longest", "Ranks by role"),
    requires=("kernels",),
    options=(INPUT, MACHINE, "requests"),
    also=("free.by_phase", "across.free_by_phase"),
    extras={
        "requests": Extra(
            (),
            {
                "across.request": "Request",
                "across.request_latency": "RequestLatency",
                "across.request_part": "RequestPart",
                "across.service_batch": "ServiceBatch",
                "across.pass_request": "PassRequest",
                "across.kv_blocks": "KvBlocks",
                "across.draft_acceptance": "DraftAcceptance",
            },
            ("across.benchmark_record", "across.batch_fit"),
        )
    },
    rows={
        "pass": Rows("pass.time"),
        "batch": Rows("across.pass_statistic", is_listed=True),
        "cause": Rows("pass.cause", is_listed=True),
        "rank": Rows("across.pass_rank", is_listed=True),
        "role": Rows("across.pass_role", is_listed=True),
    },
    place=11,
    examples={
        "Each phase and number of requests, with percentiles": "result --by batch",
        "All passes in files": "result --export-type csv -o out",
    },
    returns="""Return the passes of a server: a row each, with its phase, what it holds and where its time went, in ns.

    duration = computing + communication not overlapped + copying not overlapped + idle. With by="batch" a row is a phase and a
    number of requests with median, p90 and p99 of the steady state; with by="cause" a pass and a cause of its idle time; with
    by="rank" a rank, whose passes and the time between them add up to the recording; with by="role" the ranks that prefill, or
    decode, where these run apart.
    Raises InputError when no rank holds kernels.
    """,
    keys=lambda: schema.answer(
        "latencies",
        "latency_parts",
        "batch_fits",
        "kv_blocks",
        "draft_acceptance",
        latencies=schema.rows("latencies of requests beside passes, with --requests", "across.request_latency"),
        latency_parts=schema.rows("parts of their medians, with --requests", "across.request_part"),
        batch_fits=schema.rows("ranks, and whether batches of msServiceProfiler fit their clock", "across.batch_fit"),
        kv_blocks=schema.rows("how full the KV cache was, with results of msServiceProfiler", "across.kv_blocks"),
        draft_acceptance=schema.rows("drafted tokens, with results of msServiceProfiler", "across.draft_acceptance"),
        batches=schema.rows("passes by phase and number of requests", "across.pass_statistic"),
        passes_of_ranks=schema.rows("ranks with their passes and the time between them", "across.pass_rank"),
        idle_causes=schema.rows("causes of idle time by phase", "across.free_by_phase"),
        longest_passes=schema.rows("passes", "pass.time"),
        roles=schema.rows("roles of ranks: prefill, decode or both", "across.pass_role"),
    ),
    over_runs=lambda: schema.fields(
        roles=schema.rows("roles of the ranks of each run", schema.row("across.pass_role", run=schema.text("name of the run")))
    ),
)

_PARTS = {
    "computing": "computing_ns",
    "communication alone": "communication_not_overlapped_ns",
    "copying alone": "copying_not_overlapped_ns",
    "idle": "idle_ns",
}
_SUMS = (
    "pass_count",
    "warm_up_count",
    "warm_up_ns",
    "unknown_count",
    "recording_ns",
    "pass_ns",
    "between_ns",
    "idle_between_ns",
)


def iterations(profile: Tables, top: int, requests: object = None) -> tuple[Facts, list[Block]]:
    """Return the passes by phase and number of requests, the longest passes, and what lies between passes.

    With the `requests` of a benchmark also their latencies beside the passes.
    """
    batches = profile.rows(f"FROM across.pass_statistic LIMIT {top:d}")
    ranks = profile.rows("FROM across.pass_rank")
    causes = profile.rows("FROM across.free_by_phase")
    roles = profile.rows("FROM across.pass_role")
    passes = profile.rows(f"FROM pass.time ORDER BY duration_ns DESC, profile, pass_id LIMIT {top:d}")
    facts: Facts = {
        **size_of(profile, "pass.time"),
        "batches": batches,
        "passes_of_ranks": ranks,
        "idle_causes": causes,
        "longest_passes": passes,
        "roles": roles,
    }
    parts = {header: column for header, column in _PARTS.items() if any(row[column] for row in [*batches, *passes])}
    of_batches: dict[str, Source] = {
        "phase": ("text", lambda row: row["phase"] or "unknown"),
        "requests": "request_count",
        "passes": "pass_count",
        "median": "median_ns",
        "p90": "p90_ns",
        "p99": "p99_ns",
        "gap before": "median_gap_ns",
        **{header: ("time", partial(_part, column=column, whole="total_ns")) for header, column in parts.items()},
        "host between": "median_host_before_ns",
        "tokens": "token_count",
        "share": "share",
    }
    of_passes: dict[str, Source] = {
        "pass": "pass_id",
        "rank": ("text", rank_name),
        "phase": ("text", lambda row: row["phase"] or "unknown"),
        "requests": "request_count",
        "tokens": "token_count",
        "context": "key_count",
        "time": "duration_ns",
        "gap before": "gap_before_ns",
        **{header: ("time", partial(_part, column=column, whole="duration_ns")) for header, column in parts.items()},
        "idle by": "idle_cause",
        "host": "host_ns",
        "host before": "host_before_ns",
        "folder": "profile",
    }
    more, of_requests = shown_requests(profile) if requests else ({}, [])
    shown: list[Block] = [table_of("across.pass_statistic", batches, of_batches, bar="share")] if batches else []
    shown += [said(*_about(ranks, causes)), table_of("pass.time", passes, of_passes)]
    return {**facts, **more}, [*shown, *shown_roles(roles), *of_requests]


def over_runs(profile: Tables) -> tuple[Facts, list[Block]]:
    """Return the roles of the ranks of all runs: prefill and decode may have been recorded apart."""
    in_order = "list_position(['prefill', 'decode', 'both'], role) NULLS LAST, run"
    roles = profile.rows(f"FROM across.pass_role ORDER BY {in_order}")
    return {"roles": roles}, shown_roles(roles)


def _part(row: Mapping[str, Any], column: str, whole: str) -> tuple[int, float | None]:
    """Return a time and its share of the whole."""
    return row[column], row[column] / row[whole] if row[whole] else None


def _about(ranks: list[dict[str, Any]], causes: list[dict[str, Any]]) -> Iterator[str]:
    """Yield sentences about all passes: how they are found, what is left out, and what the device waits for."""
    total = {column: sum(row[column] for row in ranks) for column in _SUMS}
    by = ", ".join(_FOUND[name] for name in _FOUND if any(row["found_by"] == name for row in ranks))
    yield f"{several(total['pass_count'], 'pass', 'es')} on {several(len(ranks), 'rank')}, found by {by}"
    if recording := total["recording_ns"]:
        yield (
            f"of the recording, passes take {percent(total['pass_ns'] / recording)}, and the time between them "
            f"{percent(total['between_ns'] / recording)}: {duration(total['between_ns'])}, of which the device idles for "
            f"{duration(total['idle_between_ns'])}"
        )
    if total["warm_up_count"]:
        yield (
            f"the first {several(total['warm_up_count'], 'pass', 'es')} of their kind, of {duration(total['warm_up_ns'])}, "
            "are warm-up or captures, and are left out of medians and percentiles"
        )
    else:
        yield "no pass is left out as warm-up"
    if total["unknown_count"]:
        yield f"the phase of {several(total['unknown_count'], 'pass', 'es')} is not known: the column reason says why"
    if causes and causes[0]["total_ns"]:
        first = causes[0]
        where = "before" if first["is_before"] else "in"
        yield f"most idle time lies {where} {first['phase']} passes: {first['cause']}, {duration(first['total_ns'])}"


_FOUND = {
    "annotation": "annotations of the engine",
    "tokens": "the choice of tokens at the end of each",
    "layers": "the layers that repeat in their kernels",
    "gaps": "the gaps between their kernels",
}
