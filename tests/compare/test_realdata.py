"""Real runs against each other: every module has its partner, and all sums close."""

from pathlib import Path

import pytest

import prof_analysis
from tests.compare.test_truth import assert_closes

REALDATA = Path(__file__).parents[3] / "shared" / "realdata"
ALEXNET, GPU = REALDATA / "alexnet_ddp_910b" / "db", REALDATA / "gpu_kineto"
QWEN, BERT = "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "gaunernst_bert-small-uncased__1016001.json.gz"


@pytest.mark.skipif(not REALDATA.exists(), reason="the real profiles are not here")
@pytest.mark.parametrize(
    ("base", "new", "module_count"),
    [
        pytest.param(ALEXNET / "level0", ALEXNET / "level1", 26, id="levels of AlexNet", marks=pytest.mark.slow),
        pytest.param(GPU / "h100" / QWEN, GPU / "mi300" / QWEN, 316, id="Qwen on two vendors", marks=pytest.mark.slow),
        pytest.param(GPU / "h100" / BERT, GPU / "mi300" / BERT, 84, id="BERT on two vendors", marks=pytest.mark.slow),
    ],
)
def test_every_module_has_its_partner(base: Path, new: Path, module_count: int) -> None:
    with prof_analysis.compare(base, new) as comparison:
        modules = comparison.rows("FROM runs.module_comparison WHERE rule IS NOT NULL")
        totals = comparison.rows("SELECT side, sum_ns FROM runs.comparison_total ORDER BY side")
        kernels = comparison.rows("SELECT run AS side, sum(duration_ns) AS sum_ns FROM trace.kernel GROUP BY run ORDER BY run")
        assert_closes(comparison)
    assert {row["rule"] for row in modules} == {"instance"}
    assert len({row["match_id"] for row in modules}) == module_count
    assert totals == kernels
