"""Collectives of ranks are paired by what they do, whatever their names, clocks and edges: what is paired keeps its waits."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.functions.pairing import paired_calls
from tests.helpers.frames import arrow_of
from tests.helpers.says import says

SAMPLE = Path(__file__).parent.parent.parent / "fixtures" / "sample" / "decoder_training"
GROUP = "127.0.0.1%eth0_60000_0_1767225600000000"
ORDINALS = (
    "UPDATE STRING_IDS SET value = 'hcom_allReduce__210_' || "
    "(CAST(replace(replace(value, 'hcom_allReduce__210_', ''), '_1', '') AS INTEGER) + 3) || '_1' "
    "WHERE value LIKE 'hcom_allReduce__210_%'"
)
NO_SIZES = "UPDATE COMMUNICATION_OP SET count = NULL"
NO_STEPS = "DELETE FROM STEP_TIME"
RENAMED = f"UPDATE STRING_IDS SET value = 'another' WHERE value = '{GROUP}'"
IN_METADATA = f"UPDATE META_DATA SET value = replace(value, '{GROUP}', 'another')"
NO_METADATA = "DELETE FROM META_DATA WHERE name = 'parallel_group_info'"
HOUR = 3_600_000_000_000


def changed(folder: Path, *statements: str, clock: int = 0, dropped: tuple[int, ...] = ()) -> Path:
    """The sample with another rank 1: SQL statements, a clock that is ahead, and operators that it did not record."""
    shutil.copytree(SAMPLE, folder)
    (database,) = folder.rglob("ascend_pytorch_profiler_1.db")
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
        for one in dropped:
            connection.execute(f"DELETE FROM COMMUNICATION_OP WHERE opId = {one}")
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables if clock else ():
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for column in {"startNs", "endNs"} & set(columns):
                connection.execute(f"UPDATE {table} SET {column} = {column} + {clock}")
    return folder


def recorded() -> list[list[int]]:
    """The times of the collectives of both ranks, straight from the files, in their order."""
    times = []
    for rank in range(2):
        (database,) = SAMPLE.rglob(f"ascend_pytorch_profiler_{rank}.db")
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            times.append(
                [row[0] for row in connection.execute("SELECT endNs - startNs FROM COMMUNICATION_OP ORDER BY startNs")]
            )
    return times


def owed(left_out: tuple[int, ...] = ()) -> list[int]:
    """What each rank waits for the other one, without the operators that only one has."""
    pairs = [pair for number, pair in enumerate(zip(*recorded(), strict=True), 1) if number not in left_out]
    return [sum(pair[rank] - min(pair) for pair in pairs) for rank in range(2)]


def waits(folder: Path) -> tuple[list[int], list[str]]:
    """What each rank waits for the others, ns over all steps, and the warnings."""
    with open_profile(folder) as profile:
        groups = arrow_of(profile.slow_ranks("group")).to_pylist()
        return [row["waited_ns"] for row in sorted(groups, key=lambda row: row["rank_id"])], list(profile.warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statements", "clock"),
    [
        pytest.param((ORDINALS,), 0, id="ordinals that count from the warm-up"),
        pytest.param((), HOUR, id="a clock an hour ahead"),
        pytest.param((RENAMED, IN_METADATA), 0, id="a group of another name"),
        pytest.param((RENAMED, NO_METADATA, NO_SIZES), 0, id="a group of another name, neither ranks nor sizes"),
        pytest.param((ORDINALS, NO_STEPS), HOUR, id="a rank without steps, with other ordinals and clock"),
    ],
)
def test_waits_are_those_of_the_untouched_profile(tmp_path: Path, statements: tuple[str, ...], clock: int) -> None:
    assert waits(changed(tmp_path / "job", *statements, clock=clock)) == (owed(), [])


WITH_STEPS, WITHOUT, BY_TIMES_ALONE = ((ORDINALS,), 0), ((ORDINALS, NO_STEPS), 0), ((ORDINALS, NO_STEPS, NO_SIZES), HOUR)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* count for no waiting")
@pytest.mark.parametrize(
    ("statements", "clock", "dropped"),
    [
        pytest.param(*BY_TIMES_ALONE, (1, 6), id="without steps, another clock, two of them"),
        *(
            pytest.param(*rank, dropped, marks=pytest.mark.slow, id=f"{place}, {dropped}")
            for place, rank in {"with steps": WITH_STEPS, "without steps": WITHOUT, "another clock": BY_TIMES_ALONE}.items()
            for dropped in ((3,), (8,), (1, 6))
            if (rank, dropped) != (BY_TIMES_ALONE, (1, 6))
        ),
    ],
)
def test_an_operator_that_one_rank_lacks_is_said_and_moves_no_other(
    tmp_path: Path, statements: tuple[str, ...], clock: int, dropped: tuple[int, ...]
) -> None:
    found, warnings = waits(changed(tmp_path / "job", *statements, clock=clock, dropped=dropped))
    assert found == owed(dropped)
    (warning,) = [one for one in warnings if "count for no waiting" in one]
    times = sum(recorded()[0][number - 1] for number in dropped)
    collectives = f"{len(dropped)} collective{'s' * (len(dropped) > 1)}"
    first = f"the first is hcom_allReduce__210_{dropped[0] - 1}_1"
    assert warning == says(collectives, "rank 0", f"{times / 1000:.1f} us in all", first)


def rank(calls: Sequence[tuple[str, int | None, int, int]]) -> dict[str, list[Any]]:
    """A rank with operators: what each does, its elements, start and end."""
    operations, sizes, starts, ends = (list(column) for column in zip(*calls, strict=True))
    return {
        "operations": operations, "sizes": sizes, "are_together": [True] * len(calls), "starts": starts, "ends": ends
    }  # fmt: skip


def test_ranks_that_begin_and_end_at_different_operators_are_paired_where_they_overlap() -> None:
    # Of ten equal collectives with uneven gaps, each rank has a part, by a clock of its own.
    ends = [100, 230, 310, 460, 520, 690, 800, 970, 1040, 1130]
    parts = ((0, 8, 0), (2, 10, 5_000_000), (1, 9, -700))
    ranks = [
        rank([("allreduce", 8, end - 20 + clock, end + clock) for end in ends[first:last]]) for first, last, clock in parts
    ]
    numbers = paired_calls(ranks)
    assert numbers[0] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert numbers[1] == [3, 4, 5, 6, 7, 8, 9, 10]
    assert numbers[2] == [2, 3, 4, 5, 6, 7, 8, 9]


def test_sizes_tell_operators_apart_that_end_as_regularly() -> None:
    ranks = [
        rank([("allreduce", size, 100 * place, 100 * place + 20) for place, size in enumerate(sizes)])
        for sizes in ((1, 2, 3, 1, 2), (3, 1, 2, 1))
    ]
    assert paired_calls(ranks)[1][:3] == [3, 4, 5]


def test_where_nothing_tells_which_one_it_is_none_is_paired() -> None:
    longer = rank([("allreduce", 8, 100 * place, 100 * place + 20) for place in range(6)])
    one = rank([("allreduce", 8, 10_000, 10_020)])
    assert paired_calls([longer, one]) == [[1, 2, 3, 4, 5, 6], [7]]
    # Where the clocks agree, they tell.
    assert paired_calls([longer, rank([("allreduce", 8, 301, 321)])])[1] == [4]


def test_a_broadcast_that_its_root_leaves_first_is_paired_between_its_neighbours() -> None:
    calls = [("allreduce", 8, 0, 20), ("broadcast", 8, 200, 205), ("allreduce", 8, 900, 920), ("allreduce", 8, 1100, 1120)]
    late = [("allreduce", 8, 5, 20), ("broadcast", 8, 600, 800), ("allreduce", 8, 910, 920)]
    found = [rank(calls), rank(late)]
    for one in found:
        one["are_together"] = [operation == "allreduce" for operation in one["operations"]]
    assert paired_calls(found)[1] == [1, 2, 3]
