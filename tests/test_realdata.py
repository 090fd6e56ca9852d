"""Real profiles of Ascend NPUs against what is known of them."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import Result

from prof_analysis import InputError, open_profile
from tests.conftest import PEER_COLUMNS


def test_module_stats_of_alexnet_equal_msprof_analyze(realdata: Path) -> None:
    expected = pd.read_csv(realdata / "expected" / "alexnet_ddp_910b_mstx.msprof-analyze-26.2.0.csv", keep_default_na=False)
    with open_profile(realdata / "alexnet_ddp_910b_mstx") as profile:
        found = profile.module_stats().rename(columns=PEER_COLUMNS)[list(PEER_COLUMNS.values())]
    assert len(found) == 66
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


@pytest.mark.parametrize(("rank_id", "all_ns", "inside_ns"), [(0, 8_903_431, 5_782_828), (1, 8_915_634, 5_804_938)])
def test_coverage_of_alexnet(realdata: Path, rank_id: int, all_ns: int, inside_ns: int) -> None:
    with open_profile(realdata / "alexnet_ddp_910b_mstx", rank_list=[rank_id]) as profile:
        compute = profile.coverage().query("kind == 'compute'").set_index("place")["kernel_duration_ns"]
    assert compute.sum() == all_ns
    assert compute["inside modules"] == inside_ns
    assert compute["linked to no op"] == 0


def test_without_module_ranges_one_line_says_what_to_switch_on(realdata: Path, command: Callable[..., Result]) -> None:
    result = command("module-stats", "-d", realdata / "alexnet_ddp_910b" / "db")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "no module ranges" in result.stderr
    assert "mstx=True" in result.stderr


def test_a_profile_without_module_ranges_still_answers(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b" / "db") as profile:
        ranks = profile.ranks()
        assert list(zip(ranks["profile"], ranks["rank_id"], ranks["profiler_level"], strict=True)) == [
            ("level0/rank0_ascend_pt", 0, "Level0"),
            ("level1/rank0_ascend_pt", 0, "Level1"),
            ("level0/rank1_ascend_pt", 1, "Level0"),
            ("level1/rank1_ascend_pt", 1, "Level1"),
        ]
        kernels = profile.kernels()
        assert kernels.groupby(["profile", "kind"]).size().to_dict() == {
            (f"level{level}/rank{rank}_ascend_pt", kind): count
            for level in (0, 1)
            for rank in (0, 1)
            for kind, count in (("compute", 187), ("communication", 4))
        }
        assert kernels["op_name"].notna().all()
        assert kernels["duration_ns"].dtype == "int64"
        assert profile.ops().groupby("profile").size().to_dict() == {
            f"level{level}/rank{rank}_ascend_pt": 860 for level in (0, 1) for rank in (0, 1)
        }
        compute_ns = profile.sql(
            "SELECT profile, sum(duration_ns) AS ns FROM module.kernel WHERE kind = 'compute' GROUP BY ALL ORDER BY ALL"
        )
        assert compute_ns.set_index("profile")["ns"]["level1/rank0_ascend_pt"] == 8_903_431
        with pytest.raises(InputError, match="no module ranges"):
            profile.module_stats()


def test_shapes_and_types_of_ops_are_not_swapped(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b" / "db" / "level1") as profile:
        relu = profile.sql("SELECT DISTINCT input_shapes, input_types FROM trace.op WHERE name = 'aten::relu_' ORDER BY ALL")
    assert set(relu["input_types"]) == {"float"}
    assert "32,64,55,55" in set(relu["input_shapes"])


def test_text_exports_are_named_not_hidden(realdata: Path, command: Callable[..., Result]) -> None:
    result = command("ranks", "-d", realdata / "qwen3_0.6b_pp2dp2_910b")
    assert result.exit_code == 0
    assert result.stdout.count("left out:") == 4
    assert "export_type" in result.stdout
