"""Requests of a benchmark beside the passes of a server, as people see them."""

from collections.abc import Iterator, Mapping
from typing import Any

from prof_analysis.analyses.answer import Block, Facts, Source, said, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import several


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
    blocks: list[Block] = [
        table_of("across.request_latency", latencies, of_latencies),
        said(*_about(run, latencies)),
    ]
    if parts:
        blocks.append(table_of("across.request_part", parts, of_parts))
    return {"latencies": latencies, "latency_parts": parts}, blocks


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
    yield (
        "benchmarks do not record by the clock of the profile, so no request is assigned to passes: distributions are "
        "compared, of all requests and of the passes in the recording"
    )
