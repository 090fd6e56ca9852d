"""Words of earlier releases are understood until 1.0: scripts that have them go on."""

from typing import Any

import pytest

from prof_analysis import InputError, open_profile
from prof_analysis.common.old_words import arguments_in_new_words, command_line_in_new_words, options_in_new_words
from tests.helpers.places import SAMPLE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("memory result --level block --top 3", "memory result --by block --top 3"),
        ("mfu --level=op result", "mfu --by op result"),
        ("module-stats result --by instance", "module-stats result --instances"),
        ("module-stats result --by class", "module-stats result"),
        ("op-stats --source_line result", "op-stats --by source-line result"),
        ("ranks --no-cache result", "ranks --cache none result"),
        ("advise result --store kept", "advise result --cache kept"),
        ("cache ls --cache-dir kept", "cache ls --cache kept"),
        ("module-stats result --across-ranks", "module-stats result --by rank"),
        ("module-stats --pmu --wide result", "module-stats --by counter --columns all result"),
        ("collect --copy-to there", "collect there"),
        ("kernel-stats result --by name", "kernel-stats result --by name"),
        ("memory result --level", "memory result --level"),
        ("collect -- python train.py --level 3", "collect -- python train.py --level 3"),
    ],
)
def test_of_command_lines(old: str, new: str) -> None:
    assert command_line_in_new_words(old.split()) == new.split()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"by": "instance", "depth": 2}, {"instances": True, "depth": 2}),
        ({"by": "class"}, {"instances": False}),
        ({"no_cache": True}, {"cache": "none"}),
        ({"no_cache": False, "store": "kept"}, {"cache": "kept"}),
        ({"cache_dir": "kept"}, {"cache": "kept"}),
    ],
)
def test_of_options(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert options_in_new_words(old) == new


@pytest.mark.parametrize(
    ("method", "old", "new"),
    [
        ("mfu", {"level": "op"}, {"by": "op"}),
        ("free_time", {"gaps": True}, {"by": "gap"}),
        ("free_time", {"gaps": False}, {}),
        ("pmu_stats", {"level": "module"}, {"by": "module"}),
        ("layer_stats", {"level": "kind"}, {"by": "kind"}),
        ("graph_overhead", {"calls": True}, {"by": "call"}),
        ("graph_overhead", {"calls": False}, {}),
        ("mstx_stats", {"per_step": True}, {"by": "step"}),
        ("mstx_stats", {"per_step": False}, {}),
        ("module_stats", {"source_line": True}, {"by": "source_line"}),
        ("module_stats", {"source_line": False}, {}),
        ("op_stats", {"source_line": True}, {"by": "source_line"}),
        ("op_stats", {"source_line": False}, {}),
        ("memory", {"by": "op"}, {"by": "op"}),
    ],
)
def test_of_methods(method: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert arguments_in_new_words(method, old) == new


def test_a_profile_understands_them() -> None:
    old: dict[str, Any] = {"no_cache": True, "by": "instance"}
    with open_profile(SAMPLE / "decoder_training", **old) as profile:
        assert profile.free_time(gaps=True).equals(profile.free_time(by="gap"))
        with pytest.raises(TypeError, match="unexpected keyword argument 'level'"):
            profile.free_time(level="gap")
    with pytest.raises(InputError, match="by='name': give class or instance"):
        open_profile(SAMPLE / "decoder_training", **{**old, "by": "name"})
