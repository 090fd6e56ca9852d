"""On simple profiles (one host thread that runs modules, no lost links) truth, msprof-analyze and prof-analysis are one."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fixtures.shape import Shape
from fixtures.trace import make_rank
from fixtures.truth import joined, truth_of
from fixtures.write_db import write_rank
from prof_analysis import open_profile
from tests.helpers.asking import PEER_COLUMNS
from tests.helpers.peer import run_recipe

PLACES = {"inside": "inside modules", "outside": "outside modules", "unlinked": "linked to no op"}

PROFILES = 30


def simple_shape(seed: int) -> Shape:
    """Any of the profiles on which msprof-analyze is right."""
    draw = random.Random(seed)
    return Shape(
        mode=draw.choice(["training", "inference"]),
        steps=draw.randint(1, 3),
        layers=draw.randint(0, 3),
        hidden=draw.choice([64, 96, 1024]),
        world=PROFILES,
        task_queue=draw.random() < 0.5,
        communication=draw.random() < 0.5,
        schedule_kernels=draw.random() < 0.5,
        unlinked_kernels=draw.randint(0, 3),
        pmu=False,
        schema=draw.choice(["2026", "2025"]),
        restarted_sequences=draw.choice(["off", "step"]),
    )


def run_peer(profiles: Path, output: Path) -> pd.DataFrame:
    """The rows of ModuleStatistic that the peer writes."""
    with closing(sqlite3.connect(run_recipe("module_statistic", profiles, output))) as written:
        found = pd.read_sql_query("SELECT * FROM ModuleStatistic", written)
    return found[list(PEER_COLUMNS.values())].sort_values("rankID", kind="stable", ignore_index=True)


# Hypothesis begins with the seed 0; with more examples others follow.
@pytest.mark.parametrize("count", [1, pytest.param(PROFILES, marks=pytest.mark.slow)])
@settings(max_examples=1, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**31).map(lambda seed: PROFILES * seed))
def test_truth_peer_and_engine_agree_on_any_profiles(tmp_path_factory: pytest.TempPathFactory, seed: int, count: int) -> None:
    folder = tmp_path_factory.mktemp("parity")
    truths = []
    for number in range(count):
        rank = make_rank(simple_shape(seed + number), number, seed + number)
        write_rank(rank, folder / "profiles")
        truths.append(truth_of(rank))
    truth = joined(truths)
    expected = truth.module_statistic.to_pandas()
    peer = run_peer(folder / "profiles", folder / "peer")
    pd.testing.assert_frame_equal(peer, expected, check_dtype=False, check_exact=True)
    with open_profile(folder / "profiles") as profile:
        found = profile.module_stats().rename(columns=PEER_COLUMNS)[list(PEER_COLUMNS.values())]
        pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)
        coverage = profile.sql("SELECT rank_id, kind, location, kernel_count, kernel_duration_ns FROM module.coverage")
    expected_coverage = truth.coverage.to_pandas().replace({"part": PLACES})
    expected_coverage.columns = coverage.columns
    has_kernels = expected_coverage.groupby(["rank_id", "kind"])["kernel_count"].transform("sum") > 0
    pd.testing.assert_frame_equal(
        coverage, expected_coverage[has_kernels].reset_index(drop=True), check_dtype=False, check_exact=True
    )


@pytest.mark.slow
def test_the_peer_gives_the_expected_rows_of_alexnet(realdata: Path, tmp_path: Path) -> None:
    """The recorded expectation is what the peer says today, so the parity test of the real data holds the peer too."""
    shutil.copytree(realdata / "alexnet_ddp_910b_mstx", tmp_path / "profiles")
    found = run_peer(tmp_path / "profiles", tmp_path / "peer")
    recorded = realdata / "expected" / "alexnet_ddp_910b_mstx.msprof-analyze-26.2.0.csv"
    expected = pd.read_csv(recorded, keep_default_na=False)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)
