"""What is found under a path: which switch of the profiler kept out what a result lacks, and what marks modules."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.analyses.answerable import answered_by, why_unanswered
from prof_analysis.common.answer_options import Options
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.answers import NOT_IN_ONE_RANK, answered_without
from tests.helpers.discovery import OPS, RANGES, write_info
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Frame, Range, write_profile


@pytest.mark.parametrize(
    ("common", "experimental", "said"),
    [
        ({"activities": ["ProfilerActivity.NPU"]}, {}, "ProfilerActivity.CPU was off"),
        ({"activities": ["ProfilerActivity.CPU"]}, {}, "ProfilerActivity.NPU was off"),
        pytest.param({}, {"_profiler_level": "Level0"}, "profiler_level was Level0", marks=pytest.mark.slow),
        ({}, {"_profiler_level": "Level_none"}, "profiler_level was Level_none"),
        pytest.param({"record_shapes": False}, {}, "record_shapes was off", marks=pytest.mark.slow),
    ],
)
def test_a_switch_that_was_off_is_named(
    tmp_path: Path, command: Callable[..., Result], common: dict[str, Any], experimental: dict[str, Any], said: str
) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES).parents[1]
    write_info(folder, common=common, experimental=experimental)
    (rank,) = find_ranks(tmp_path)
    assert rank.profiler_level == experimental.get("_profiler_level", "Level1")
    assert len(rank.missing) == 1
    assert said in rank.missing[0]
    assert said in command("ranks", "-d", tmp_path).stdout


def test_with_all_switches_on_nothing_is_missing(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES).parents[1]
    write_info(folder)
    (rank,) = find_ranks(tmp_path)
    assert rank.missing == ()


@pytest.mark.parametrize(
    ("experimental", "switch"),
    quick(
        [
            ({"_mstx": True}, None),
            ({"_mstx": False}, "mstx was off"),
            ({"_mstx_domain_include": ["communication"]}, "the mstx domain filter left out the domain Module"),
            ({"_mstx_domain_exclude": ["communication", "Module"]}, "the mstx domain filter left out the domain Module"),
            ({"_mstx_domain_include": ["Module"]}, None),
            ({"_mstx_domain_exclude": ["communication"]}, None),
        ],
        1,
        4,
    ),
)
def test_without_module_ranges_the_switch_that_kept_them_out_is_named(
    tmp_path: Path, command: Callable[..., Result], experimental: dict[str, Any], switch: str | None
) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, [Range("fetch", 100, 200, domain="default")]).parents[1]
    write_info(folder, experimental=experimental)
    (rank,) = find_ranks(tmp_path)
    assert answered_by(rank) == answered_without("modules", *NOT_IN_ONE_RANK)
    (advice,) = rank.missing
    assert advice == says(
        "no module ranges", "mark", "the domain Module", "mstx=True", "with_modules=True", *filter(None, [switch])
    )
    assert ("(here " in advice) is (switch is not None)
    assert f"\ncannot answer module-stats: {advice}\n" in command("ranks", "-d", tmp_path).stdout
    assert command("module-stats", "-d", tmp_path).stderr.endswith(f"{advice}\n")


@pytest.mark.parametrize(
    ("chosen", "experimental", "advice"),
    [
        (Options(module_source="mstx"), {}, ("the domain Module",)),
        (Options(module_source="nn.Module"), {}, ("the domain Module", "with_modules=True")),
        (Options(module_source="mstx", module_domains=("A", "B")), {}, ("the domain A or B",)),
        (
            Options(module_source="mstx", module_domains=("A",)),
            {"_mstx_domain_exclude": ["A"]},
            ("in the domain A", "filter left out the domain A"),
        ),
        (Options(module_source="mstx", module_domains=("A",)), {"_mstx_domain_exclude": ["Module"]}, ("in the domain A",)),
    ],
)
def test_the_advice_is_for_the_modules_that_were_asked_for(
    tmp_path: Path, chosen: Options, experimental: dict[str, Any], advice: tuple[str, ...]
) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, [Range("fetch", 100, 200, domain="default")]).parents[1]
    write_info(folder, experimental=experimental)
    (rank,) = find_ranks(tmp_path, chosen)
    reason = str(why_unanswered(rank, "module-stats"))
    assert reason == says("no module ranges", "mark", "mstx=True", *advice)
    for words in ("with_modules", "filter"):
        assert (words in reason) is (words in " ".join(advice))
    assert (rank.modules_from, rank.missing) == (None, (reason,))


@pytest.mark.parametrize(
    ("marked", "traced", "chosen", "modules_from"),
    [
        (True, False, Options(), "mstx"),
        (False, True, Options(), "nn.Module"),
        (True, True, Options(), "mstx"),
        (True, True, Options(module_source="nn.Module"), "nn.Module"),
        (True, True, Options(module_source="mstx"), "mstx"),
        (True, True, Options(module_domains=("Other",)), "nn.Module"),
        (True, True, Options(module_domains=("Other", "Module")), "mstx"),
        (True, False, Options(module_source="nn.Module"), None),
        (False, True, Options(module_source="mstx"), None),
        (False, False, Options(), None),
        (True, False, Options(module_domains=("Modul'e",)), None),
    ],
)
def test_what_marks_the_modules_is_told(
    tmp_path: Path, marked: bool, traced: bool, chosen: Options, modules_from: str | None
) -> None:
    frames = [Frame("nn.Module: Net_0", 100, 200)]
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES if marked else (), frames=frames if traced else ())
    (rank,) = find_ranks(tmp_path, chosen)
    assert rank.modules_from == modules_from
    assert (why_unanswered(rank, "module-stats") is None, "module-stats" in answered_by(rank)) == (
        modules_from is not None,
    ) * 2


def test_ranges_that_end_before_they_start_mark_no_modules(tmp_path: Path) -> None:
    frames = [Frame("nn.Module: Net_0", 100, 200)]
    write_profile(tmp_path / "a_ascend_pt", OPS, [Range("Net", 200, 100)], frames=frames)
    (rank,) = find_ranks(tmp_path)
    assert rank.modules_from == "nn.Module"
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match="mstx ranges set aside because they"):
        assert set(profile.module_stats()["module"]) == {"Net"}
    (rank,) = find_ranks(tmp_path, Options(module_source="mstx"))
    assert rank.modules_from is None


def test_the_former_name_of_the_mstx_switch_is_known(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS).parents[1]
    config = {"common_config": {}, "experimental_config": {"_msprof_tx": False}}
    (folder / "profiler_info.json").write_text(json.dumps({"config": config}), encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    assert rank.missing[0].endswith("(here mstx was off)")
