"""Environment variables of the run that cost time, by the values that the profile records."""

import json
from pathlib import Path

import pytest

from fixtures.text_export import export_text
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, edit, write_profile

NOT_SET = dict.fromkeys(("ASCEND_LAUNCH_BLOCKING", "ASCEND_GLOBAL_LOG_LEVEL", "ACLNN_CACHE_LIMIT", "HCCL_ALGO"), "")
LOG = (says("logs more than errors"), 1, None, "hint")
FIXED = (says("algorithm of collectives is fixed"), 1, None, "hint")
BLOCKING = says("launch waits for the device")


def with_settings(folder: Path, variables: dict[str, str] | None, late: int = 1500, rank: int = 0) -> Path:
    """A step of 1000 ns in which the device waits 250 ns for the second op, or longer; the profile records the variables."""
    first, second = Kernel("a", 1100, 1250, type="Add"), Kernel("b", late, 1900, type="Add")
    path = write_profile(
        folder,
        [Op("ProfilerStep#1", 1000, 2000), Op("one", 1050, 1090, (first,)), Op("two", 1100, late - 10, (second,))],
        steps=[(1, 1000, 2000)],
        rank=rank,
    )
    edit(path, "CREATE TABLE IF NOT EXISTS META_DATA (name TEXT, value TEXT)")
    if variables is not None:
        edit(path, f"INSERT INTO META_DATA VALUES ('ENV_VARIABLES', '{json.dumps(variables)}')")
    return path


def found(folder: Path) -> list[tuple[object, ...]]:
    with open_profile(folder) as profile:
        rows = profile.rows("SELECT title, count, win_ns, kind FROM advice.environment ORDER BY title")
    return [tuple(row.values()) for row in rows]


def why_not_judged(folder: Path) -> str | None:
    with open_profile(folder) as profile:
        return {row["rule"]: row["reason"] for row in profile.rules()}.get("environment")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({**NOT_SET, "ASCEND_LAUNCH_BLOCKING": "1"}, [(BLOCKING, 1, 250, "upper bound")]),
        *(
            pytest.param(variables, expected, marks=pytest.mark.slow)
            for variables, expected in (
                (None, []),
                (NOT_SET, []),
                ({"ASCEND_LAUNCH_BLOCKING": "0", "ASCEND_GLOBAL_LOG_LEVEL": "3", "ACLNN_CACHE_LIMIT": "10000"}, []),
                ({"ASCEND_GLOBAL_LOG_LEVEL": "0", "HCCL_ALGO": "ring"}, [FIXED, LOG]),
                (
                    {"ACLNN_CACHE_LIMIT": "10"},
                    [(says("fewer prepared ops"), 1, None, "hint")],
                ),
            )
        ),
    ],
)
def test_a_value_that_costs_time_is_found_and_wins_no_more_than_the_device_waits_for_the_host(
    tmp_path: Path, variables: dict[str, str] | None, expected: list[tuple[object, ...]]
) -> None:
    with_settings(tmp_path / "a_ascend_pt", variables)
    assert found(tmp_path) == expected


@pytest.mark.slow
def test_each_rank_has_its_own_bound_and_values_that_the_rule_does_not_know_are_not_shown(tmp_path: Path) -> None:
    hostile = {"ASCEND_LAUNCH_BLOCKING": "1", "HCCL_ALGO": "\u001b[31m=cmd|A1"}
    with_settings(tmp_path / "a_ascend_pt", hostile)
    with_settings(tmp_path / "b_ascend_pt", hostile, late=1800, rank=1)
    with open_profile(tmp_path) as profile:
        rows = profile.rows("FROM advice.environment ORDER BY title, rank_id")
    first, blocking, *algorithms = rows
    assert [(row["rank_id"], row["evidence"]) for row in algorithms] == [
        (rank, says("HCCL_ALGO is set", "do not choose their algorithm")) for rank in (0, 1)
    ]
    assert (first["rank_id"], first["win_ns"]) == (0, 250)
    expected = {
        "profile": "b_ascend_pt",
        "title": BLOCKING,
        "module": None,
        "op": None,
        "kernel_type": None,
        "rank_id": 1,
        "evidence": says("ASCEND_LAUNCH_BLOCKING is 1", "the device waits for the host for 550 ns"),
        "count": 1,
        "win_ns": 550,
        "kind": "upper bound",
        "what_to_do": says("Unset ASCEND_LAUNCH_BLOCKING"),
        "doc": "docs/rules.md#environment",
        "sql": "SELECT name, value, effect, rank_id FROM trace.setting WHERE effect IS NOT NULL ORDER BY name, rank_id LIMIT "
        "20",
        "time_ns": 550,
    }
    assert {name: blocking[name] for name in expected} == expected


@pytest.mark.slow
def test_text_exports_say_it_in_the_metadata_and_ranks_that_record_nothing_are_not_judged(tmp_path: Path) -> None:
    database = with_settings(tmp_path / "a_ascend_pt", None)
    assert why_not_judged(tmp_path) == says("no ENV_VARIABLES in META_DATA", "no environment variables")
    export_text(database, TextStyle(exports="text"))
    database.unlink()
    metadata = tmp_path / "a_ascend_pt" / "profiler_metadata.json"
    metadata.write_text(json.dumps({"ENV_VARIABLES": {"ASCEND_LAUNCH_BLOCKING": "1"}}), encoding="utf-8")
    assert found(tmp_path) == [(BLOCKING, 1, 250, "upper bound")]
    assert why_not_judged(tmp_path) is None
    metadata.write_text('{"ENV_VARIABLES": []}', encoding="utf-8")
    assert found(tmp_path) == []
    assert why_not_judged(tmp_path) == says("no ENV_VARIABLES in profiler_metadata.json", "no environment variables")
