"""Ranks of a server whose prefill and decode run apart, as people see them: the passes of each role, and the KV cache."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from prof_analysis.analyses.answer import Block, Source, said, table_of
from prof_analysis.analyses.words import count, duration, several

_PARTS = {
    "computing": "computing_ns",
    "communication alone": "communication_not_overlapped_ns",
    "copying alone": "copying_not_overlapped_ns",
    "idle": "idle_ns",
}


def shown_roles(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return the roles of ranks, over several runs with the column `run`; nothing where all ranks have one role."""
    if len({row["role"] for row in rows}) < 2:
        return []
    parts = [header for header, column in _PARTS.items() if any(row[column] for row in rows)]
    moves = any(row["kv_kernel_count"] for row in rows)
    columns: dict[str, Source] = {
        **({"run": ("text", lambda row: row["run"])} if "run" in rows[0] else {}),
        "role": ("text", lambda row: row["role"] or "unknown"),
        "ranks": "rank_count",
        "passes": "pass_count",
        "requests": "median_request_count",
        "tokens": "token_count",
        "median": "median_ns",
        "p90": "p90_ns",
        "p99": "p99_ns",
        **{header: ("time", partial(_part, column=_PARTS[header])) for header in parts},
        **({"KV transfer": "kv_transfer_ns", "KV transfer alone": "kv_not_overlapped_ns"} if moves else {}),
        "share of recording": "pass_share",
    }
    return [table_of("across.pass_role", rows, columns), said(*_about(rows))]


def _part(row: Mapping[str, Any], column: str) -> tuple[int, float | None]:
    return row[column], row[column] / row["total_ns"] if row["total_ns"] else None


def _about(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about what moves the KV cache between ranks."""
    if not any(row["movers"] for row in rows):
        yield (
            "nothing that is recorded moves the KV cache: transports over RDMA have no kernels; a range around their call, "
            "such as start_load_kv, would show it"
        )
    for row in rows:
        if row["movers"]:
            run = f"run {row['run']}: " if "run" in row else ""
            yield (
                f"{run}{row['role'] or 'unknown'} ranks move the KV cache by {row['movers']}: "
                f"{several(row['kv_kernel_count'], 'kernel')} of {duration(row['kv_transfer_ns'])}, and "
                f"{several(row['kv_call_count'], 'call')} on the host of {duration(row['kv_host_ns'])}"
            )
        if row["dummy_count"]:
            run = f"run {row['run']}: " if "run" in row else ""
            yield f"{run}{count(row['dummy_count'])} dummy passes of {row['role'] or 'unknown'} ranks are left out"
