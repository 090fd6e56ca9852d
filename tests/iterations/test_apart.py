"""Prefill and decode on different ranks: each role with its passes, and the KV cache that moves between them."""

import json
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.cli import Command
from tests.helpers.serving import Form, Pass, Rank, covered, serve, serve_apart, write
from tests.helpers.slow import quick

FORMS: list[Form] = ["db", "text", "kineto"]


def roles_in(folder: Path) -> dict[str, dict[str, Any]]:
    with open_profile(folder) as profile:
        return {row["role"]: row for row in profile.rows("FROM across.pass_role")}


def nearest(values: list[int], percent: int) -> int:
    """Return the smallest value that so many percent do not exceed."""
    return sorted(values)[-(-len(values) * percent // 100) - 1]


def of_kernels(one: Pass, *without: str) -> int:
    return covered([(start, end) for kind, start, end, _ in one.kernels if kind not in without])


def check(rank: Rank, row: dict[str, Any]) -> None:
    spans = [one.span[1] - one.span[0] for one in rank.passes]
    assert row["rank_count"] == 1
    assert row["pass_count"] == len(rank.passes)
    assert row["token_count"] == sum(one.tokens for one in rank.passes)
    assert row["median_request_count"] == nearest([one.prefill + one.decode for one in rank.passes], 50)
    assert (row["median_ns"], row["p90_ns"], row["p99_ns"]) == tuple(nearest(spans, percent) for percent in (50, 90, 99))
    assert row["kv_kernel_count"] == len(rank.transfers)
    assert row["kv_transfer_ns"] == covered(rank.transfers)
    computing = [(start, end) for one in rank.passes for kind, start, end, _ in one.kernels if kind != "sum"]
    assert row["kv_not_overlapped_ns"] == covered([*computing, *rank.transfers]) - covered(computing)
    assert row["kv_call_count"] == len(rank.transfer_calls)
    assert row["kv_host_ns"] == sum(end - start for start, end in rank.transfer_calls)
    assert row["computing_ns"] == sum(of_kernels(one, "sum") for one in rank.passes)
    assert row["total_ns"] == sum(spans)


@pytest.mark.parametrize("form", quick(FORMS, 0))
def test_each_role_has_its_passes_and_its_kv_transfer(tmp_path: Path, form: Form) -> None:
    first, second = serve_apart()
    write(first, tmp_path / "p", form)
    write(second, tmp_path / "d", form)
    roles = roles_in(tmp_path)
    assert set(roles) == {"prefill", "decode"}
    check(first, roles["prefill"])
    check(second, roles["decode"])


def test_without_annotations_roles_and_operators_that_move_the_cache_are_found(tmp_path: Path) -> None:
    """On an NPU the operators have names of their own; a kernel of NCCL does not say what it sends."""
    first, second = serve_apart()
    for form in ("kineto", "db"):
        write(first, tmp_path / form / "p", form, marks=False)
        write(second, tmp_path / form / "d", form, marks=False)
    assert {role: row["movers"] for role, row in roles_in(tmp_path / "kineto").items()} == {"prefill": None, "decode": None}
    roles = roles_in(tmp_path / "db")
    # One operator of attention serves both: several prompts in a pass look like drafts that are verified.
    assert set(roles) == {None, "decode"}
    assert roles["decode"]["kv_transfer_ns"] == covered(second.transfers)
    assert roles["decode"]["movers"] == "HCCL"


@pytest.mark.usefixtures("keeping")
def test_two_folders_are_one_table_over_all_runs(tmp_path: Path, command: Command) -> None:
    first, second = serve_apart(4)
    for rank, name in ((first, "p"), (second, "d")):
        write(rank, tmp_path / name, "db")
    folders = [str(tmp_path / name) for name in "dp"]
    asked = json.loads(command("iterations", *folders, "--json").stdout)
    assert [(row["run"], row["role"]) for row in asked["all_runs"]["roles"]] == [("p", "prefill"), ("d", "decode")]
    assert {run: [row["role"] for row in facts["roles"]] for run, facts in asked["runs"].items()} == {
        "d": ["decode"],
        "p": ["prefill"],
    }
    text = command("iterations", *folders).stdout
    of_all = text[text.index("all runs:") :]
    assert "KV transfer" in of_all
    assert f"run d: decode ranks move the KV cache by HCCL, vLLM: {len(second.transfers)} kernels" in of_all


@pytest.mark.slow
def test_the_report_of_two_folders_has_the_roles(tmp_path: Path) -> None:
    for rank, name in zip(serve_apart(4), "pd", strict=True):
        write(rank, tmp_path / name, "kineto")
    with open_profile(tmp_path) as profile:
        page = profile.report(tmp_path / "report.html").read_text(encoding="utf-8")
    # Once over both runs, where each run has its own passes.
    assert 2 * page.count("Ranks by role") == page.count("The passes that took longest") > 0


def test_ranks_of_one_run_may_have_different_roles(tmp_path: Path, command: Command) -> None:
    first, second = serve_apart(4)
    second.number = 1
    for rank in (first, second):
        write(rank, tmp_path, "db")
    text = command("iterations", str(tmp_path)).stdout
    assert "all runs:" not in text
    assert "prefill ranks move the KV cache by HCCL, vLLM" in text


@pytest.mark.parametrize(("by", "of"), [("role", "across.pass_role"), ("batch", "across.pass_statistic")])
def test_rows_over_all_ranks_are_listed(tmp_path: Path, command: Command, by: str, of: str) -> None:
    asked = command("iterations", str(write(serve(8, ranks=1)[0], tmp_path, "kineto")), "--by", by)
    assert asked.exit_code == 0
    assert f"of {of}, of 1 rank" in asked.stdout


def test_where_prefill_and_decode_run_together_no_roles_are_shown(tmp_path: Path, command: Command) -> None:
    for name in "ab":
        write(serve(8, ranks=1)[0], tmp_path / name, "db")
    text = command("iterations", str(tmp_path / "a"), str(tmp_path / "b")).stdout
    assert "run b:" in text
    assert "role" not in text
    assert "KV" not in text
