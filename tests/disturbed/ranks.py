"""The same recordings as those of ranks with other numbers."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.disturbed.databases import columns, databases, edit
from tests.disturbed.traces import edit_head, traces


def other_ranks(path: Path) -> None:
    """Give the ranks other numbers, in another order, in the names of files and in the files."""
    for folder in sorted(path.rglob("*_ascend_pt")):
        for file in sorted(folder.rglob("profiler_info_*.json")):
            number = _other(int(file.stem.removeprefix("profiler_info_")))
            text = json.loads(file.read_text(encoding="utf-8"))
            file.unlink()
            if "rank_id" in text:
                text["rank_id"] = number
            file.with_name(f"profiler_info_{number}.json").write_text(json.dumps(text), encoding="utf-8")
        for database in databases(folder):
            edit(database, _renumbered)
            rank = database.stem.removeprefix("ascend_pytorch_profiler_")
            if rank.isdigit():
                database.rename(database.with_name(f"ascend_pytorch_profiler_{_other(int(rank))}.db"))
        for file in folder.rglob("profiler_metadata.json"):
            text = json.loads(file.read_text(encoding="utf-8"))
            if "rank" in text.get("distributed_args", {}):
                text["distributed_args"]["rank"] = _other(text["distributed_args"]["rank"])
            file.write_text(json.dumps(text), encoding="utf-8")
    for file in traces(path):
        edit_head(file, _renumbered_head)


def _other(rank: int) -> int:
    return 7 - rank


def _renumbered(connection: sqlite3.Connection) -> None:
    if "RANK_DEVICE_MAP" in dict(columns(connection)):
        connection.execute("UPDATE RANK_DEVICE_MAP SET rankId = 7 - rankId")


def _renumbered_head(head: dict[str, Any]) -> None:
    job = head.get("distributedInfo")
    if isinstance(job, dict) and "rank" in job:
        job["rank"] = _other(job["rank"])
