"""Hard profiles, each with the truth that its generator kept: every kernel is where it belongs, none is wrongly placed."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.generate import generate
from fixtures.integrity import check
from fixtures.shape import Shape
from fixtures.truth import Truth
from prof_analysis import open_profile
from tests.helpers.asking import PEER_COLUMNS, build_at_once

SWITCHES: dict[str, Any] = {
    "forward_threads": 2,
    "equal_sequences": True,
    "restarted_sequences": "micro_batch",
    "relaunch": True,
    "depth": 40,
    "recompute": True,
    "micro_batches": 3,
    "double_backward": True,
    "gradient_hooks": True,
    "queue_threads": 2,
    "last_op_lost": True,
    "open_ranges": True,
    "overlapping_ranges": True,
    "graph_replay": True,
    "edge_cut": True,
    "bare_launches": True,
    "nn_module_ranges": "instead",
    "domains": True,
    "bias_gradient": True,
    "backward_communication": True,
    "lost_link_every": 7,
}
PLACES = {"inside": "inside modules", "outside": "outside modules", "unlinked": "linked to no op"}
NO_QUEUE: dict[str, Any] = {"task_queue": False}
CASES: dict[str, dict[str, Any]] = {
    **{name: {name: value} for name, value in SWITCHES.items()},
    "launches of the last op lost without a task queue": {"last_op_lost": True, **NO_QUEUE},
    "relaunch without a task queue": {"relaunch": True, **NO_QUEUE},
    "threads with equal sequence numbers": {"forward_threads": 3, "equal_sequences": True},
    "numbers that begin anew with each step": {"restarted_sequences": "step"},
    "numbers that begin anew with each micro-batch": {"restarted_sequences": "micro_batch", "micro_batches": 2},
    "threads whose numbers begin anew": {"restarted_sequences": "micro_batch", "forward_threads": 2, "equal_sequences": True},
    "threads with several queue threads": {"forward_threads": 2, "queue_threads": 3},
    "all at once": SWITCHES,
    "all at once without a task queue": {**SWITCHES, **NO_QUEUE},
    "all at once as written in 2025": {**SWITCHES, "schema": "2025", "nn_module_ranges": "none"},
    "all at once in inference": {**SWITCHES, "mode": "inference"},
}


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in one order, and as texts in which NULL is empty, so that any difference of value shows."""
    texts = frame.astype(object).where(frame.notna(), "").map(str).replace({"True": "true", "False": "false"})
    return texts.sort_values(list(texts.columns), ignore_index=True)


def assert_true(folder: Path, truth: Truth) -> None:
    kernels = """
        SELECT rank_id, kind, kernel.name AS kernel_name, start_ns, end_ns, op_name, link, reason,
               if(parent_module = '', module, parent_module || '/' || module) AS module_path,
               starts_with(module, '[Backward]') AS backward
        FROM module.kernel
    """
    with open_profile(folder) as profile:
        build_at_once(profile, "module.kernel", "module-stats")
        owner = profile.sql(kernels)
        statistic = profile.module_stats()
        tree = profile.module_tree().rename(columns={"own_kernel_duration_ns": "own_ns", "kernel_duration_ns": "inclusive_ns"})
        coverage = profile.coverage()
    expected = truth.kernel_owner.to_pandas().replace({"link": {"none": None}, "reason": {"cut at the profile's edge": EDGE}})
    pd.testing.assert_frame_equal(plain(owner), plain(expected[list(owner.columns)]))

    found = statistic.rename(columns=PEER_COLUMNS)[list(PEER_COLUMNS.values())]
    pd.testing.assert_frame_equal(found, truth.module_statistic.to_pandas(), check_dtype=False, check_exact=True)
    chains = set(zip(expected["op_name"], expected["op_chain"], strict=True))
    assert set(zip(statistic["op_name"], statistic["op_chain"], strict=True)) <= chains

    expected_tree = truth.module_tree.to_pandas()
    pd.testing.assert_frame_equal(plain(tree[list(expected_tree.columns)]), plain(expected_tree))

    parts = truth.coverage.to_pandas().replace({"part": PLACES})
    sums = coverage.groupby(["rank_id", "kind", "location"])[["kernel_count", "kernel_duration_ns"]].sum()
    sums_of = sums.to_dict("index")
    for row in parts[parts.groupby(["rank_id", "kind"])["kernels"].transform("sum") > 0].itertuples():
        sum_of_part = sums_of[row.rank_id, row.kind, row.part]
        assert (sum_of_part["kernel_count"], sum_of_part["kernel_duration_ns"]) == (row.kernels, row.kernel_ns)


EDGE = "cut at the profile edge"


# All switches at once hold each of them; alone they tell which of them broke.
@pytest.mark.parametrize(
    "case", [case if case == "all at once" else pytest.param(case, marks=pytest.mark.slow) for case in CASES]
)
@pytest.mark.slow
def test_each_hard_case_is_attributed_as_it_is_true(case: str, tmp_path: Path) -> None:
    truth = generate(tmp_path, Shape(**CASES[case]), ranks=1, seed=1)
    check(tmp_path, truth)
    assert_true(tmp_path, truth)


mixes = st.fixed_dictionaries(
    {
        "steps": st.integers(1, 3),
        "layers": st.integers(0, 3),
        "task_queue": st.booleans(),
        "communication": st.booleans(),
        "mode": st.sampled_from(["training", "training", "inference"]),
        "schema": st.sampled_from(["2026", "2025"]),
        "unlinked_kernels": st.integers(0, 2),
    },
    optional={name: st.just(value) for name, value in SWITCHES.items()},
)


@pytest.mark.slow
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(mix=mixes, seed=st.integers(0, 10_000))
def test_any_mix_of_hard_cases_is_attributed_as_it_is_true(
    mix: dict[str, Any], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("mix")
    assert_true(folder, generate(folder, Shape(**mix), ranks=1, seed=seed))


@pytest.mark.parametrize(
    "case",
    [
        {"recompute": True},
        *(pytest.param(case, marks=pytest.mark.slow) for case in ({}, {"forward_threads": 2}, {"micro_batches": 2})),
    ],
)
def test_instances_are_numbered_as_it_is_true(case: dict[str, Any], tmp_path: Path) -> None:
    truth = generate(tmp_path, Shape(layers=3, **case), ranks=1, seed=2)
    with open_profile(tmp_path, instances=True) as profile:
        found = profile.sql("""
            SELECT kernel.name AS kernel_name, start_ns, replace(module, '[Backward]', '') AS module, parent_module
            FROM module.kernel
            WHERE location = 'inside modules'
        """)
    prefix = found.pop("parent_module") + "/"
    found["module_instance"] = prefix.where(prefix != "/", "") + found.pop("module")
    expected = truth.kernel_owner.to_pandas()
    expected = expected[expected["module_path"].notna()][list(found.columns)]
    pd.testing.assert_frame_equal(plain(found), plain(expected))
