"""Chains of frames in a database: equal ones are one stack, wherever their rows are and however the file is cut to read it."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from prof_analysis.sources.readers import sqlite_ranges as ranges
from tests.helpers.api import rows
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, edit, write_profile

OPS = [Op("aten::mm", 100 * n, 100 * n + 50, (Kernel(f"k{n}", 5000 + 10 * n, 5005 + 10 * n),)) for n in range(6)]
FRAMES = {1: "a.py(1): f", 2: "b.py(2): g", 3: "c.py(3): h"}
# Op -> its frames, the innermost first. The first chain is the first part of the second one.
STACKS = {0: [1], 1: [1, 2, 3], 2: [1], 3: [3, 2], 4: [1, 2, 3], 5: [2, 3]}
ROWS = [(op, frame, depth) for op, frames in STACKS.items() for depth, frame in enumerate(frames)]
EXPECTED = sorted((op, [FRAMES[frame] for frame in frames]) for op, frames in STACKS.items())


def stacks_of(folder: Path, chains: list[tuple[object, object, object]]) -> tuple[list[tuple[object, ...]], int, list[str]]:
    """Return op and frames, the number of stacks, and what was said of the file."""
    path = write_profile(folder / "a_ascend_pt", OPS)
    sql = "CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER);"
    sql += "".join(f"INSERT INTO STRING_IDS VALUES ({10_000 + number}, '{frame}');" for number, frame in FRAMES.items())
    for chain, frame, depth in chains:
        text = 10_000 + frame if isinstance(frame, int) else frame
        sql += f"INSERT INTO PYTORCH_CALLCHAINS VALUES ({chain}, {text}, {depth});"
    sql += "".join(f"UPDATE PYTORCH_API SET callchainId = {n} WHERE startNs = '{op.start}';" for n, op in enumerate(OPS))
    edit(path, sql)
    with open_profile(folder) as profile:
        query = """
            SELECT op.start_ns // 100, list(frame ORDER BY depth), any_value(stack_id)
            FROM trace.op_stack JOIN trace.op USING (op_id) JOIN trace.stack_frame USING (stack_id)
            GROUP BY ALL ORDER BY ALL
        """
        found = rows(profile.sql(query, arrow=True))
        return [row[:2] for row in found], len({row[2] for row in found}), [str(warning) for warning in profile.warnings]


@pytest.mark.parametrize("rows_at_once", [1, 2, 3, 5, 100])
def test_chains_that_are_cut_are_whole(rows_at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_RANGE_ROWS", rows_at_once)
    assert stacks_of(tmp_path, list(ROWS))[:2] == (EXPECTED, 4)


@pytest.mark.parametrize("rows_at_once", [2, 100])
@pytest.mark.parametrize("order", ["backwards", "by depth", "one row twice"])
def test_rows_in_another_order_or_twice(order: str, rows_at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_RANGE_ROWS", rows_at_once)
    chains = {
        "backwards": ROWS[::-1],
        "by depth": sorted(ROWS, key=lambda row: row[2]),
        "one row twice": [*ROWS[:3], *ROWS[2:]],
    }
    found, count, said = stacks_of(tmp_path, list(chains[order]))
    assert (found, count) == (EXPECTED, 4)
    assert (says("1 row", "PYTORCH_CALLCHAINS", "repeats") in said) == (order == "one row twice")


def test_cells_that_are_no_numbers(tmp_path: Path) -> None:
    found, _, said = stacks_of(tmp_path, [*ROWS, (5, "'x'", 2), ("NULL", 1, 0), (3, 1, "'y'")])
    assert found == [*EXPECTED[:5], (5, [*EXPECTED[5][1], None])]
    assert says("1 value", "PYTORCH_CALLCHAINS.stack", "not of type BIGINT") in said
    assert says("1 value", "PYTORCH_CALLCHAINS.stackDepth", "not of type BIGINT") in said
