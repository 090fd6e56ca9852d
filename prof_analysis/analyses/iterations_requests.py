"""Requests of a benchmark beside the passes of a server, as people see them."""

from collections.abc import Iterator, Mapping
from typing import Any

from prof_analysis.analyses.answer import Block, Facts, Source, said, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import count, percent, rank_name, several


def shown_requests(profile: Tables) -> tuple[Facts, list[Block]]:
    """Return the latencies of the requests of a benchmark beside passes, and what the median of each is made of."""
    latencies = profile.rows("FROM across.request_latency")
    parts = profile.rows("FROM across.request_part")
    (run,) = profile.rows("FROM across.benchmark_record WHERE kind = 'run'")
    of_latencies: dict[str, Source] = {
        "latency": "latency",
        "values": "value_count",
        "median": "median_ns",
        "p90": "p90_ns",
        "p99": "p99_ns",
        "max": "max_ns",
        "passes": "pass_count",
        "pass median": "pass_median_ns",
        "pass p90": "pass_p90_ns",
        "pass p99": "pass_p99_ns",
    }
    of_parts: dict[str, Source] = {"latency": "latency", "part": "part", "time": "duration_ns", "share": "share"}
    found: Facts = {
        "latencies": latencies,
        "latency_parts": parts,
        "batch_fits": profile.rows("FROM across.batch_fit"),
        "kv_blocks": profile.rows("FROM across.kv_blocks"),
        "draft_acceptance": profile.rows("FROM across.draft_acceptance"),
    }
    blocks: list[Block] = [
        *([table_of("across.request_latency", latencies, of_latencies)] if latencies else []),
        said(*_about(run, latencies), *_about_clocks(found["batch_fits"]), *_about_service(found)),
    ]
    if parts:
        blocks.append(table_of("across.request_part", parts, of_parts))
    return found, blocks


def _about(run: Mapping[str, Any], latencies: list[dict[str, Any]]) -> Iterator[str]:
    """Yield sentences about the result of a benchmark: what of it counts, and how it is compared."""
    if run["run_count"] > 1:
        yield f"the result holds {several(run['run_count'], 'run')} of the benchmark, of which the last one counts"
    if run["failed_count"]:
        yield f"{several(run['failed_count'], 'request')} without an answer, left out"
    if any(row["is_reported"] for row in latencies):
        yield (
            "the result has no single requests: these are the figures that the benchmark reports; --save-detailed of vLLM, "
            "or --output-details of SGLang, keeps the requests"
        )
    if run["origin"] == "benchmark":
        yield (
            "benchmarks do not record by the clock of the profile, so no request is assigned to passes: distributions are "
            "compared, of all requests and of the passes in the recording"
        )
    else:
        yield "requests and batches are those that msServiceProfiler recorded"


def _about_clocks(fits: list[dict[str, Any]]) -> Iterator[str]:
    """Yield sentences about the passes whose requests are known, and why others are not."""
    fitting = [row for row in fits if row["is_fit"]]
    if fitting:
        yield (
            f"requests are assigned to {several(sum(row['inside_count'] for row in fitting), 'pass', 'es')} of "
            f"{several(len(fitting), 'rank')}: the clocks fit; across.pass_request has them"
        )
    reasons = {row["reason"]: row for row in fits if not row["is_fit"]}
    for reason, row in reasons.items():
        yield f"no request is assigned to passes of {rank_name(row) or row['profile']}: {reason}; distributions are compared"


def _about_service(found: Facts) -> Iterator[str]:
    """Yield sentences about the KV cache and about drafted tokens."""
    for row in found["kv_blocks"]:
        when = "a batch is formed" if row["occasion"] == "batch" else "blocks are taken or given back"
        yield (
            f"of {several(row['block_count'], 'block')} of the KV cache, {percent(row['median_share'])} are in use in the "
            f"median and {percent(row['max_share'])} at most, when {when}"
        )
    if drafted := sum(row["token_count"] for row in found["draft_acceptance"]):
        accepted = sum(row["accepted_token_count"] for row in found["draft_acceptance"])
        yield f"of {several(drafted, 'drafted token')}, {count(accepted)} were accepted: {percent(accepted / drafted)}"
