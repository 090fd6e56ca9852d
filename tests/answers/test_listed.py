"""Tables that a command lists as they are, with --by: their headings, and what is said below them."""

from pathlib import Path

import pytest

from tests.helpers.cli import Command
from tests.helpers.places import SAMPLE
from tests.helpers.small_profile import Frame, Kernel, Op, write_profile


def test_times_have_no_unit_in_the_heading_since_it_is_in_the_cell(command: Command) -> None:
    lines = command("step-time", SAMPLE / "decoder_training", "--by", "copy", "--top", "1").stdout.splitlines()
    assert lines[0].split("  ")[:1] == ["step id"]
    assert "copying  overlapped  not overlapped  in free" in lines[0]
    assert "size bytes" in lines[0], "bytes are shown as they are"
    assert " ns " not in lines[0]
    assert " ns " in lines[1]


def test_a_moment_keeps_its_unit(command: Command) -> None:
    heading = command("free-time", SAMPLE / "decoder_training", "--by", "gap", "--top", "1").stdout.splitlines()[0]
    assert "start ns  duration" in heading


def test_the_last_line_says_of_how_many_ranks_the_rows_are(command: Command) -> None:
    shown = command("slow-ranks", SAMPLE / "decoder_training", "--by", "op", "--top", "1").stdout.splitlines()
    assert shown[-1] == "100 rows of across.host_difference, of 2 ranks"


@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_one_rank_alone_says_that_there_is_nothing_to_compare(tmp_path: Path, command: Command) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ops=[Op("op", 10, 20, (Kernel("reduce", 200, 203, "communication"),))],
        frames=[Frame("nn.Module: Linear_0", 0, 100)],
        rank=0,
    )
    result = command("slow-ranks", tmp_path, "--by", "op")
    assert result.stdout.splitlines() == ["none found: --by op compares ranks, and only one is here"]
