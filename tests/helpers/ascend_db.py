"""Helpers that several tests of the profiler database share."""

from pathlib import Path
from typing import Any

from prof_analysis import open_profile
from prof_analysis.engine.parsing import referenced_tables
from tests.helpers.asking import build_at_once
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

Rows = list[tuple[Any, ...]]


NOW = 1_700_000_000_000_000_123  # a time in ns: float64 knows only every 256th


STATISTIC = "SELECT * EXCLUDE (profile, rank_id, avg_mfu) FROM module.statistic"


PLACES = "SELECT kind, location, reason, kernel_count, kernel_duration_ns FROM module.coverage WHERE kernel_count > 0"


INSIDE, OUTSIDE, UNLINKED = "inside modules", "outside modules", "linked to no op"


NOWHERE, NO_LAUNCH, CUT = "outside every module", "no host launch", "cut at the profile edge"


def ask(path: Path, query: str) -> tuple[Rows, list[str]]:
    """The answer of the profile that a database belongs to, and its warnings without the name of what they are about."""
    (rows,), warnings = ask_all(path, query)
    return rows, warnings


def ask_all(path: Path, *queries: str) -> tuple[list[Rows], list[str]]:
    """The same of several questions, in one go."""
    with open_profile(path.parent.parent) as profile:
        build_at_once(profile, *sorted({table for query in queries for table in referenced_tables(query)}))
        answers = [[tuple(row.values()) for row in profile.sql(query, arrow=True).to_pylist()] for query in queries]
        prefixes = (f"{path}: ", f"{path.parent.parent.name}: ")
        return answers, [warning.removeprefix(prefixes[0]).removeprefix(prefixes[1]) for warning in profile.warnings]


def training(folder: Path) -> Path:
    """A step of a module with a communication and a schedule kernel, its backward, and a kernel that no op launched."""
    ops = [
        Op("aten::mm", NOW, NOW + 10, (Kernel("MatMul", NOW + 100, NOW + 201),)),
        Op(
            "c10d::allreduce_",
            NOW + 20,
            NOW + 30,
            (
                Kernel("hcom_allReduce_", NOW + 300, NOW + 450, "communication"),
                Kernel("allReduceAicpuKernel", NOW + 300, NOW + 307, "schedule"),
            ),
        ),
        Op("MmBackward0", NOW + 60, NOW + 70, (Kernel("MatMulGrad", NOW + 500, NOW + 703),), tid=2, backward_of=0),
    ]
    ranges = [Range("Net", NOW - 10, NOW + 40), Range("Linear", NOW - 1, NOW + 15)]
    return write_profile(folder, ops, ranges, unlinked=[Kernel("Memset", NOW, NOW + 9)], steps=[(0, NOW - 20, NOW + 80)])


WHOLE: Rows = [
    ("Net", "Linear", "aten::mm", "MatMul", 101, 101.0, 1, "aten::mm"),
    ("", "Net", "c10d::allreduce_", "hcom_allReduce_, allReduceAicpuKernel", 157, 157.0, 1, "c10d::allreduce_"),
    ("Net", "[Backward]Linear", "MmBackward0", "MatMulGrad", 203, 203.0, 1, "MmBackward0"),
]


WHOLE_PLACES: Rows = [
    ("compute", INSIDE, None, 2, 304),
    ("compute", UNLINKED, NO_LAUNCH, 1, 9),
    ("communication", INSIDE, None, 1, 150),
    ("schedule", INSIDE, None, 1, 7),
]


def retype(path: Path, table: str, columns: str) -> None:
    """Make a table anew with these column declarations, rows as they are."""
    names = ", ".join(declaration.split()[0] for declaration in columns.split(","))
    edit(
        path,
        f"ALTER TABLE {table} RENAME TO old; CREATE TABLE {table} ({columns});"
        f"INSERT INTO {table} ({names}) SELECT {names} FROM old; DROP TABLE old",
    )


ALL_OUTSIDE = [
    ("compute", OUTSIDE, NOWHERE, 2, 304),
    ("compute", UNLINKED, NO_LAUNCH, 1, 9),
    ("communication", OUTSIDE, NOWHERE, 1, 150),
    ("schedule", OUTSIDE, NOWHERE, 1, 7),
]


# A hand-over and a call of Python, which are no ops.
HAND_OVERS = """
INSERT INTO STRING_IDS VALUES (900, 'Enqueue@aclnnMm'), (901, 'nn.Module: Linear_0');
INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) VALUES
    ('1700000000000000124', '1700000000000000125', 1, 70, 900, 50002),
    ('1700000000000000124', '1700000000000000125', 1, NULL, 901, 50003);
INSERT INTO CONNECTION_IDS VALUES (70, 5000);
"""
