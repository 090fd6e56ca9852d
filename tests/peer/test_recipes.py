"""Recipes of msprof-analyze beside experts, clock and step-time, on the same generated ranks."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import open_profile
from tests.helpers.peer import run_recipe
from tests.helpers.small_profile import edit

pytestmark = pytest.mark.slow
GROUP = "127.0.0.1%eth0_60000_0_1767225600000000"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks whose matrix products are grouped ones, whose group is of data and experts, one with a clock that fell."""
    folder = tmp_path_factory.mktemp("recipes") / "job"
    generate(folder, Shape(steps=2, layers=1), ranks=2)
    groups = {
        GROUP: {"group_name": "dp", "group_rank": 0, "global_ranks": [0, 1]},
        "experts": {"group_name": "exp", "group_rank": 0, "global_ranks": [0, 1]},
    }
    for rank, path in enumerate(sorted(folder.rglob("ascend_pytorch_profiler_*.db"))):
        edit(
            path,
            f"UPDATE META_DATA SET value = '{json.dumps(groups)}' WHERE name = 'parallel_group_info';"
            "UPDATE STRING_IDS SET value = 'GroupedMatmul' WHERE value = 'MatMulV2';"
            # The peer reads all tensors but the last two: rows, then weights and the list of groups.
            "UPDATE STRING_IDS SET value = replace(value, '\"', '') || ';4' WHERE id IN (SELECT inputShapes"
            " FROM COMPUTE_TASK_INFO JOIN STRING_IDS AS type ON type.id = opType WHERE type.value = 'GroupedMatmul');"
            "INSERT INTO AICORE_FREQ SELECT deviceId, (SELECT (min(startNs) + max(startNs)) / 2 FROM TASK), 800"
            f" FROM AICORE_FREQ WHERE {rank} LIMIT 1;",
        )
    return folder


def of_peer(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def test_rows_of_each_rank_are_those_of_ep_load_balance(ranks: Path, tmp_path: Path) -> None:
    theirs = of_peer(
        run_recipe("ep_load_balance", ranks, tmp_path / "peer"), "SELECT rank, inputShapesSummary FROM EPTokensSummary"
    )
    with open_profile(ranks) as profile:
        ours = profile.rows("SELECT rank_id, row_count FROM across.expert_rank ORDER BY rank_id")
    assert theirs and sorted(theirs) == [tuple(row.values()) for row in ours]


def test_clocks_are_those_of_freq_analysis(ranks: Path, tmp_path: Path) -> None:
    theirs = of_peer(
        run_recipe("freq_analysis", ranks, tmp_path / "peer"), "SELECT rankId, aicoreFrequency FROM FreeFrequencyRanks"
    )
    with open_profile(ranks) as profile:
        ours = profile.rows("SELECT rank_id, clocks FROM clock.device WHERE below_ns > 0")
    assert theirs == [(row["rank_id"], f"[{row['clocks']}]") for row in ours] == [(1, "[800, 1800]")]


def test_covered_communication_is_that_of_computational_op_masking(ranks: Path, tmp_path: Path) -> None:
    columns = "stepId, parallelType, totalCommunicationOperatorTime, totalTimeWithoutCommunicationBlackout"
    database = run_recipe("computational_op_masking", ranks, tmp_path / "peer")
    ((table,),) = of_peer(database, "SELECT name FROM sqlite_master WHERE name LIKE '%inearity%'")
    theirs = of_peer(database, f"SELECT {columns} FROM {table} WHERE parallelType = 'dp'")
    with open_profile(ranks) as profile:
        ours = profile.rows(
            "SELECT step_id, group_label, communication_ns, not_overlapped_ns FROM step.communication WHERE level = 'label'"
        )
    assert theirs and sorted(theirs) == sorted(tuple(row.values()) for row in ours)
