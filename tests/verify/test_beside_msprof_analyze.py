"""`verify` with msprof-analyze itself: each recipe with a counterpart, on generated ranks, on the sample, and on real ones."""

import json
import sys
from pathlib import Path

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import InputError, open_profile
from prof_analysis.verify.answer import answer_of
from prof_analysis.verify.peer import COMMAND
from prof_analysis.verify.verifying import Verified, verify
from tests.helpers.places import SAMPLE
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning"),
    pytest.mark.skipif(
        not Path(sys.executable).with_name(COMMAND).exists(),
        reason="msprof-analyze is not installed beside this Python (pip install -e '.[dev]' has it)",
    ),
]
GROUP = "127.0.0.1%eth0_60000_0_1767225600000000"


def of(profiles: Path, *recipes: str) -> Verified:
    with open_profile(profiles) as profile:
        return verify(profile, recipes)


def counts(found: Verified) -> dict[str, list[int]]:
    """Rows of each table that agree, that differ in a known way, and all others."""
    return {
        one.pair.beside.table: [
            one.agreeing,
            one.count("known"),
            one.count("differs") + one.count("only here") + one.count("only there"),
        ]
        for one in found.compared
    }


def test_all_rows_of_the_sample_agree() -> None:
    found = of(SAMPLE / "decoder_training")
    assert found.agrees
    assert counts(found) == {
        "CannApiSum": [32, 0, 0],
        "CannApiSumRank": [64, 0, 0],
        "ComputeOpPerRankStatsByOpName": [80, 0, 0],
        "ComputeOpAllRankStats": [24, 0, 0],
        "ComputeOpPerRankStatsByOpType": [48, 0, 0],
        "FreeAnalysis": [20, 0, 0],
        "FreeFrequencyRanks": [0, 0, 0],
        "AbnormalFrequencyRanks": [0, 0, 0],
        "HcclGroupNameMap": [1, 0, 0],
        "HcclAllRankStats": [1, 0, 0],
        "HcclPerRankStats": [2, 0, 0],
        "HcclTopOpStats": [8, 0, 0],
        "ModuleStatistic": [104, 0, 0],
    }
    assert set(found.without_rows) == {
        "cluster_time_summary", "communication_time_sum", "computational_op_masking", "ep_load_balance", "mstx_sum",
    }  # fmt: skip


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


def test_experts_clocks_and_covered_communication_agree(ranks: Path) -> None:
    assert counts(of(ranks, "ep_load_balance", "freq_analysis", "computational_op_masking")) == {
        "ComputationalOperatorMaskingLinearity": [4, 4, 0],
        "EPTokensSummary": [2, 0, 0],
        "FreeFrequencyRanks": [1, 0, 0],
        "AbnormalFrequencyRanks": [0, 0, 0],
    }


def test_ranges_and_marks_that_streams_reached_agree(tmp_path: Path) -> None:
    """It names ranges in each other by a path, and crashes where no range has a stream, as in the sample."""
    ranges = [
        Range(name, start, end, domain="default", device=(start + 5000, end + 6000))
        for name, start, end in (("forward", 100, 300), ("forward", 310, 390), ("loss", 320, 350), ("forward", 600, 900))
    ]
    ops = [Op("aten::mm", 100, 110, (Kernel("mm", 5200, 5300),))]
    for rank in (0, 1):
        write_profile(tmp_path / f"r{rank}_ascend_pt", ops, ranges, steps=[(1, 0, 500), (2, 500, 1000)], rank=rank)
    assert counts(of(tmp_path, "mstx_sum")) == {"MSTXMarkStats": [8, 0, 0]}
    with pytest.raises(InputError, match=r"mstx_sum: unsupported operand .*; Mapper data is None"):
        of(SAMPLE / "decoder_training", "mstx_sum")


def test_what_differs_on_real_ranks_is_known(realdata: Path) -> None:
    profiles = realdata / "alexnet_ddp_910b_mstx"
    with open_profile(profiles) as profile:
        found = verify(profile)
        answer = answer_of(profile, found, 10)
    assert found.agrees
    assert answer.facts["known_differences"] == [
        {"case": "Copies outside the idle time", "rows": 2, "table": "ClusterTimeSummary"},
        {"case": "Total Op Info is no operator", "rows": 2, "table": "ClusterCommunicationTime"},
        {"case": "Gradient hooks", "rows": 2, "table": "ModuleStatistic"},
    ]
    assert found.count("agrees") == 682


@pytest.mark.parametrize(
    ("profiles", "agreeing", "known"), [("alexnet_ddp_910b/db/level0", 358, 0), ("qwen3_0.6b_pp2dp2_910b", 44, 56)]
)
def test_ranks_with_fewer_data_agree_in_what_they_have(realdata: Path, profiles: str, agreeing: int, known: int) -> None:
    """Level0 has no types of kernels; Qwen3 has analysis.db alone, with times of planes that moved nothing."""
    found = of(realdata / profiles)
    assert (found.count("agrees"), found.count("known"), found.agrees) == (agreeing, known, True)
