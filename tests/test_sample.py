"""The committed sample against the truth that its generator kept by its own bookkeeping."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from fixtures.make_sample import make_sample
from prof_analysis import open_profile
from prof_analysis.profile.profile import Profile
from tests.helpers.asking import PEER_COLUMNS
from tests.helpers.places import SAMPLE

FILES_OF_TRUTH = ["coverage.csv", "kernel_owner.csv", "module_statistic.csv", "module_tree.csv"]


@pytest.fixture(scope="module")
def profile() -> Iterator[Profile]:
    with open_profile(SAMPLE / "decoder_training") as profile:
        yield profile


def truth(name: str) -> pd.DataFrame:
    return pd.read_csv(SAMPLE / "expected" / name, keep_default_na=False, na_values={"avgKernelDuration(ns)": [""]})


def test_module_stats_are_the_truth_in_every_column_and_order(profile: Profile) -> None:
    expected = truth("module_statistic.csv")
    found = profile.module_stats().rename(columns=PEER_COLUMNS)[list(PEER_COLUMNS.values())]
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


def test_every_kernel_is_where_the_truth_says(profile: Profile) -> None:
    expected = truth("kernel_owner.csv")
    found = profile.sql("""
        SELECT
            rank_id, kind, kernel.name AS kernel_name, kernel.start_ns, kernel.end_ns, op_name,
            if(parent_module = '', module, parent_module || '/' || module) AS module_path,
            starts_with(module, '[Backward]') AS backward
        FROM module.kernel
        ORDER BY ALL
    """)
    expected = expected[found.columns.tolist()].sort_values(["rank_id", "kind", "kernel_name", "start_ns"], ignore_index=True)
    found = found.sort_values(["rank_id", "kind", "kernel_name", "start_ns"], ignore_index=True)
    for name in ("op_name", "module_path"):
        found[name] = found[name].fillna("")
    found["backward"] = found["backward"].map({True: "true", False: "false"}).fillna("")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


def test_module_tree_is_the_truth(profile: Profile) -> None:
    expected = truth("module_tree.csv")
    columns = {"own_kernel_duration_ns": "own_ns", "kernel_duration_ns": "inclusive_ns"}
    found = profile.module_tree().rename(columns=columns)
    keys = ["rank_id", "parent_module", "module"]
    pd.testing.assert_frame_equal(
        found[expected.columns.tolist()].sort_values(keys, ignore_index=True),
        expected.sort_values(keys, ignore_index=True),
        check_dtype=False,
        check_exact=True,
    )
    all_ns = profile.sql("SELECT rank_id, sum(duration_ns) AS all_ns FROM module.kernel GROUP BY ALL")
    found = found.merge(all_ns, on="rank_id")
    assert (found["kernel_duration_share"] == found["inclusive_ns"] / found["all_ns"]).all()
    assert (found["avg_kernel_duration_ns"] == found["inclusive_ns"] / found["calls"]).all()
    assert (found["depth"] == found["parent_module"].map(lambda path: path.count("/") + 2 if path else 1)).all()


def test_coverage_is_the_truth(profile: Profile) -> None:
    places = {"inside": "inside modules", "outside": "outside modules", "unlinked": "linked to no op"}
    expected = truth("coverage.csv").replace({"part": places})
    expected.columns = ["rank_id", "kind", "location", "kernel_count", "kernel_duration_ns"]
    found = profile.coverage()[expected.columns.tolist()]
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


@pytest.mark.slow
def test_the_sample_is_what_its_script_makes(tmp_path: Path) -> None:
    make_sample(tmp_path)
    for name in FILES_OF_TRUTH:
        assert (tmp_path / "expected" / name).read_bytes() == (SAMPLE / "expected" / name).read_bytes()
    with open_profile(tmp_path / "decoder_training") as made, open_profile(SAMPLE / "decoder_training") as committed_profile:
        again, committed = made.kernels(), committed_profile.kernels()
    pd.testing.assert_frame_equal(again, committed, check_exact=True)
