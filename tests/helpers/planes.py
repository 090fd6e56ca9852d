"""Gives the communication operators of a small profile the tasks that a test says, on planes as the profiler writes them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.small_profile import edit

_TABLES = """
CREATE TABLE ENUM_HCCL_LINK_TYPE (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_LINK_TYPE VALUES (0, 'ON_CHIP'), (1, 'HCCS'), (3, 'ROCE'), (65534, 'N/A'), (65535, 'INVALID_TYPE');
CREATE TABLE ENUM_HCCL_TRANSPORT_TYPE (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_TRANSPORT_TYPE VALUES (0, 'SDMA'), (1, 'RDMA'), (2, 'LOCAL'), (65534, 'N/A'), (65535, 'INVALID_TYPE');
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, srcRank INTEGER,
    dstRank INTEGER, transportType INTEGER, size INTEGER, linkType INTEGER, opId INTEGER, isMaster INTEGER);
INSERT INTO STRING_IDS VALUES (9001, 'Memcpy'), (9002, 'Reduce_Inline'), (9003, 'Notify_Wait'), (9004, 'Notify_Record'),
    (9005, 'RDMASend');
"""
_TYPES = {"Memcpy": 9001, "Reduce_Inline": 9002, "Notify_Wait": 9003, "Notify_Record": 9004, "RDMASend": 9005}
_LINKS = {"ON_CHIP": 0, "HCCS": 1, "ROCE": 3, None: 65535}
_NONE = 4294967295


@dataclass(frozen=True)
class Task:
    """A task of the operator with this number: what it does, its plane, times, the rank at the other end, and what it moves.

    `master` is what a writer since 2026 says of its plane.
    """

    operator: int
    type: str
    plane: int
    start: int
    end: int
    peer: int | None = 1
    link: str | None = None
    size: int = 0
    master: int | None = None


def add_tasks(database: Path, tasks: Iterable[Task], first_id: int = 7000) -> None:
    """Write the tasks into a database of write_profile()."""
    rows = []
    for number, task in enumerate(tasks, first_id):
        peer, transport = _NONE if task.peer is None else task.peer, {"Notify_Wait": 2, "RDMASend": 1}.get(task.type, 0)
        master = "NULL" if task.master is None else task.master
        rows.append(
            f"INSERT INTO TASK VALUES ({task.start}, {task.end}, 0, -1, {number}, 1, 0, {_NONE}, 4, {number}, {_NONE});"
        )
        place = f"{_TYPES[task.type]}, {task.plane}, 0, {peer}, {transport}, {task.size}, {_LINKS[task.link]}"
        rows.append(f"INSERT INTO COMMUNICATION_TASK_INFO VALUES (0, {number}, {place}, {task.operator}, {master});")
    edit(database, _TABLES + "".join(rows))
