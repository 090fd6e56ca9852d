"""Profiles of low levels, and of marks alone: each command answers, or says why not and which switch helps."""

import json
from pathlib import Path

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.cli import Command
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

LEVEL = "profiler_level was {}; collect with Level1"
NO_SHAPES = f"no kernel types and shapes: {LEVEL.format('Level0')}, which has them"
MARKS_ALONE = ("no kernels", "profiler_level was Level_none", "marks alone", "collect with Level1")


def at_level(folder: Path, level: str) -> None:
    config = {"config": {"experimental_config": {"_profiler_level": level, "_mstx": True}}}
    (folder / "profiler_info_0.json").write_text(json.dumps(config), encoding="utf-8")


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mstx=True with Level_none records: ranges, and when the device reached them."""
    folder = tmp_path_factory.mktemp("marks") / "0_ascend_pt"
    ranges = [Range("step", 100, 200, domain="default", device=(1000, 1100))]
    write_profile(folder, ranges=ranges, steps=[(1, 100, 200)])
    at_level(folder, "Level_none")
    return folder


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("api-stats", ("no host calls into CANN", "profiler_level was Level_none", "collect with Level1")),
        ("kernel-stats --by name", MARKS_ALONE),
        ("kernel-stats --by shapes", MARKS_ALONE),
        ("kernel-stats --by cpu", MARKS_ALONE),
        ("experts", MARKS_ALONE),
        ("clock", MARKS_ALONE),
        ("step-time", MARKS_ALONE),
        ("memory", ("no records of device memory", "collect with profile_memory=True")),
        ("stacks", ("no ops", "without CPU activity", "no modules")),
    ],
)
def test_marks_alone_answer_mstx_stats_and_the_others_name_the_switch(
    marks: Path, command: Command, words: str, reason: tuple[str, ...]
) -> None:
    result = command(*words.split(), marks)
    assert (result.exit_code, result.stderr) == (2, says("error", marks, "no rank can answer", *reason))


def test_marks_alone_are_answered(marks: Path) -> None:
    with open_profile(marks) as profile:
        (row,) = arrow_of(profile.mstx_stats()).to_pylist()
    assert (row["message"], row["event_count"], row["device_total_ns"]) == ("step", 1, 100)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("", None),
        ("ALTER TABLE COMPUTE_TASK_INFO DROP COLUMN inputShapes", NO_SHAPES),
        ("INSERT INTO STRING_IDS VALUES (9999, 'N/A'); UPDATE COMPUTE_TASK_INFO SET inputShapes = 9999", NO_SHAPES),
    ],
    ids=["some writers record shapes at Level0 too", "no column", "no value"],
)
def test_a_database_has_shapes_where_a_kernel_has_some(tmp_path: Path, change: str, reason: str | None) -> None:
    folder = tmp_path / "0_ascend_pt"
    edit(write_profile(folder, [Op("mm", 100, 110, (Kernel("mm", 1000, 1010, inputs="4,4;4,4"),))]), change)
    at_level(folder, "Level0")
    (rank,) = find_ranks(tmp_path)
    assert dict(rank.lacks).get("shapes") == reason


@pytest.mark.slow
def test_text_of_level0_answers_without_types_and_shapes(tmp_path: Path, command: Command) -> None:
    generate(tmp_path, Shape(steps=1, layers=1), ranks=1, style=TextStyle(exports="text", level="Level0"))
    (folder,) = tmp_path.iterdir()
    for file in folder.glob("profiler_info*.json"):
        file.unlink()
    at_level(folder, "Level0")
    refused = command("api-stats", tmp_path).stderr
    assert refused == says(tmp_path, "no host calls into CANN", "profiler_level was Level0", "collect with Level1")
    for by in ("name", "shapes"):
        result = command("kernel-stats", tmp_path, "--by", by)
        assert result.exit_code == 0
        assert [line for line in result.stdout.splitlines() if line == says("types", "not recorded", "certain", "names")]
    with open_profile(tmp_path) as profile:
        assert profile.rows("SELECT count(*) > 0 AS has_rows FROM kernels.by_shapes WHERE input_shapes IS NOT NULL") == [
            {"has_rows": False}
        ]
        (step, *_) = profile.rows("SELECT host_ns > 0 AS has_host, communication_ns > 0 AS communicates FROM step.time")
        assert step == {"has_host": True, "communicates": True}
        assert profile.rows("SELECT count(*) AS copies FROM trace.copy") == [{"copies": 1}]
