"""The tables of a file that say what its other tables were made of: Provenance and ProfileRank."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import duckdb

from prof_analysis.common.version import __version__
from prof_analysis.sources.rank import Rank


class Documented(NamedTuple):
    """The documentation of a table: its name, what a row is, and the meanings of its columns."""

    name: str
    summary: str
    columns: Mapping[str, str]


# The columns in front of tables of ranks.
OF_RANKS = {
    "run": "the run",
    "profile": "folder of the rank, below the path that was opened; identifies the rank",
    "rank_id": "rank; NULL when not recorded, a negative number in cluster_analysis.db",
}
PROFILE_RANK = Documented(
    "ProfileRank",
    "One row is a rank of the tables in this file.",
    {
        **OF_RANKS,
        "device_id": "device; NULL when not recorded",
        "rank_id_from": "the file that has the rank; NULL without a rank",
    },
)
PROVENANCE = Documented(
    "Provenance",
    "One row is a table of this file that prof-analysis wrote, with its origin.",
    {
        "table_name": "the table",
        "command": "the command line that wrote it: of prof-analysis, or of the Python program that exported it",
        "options": "the options that it depends on, with their values, also where they are defaults; a JSON object",
        "inputs": "the folders of the ranks that it holds, or the logs that were given; a JSON list",
        "identity": "digest of the input files, by name, size and time of change; NULL for logs",
        "version": "version of prof-analysis",
        "written_at": "when it was written, UTC",
    },
)


@dataclass(frozen=True)
class Origin:
    """The origin of tables: folders or logs, a digest of their files, the options that each table depends on, and the command.

    With `is_anonymous` nothing may be added that identifies people or machines. Tables of another identity do not belong
    together, nor do tables with different values of an option.
    """

    inputs: tuple[str, ...]
    identity: str | None = None
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    is_anonymous: bool = False
    command: str = ""


def provenance(
    connection: duckdb.DuckDBPyConnection, exports: Mapping[str, str], origin: Origin, further: Iterable[str] = ()
) -> duckdb.DuckDBPyRelation:
    """Return a row for each table of an export, and for further tables by their names in exports."""
    options = {name: origin.options.get(table, {}) for table, name in exports.items()} | {name: {} for name in further}
    texts = [json.dumps(values, sort_keys=True, default=str) for values in options.values()]
    rows = "SELECT unnest($names::VARCHAR[]), $command, unnest($options::VARCHAR[]), $inputs, $identity, $version, $written_at"
    return connection.sql(
        f"SELECT columns(*)::VARCHAR FROM ({rows}) AS row ({', '.join(PROVENANCE.columns)})",
        params={
            "names": list(options),
            "command": origin.command,
            "options": texts,
            "inputs": json.dumps(origin.inputs, ensure_ascii=False),
            "identity": origin.identity,
            "version": __version__,
            "written_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
    )


def profile_rank(
    connection: duckdb.DuckDBPyConnection, ranks: Sequence[Rank], numbers: Mapping[str, int | None]
) -> duckdb.DuckDBPyRelation:
    """Return a row for each rank, with its rank id in this file."""
    values: dict[str, tuple[str, list[object]]] = {
        "run": ("VARCHAR", [rank.run for rank in ranks]),
        "profile": ("VARCHAR", [rank.profile for rank in ranks]),
        "rank_id": ("INTEGER", [numbers[rank.profile] for rank in ranks]),
        "device_id": ("INTEGER", [rank.device_id for rank in ranks]),
        "rank_id_from": ("VARCHAR", [rank.rank_id_from for rank in ranks]),
    }
    if not any(rank.run for rank in ranks):
        del values["run"]
    columns = ", ".join(f"unnest(${name}::{type_}[]) AS {name}" for name, (type_, _) in values.items())
    return connection.sql(f"SELECT {columns}", params={name: given for name, (_, given) in values.items()})
