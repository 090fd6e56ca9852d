"""The summary of mstx marks and ranges."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.cli.summaries.parts import cells, duration_or_dash, grid_of, print_statistic, rank_count, size_of

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


# What ranks have from one host, as the devices of one database do, counts once.
_OF_HOSTS = """
    SELECT
        kind,
        producer,
        domain,
        message,
        max(event_count) AS event_count,
        max(host_total_ns) AS host_total_ns,
        max(host_max_ns) AS host_max_ns,
        sum(device_count) AS device_count,
        sum(device_total_ns) AS device_total_ns,
        sum(kernel_count) AS kernel_count,
        sum(kernel_duration_ns) AS kernel_duration_ns
    FROM mstx.statistic
    JOIN op.host USING (profile)
    GROUP BY kind, producer, domain, message, host.host_profile
"""


def mstx_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The ranges with the most host time, then marks, and how many there are of each producer, over all ranks."""
    heaviest = profile.rows(
        f"""
        SELECT
            kind,
            producer,
            domain,
            message,
            sum(event_count)::BIGINT AS event_count,
            sum(host_total_ns)::BIGINT AS host_total_ns,
            max(host_max_ns) AS host_max_ns,
            sum(device_count)::BIGINT AS device_count,
            sum(device_total_ns)::BIGINT AS device_total_ns,
            sum(kernel_count)::BIGINT AS kernel_count,
            sum(kernel_duration_ns)::BIGINT AS kernel_duration_ns
        FROM ({_OF_HOSTS})
        GROUP BY kind, producer, domain, message
        ORDER BY
            host_total_ns DESC NULLS LAST, device_total_ns DESC NULLS LAST, event_count DESC, kind, producer, domain, message
        LIMIT {top:d}
        """
    )
    producers = profile.rows(
        f"""
        SELECT producer, kind, sum(event_count)::BIGINT AS event_count
        FROM ({_OF_HOSTS})
        GROUP BY producer, kind
        ORDER BY event_count DESC, producer, kind
        """
    )
    return {**size_of(profile, "mstx.statistic"), "producers": producers, "heaviest": heaviest}


def print_mstx_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest ranges, how many there are of each producer, and the files."""
    grid = grid_of(
        "host time",
        "longest",
        "device time",
        "kernel time",
        "kernels",
        "number",
        "kind",
        "producer",
        "domain",
        "message",
        left=4,
    )
    for row in facts["heaviest"]:
        times = (row[f"{name}_ns"] for name in ("host_total", "host_max", "device_total", "kernel_duration"))
        grid.add_row(
            *map(duration_or_dash, times),
            "-" if row["kernel_count"] is None else f"{row['kernel_count']:,}",
            f"{row['event_count']:,}",
            *cells(row["kind"], row["producer"], row["domain"], row["message"]),
        )
    producers = [
        f"{row['event_count']:,} {row['kind']}{'s' * (row['event_count'] != 1)} of {row['producer'] or 'an unknown producer'}"
        for row in facts["producers"]
    ]
    print_statistic(grid, [f"{'; '.join(producers)}; {rank_count(facts)}"], written)
