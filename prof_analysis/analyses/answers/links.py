"""The analysis `links`: which links between ranks carry how much, and how fast?"""

from collections.abc import Iterator, Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, job_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import count, duration, percent, several, size

ANALYSIS = Analysis(
    "links",
    "Which links between ranks carry how much, and how fast?\n\n"
    "Shows for each pair of ranks and each link the bytes, how fast they moved, and how much slower that is than the same "
    "transfers of other pairs.",
    "transfers",
    {"across.link": "Link", "across.link_packet": "LinkPacket"},
    section="communication",
    captions=("Links between ranks: slow ones, and those that lose most time beside others, first",),
    requires=("transfers",),
    also=("communication.packet", "across.link_kind", "across.job"),
    counted="communication.packet",
    rows={
        "pair": Rows("across.link"),
        "packet": Rows("across.link_packet", is_listed=True),
        "kind": Rows("across.link_kind", is_listed=True),
    },
    place=14,
    heading=WHY,
    examples={"The 30 pairs of ranks that lose most": "result --top 30"},
    returns="""Return the data moved between each pair of ranks, how fast, and how much slower than between other pairs.

    A row is a pair of ranks and a link, in ranks of the whole job; with by="packet" it is of one group, type of operators
    and size of packets; with by="kind" a kind of link.
    Raises InputError when no rank holds transfers between ranks.
    """,
    keys=lambda: schema.answer(
        job=schema.JOB,
        links=schema.rows("each kind of link", "across.link_kind"),
        pairs=schema.rows("pairs of ranks that lose most time beside others", "across.link"),
    ),
)


def links(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the pairs of ranks that lose most time compared with other pairs, and the transfers of each kind of link."""
    pairs = profile.rows(f"FROM across.link LIMIT {top:d}")
    kinds = profile.rows("FROM across.link_kind")
    job, of_job = job_of(profile)
    facts: Facts = {**size_of(profile, "across.link"), **job, "links": kinds, "pairs": pairs}
    columns: dict[str, Source] = {
        "from": ("text", lambda row: _rank(row, "source")),
        "to": ("text", lambda row: _rank(row, "destination")),
        "link": "link",
        "slow": "is_slow",
        "lost": ("change", lambda row: row["lost_ns"]),
        "GB/s": "bandwidth_gb_s",
        "usual GB/s": "usual_gb_s",
        "of usual": "usual_share",
        "moved": ("size", lambda row: row["size_bytes"]),
        "time": "duration_ns",
        "groups": "groups",
    }
    return facts, [
        table_of("across.link", pairs, columns),
        said(*map(_about, kinds), *_verdict(kinds, facts["ranks"]), *of_job),
    ]


def _rank(row: Mapping[str, Any], end: str) -> str | None:
    """Return the rank at one end of a link; where only its place in the group is known, this, said so."""
    rank, place = row[f"{end}_global_rank"], row[f"{end}_rank"]
    return str(rank) if rank is not None else None if place is None else f"{place} of the group"


def _about(row: Mapping[str, Any]) -> str:
    """Return a sentence about a kind of link."""
    line = f"{row['link'] or 'unknown link'}: {several(row['pair_count'], 'pair')} of ranks, {size(row['size_bytes'])}"
    line += f" in {duration(row['duration_ns'])}"
    if row["median_gb_s"] is not None:
        line += f"; {row['min_gb_s']:,.1f} to {row['max_gb_s']:,.1f} GB/s, median {row['median_gb_s']:,.1f}"
    if row["one_sided_count"]:
        line += f"; {count(row['one_sided_count'])} recorded in one direction only"
    return line


def _verdict(kinds: list[dict[str, Any]], ranks: int) -> Iterator[str]:
    """Yield sentences about slow links."""
    slow, judged = (sum(row[f"{word}_count"] for row in kinds) for word in ("slow", "judged"))
    if slow:
        lost = sum(row["slow_lost_ns"] or 0 for row in kinds)
        yield f"{several(slow, 'pair')} of {count(judged)} slower than others: {duration(lost)} lost; {several(ranks, 'rank')}"
    elif judged:
        least = min(row["least_share"] for row in kinds if row["least_share"] is not None)
        yield f"no link is slow: each has at least {percent(least)} of the usual bandwidth; {several(ranks, 'rank')}"
    else:
        unknown = (
            "whether a link is slow is not known: fewer than three pairs of ranks move the same over the same kind of link"
        )
        yield f"{unknown}; {several(ranks, 'rank')}"
