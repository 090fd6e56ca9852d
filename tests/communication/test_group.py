"""The ranks of a group in the whole job: what the training framework says of it, by the name that the profiler uses."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.small_profile import Kernel, edit, write_profile

# As msprof hashes them, and as communication.json and analysis.db name a group.
HASHES = {"group_name_0": "5862276093215481612", "group_name_19": "3985310405473756128"}


def write(folder: Path, groups: Mapping[str, object], pairs: list[tuple[str, int, int]], rank: int | None = 2) -> None:
    """A rank with an operator, groups of ranks, and a matrix of what went from a rank in a group to another."""
    database = write_profile(folder / "a_ascend_pt", unlinked=[Kernel("hcom_a_", 1, 2, kind="communication")], rank=rank)
    edit(database, "CREATE TABLE META_DATA (name TEXT, value TEXT);")
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("INSERT INTO META_DATA VALUES ('parallel_group_info', ?)", (json.dumps(groups),))
    with closing(sqlite3.connect(database.with_name("analysis.db"))) as opened, opened:
        opened.execute(
            "CREATE TABLE CommAnalyzerMatrix (hccl_op_name, group_name, src_rank, dst_rank, transport_type, transit_size,"
            " transit_time, step, type)"
        )
        for number, pair in enumerate(pairs):
            row = ("send-total", *pair, "HCCS", len(pairs) - number, 1, "step", "p2p")
            opened.execute(f"INSERT INTO CommAnalyzerMatrix VALUES ({', '.join('?' * len(row))})", row)


def links(folder: Path) -> list[tuple[Any, ...]]:
    shown = ("group_label", "source_rank", "destination_rank", "source_global_rank", "destination_global_rank")
    with open_profile(folder) as profile:
        return [tuple(row[name] for name in shown) for row in arrow_of(profile.communication_time("link")).to_pylist()]


def group(label: str | None, *ranks: int) -> dict[str, object]:
    return {"group_name": label, "group_rank": 0, "global_ranks": list(ranks)}


def test_a_link_names_ranks_of_the_job_where_the_group_is_recorded_by_its_name_or_by_its_hash(tmp_path: Path) -> None:
    groups = {
        "group_name_0": group("default_group", 0, 1, 2),
        "group_name_19": group("pp", 2, 6),
        "10.0.0.1%eth": group(None, 2, 4),
    }
    pairs = [
        ("group_name_0", 2, 1),
        *((name, 0, 1) for name in HASHES.values()),
        ("10.0.0.1%eth", 0, 1),
        ("group_name_19", 0, 7),
    ]
    write(tmp_path, groups, pairs)
    assert links(tmp_path) == [
        ("default_group", 2, 1, 2, 1),
        ("default_group", 0, 1, 0, 1),
        ("pp", 0, 1, 2, 6),
        (None, 0, 1, 2, 4),
        ("pp", 0, 7, 2, None),  # The group has no such rank.
    ]


def test_without_the_group_a_link_names_the_own_rank_only(tmp_path: Path) -> None:
    write(tmp_path / "numbered", {}, [("8", 0, 1), ("8", 0, 0)])
    assert links(tmp_path / "numbered") == [(None, 0, 1, 2, None), (None, 0, 0, 2, 2)]
    write(tmp_path / "bare", {}, [("8", 0, 1), ("8", 0, 0)], rank=None)
    assert links(tmp_path / "bare") == [(None, 0, 1, None, None), (None, 0, 0, None, None)]
