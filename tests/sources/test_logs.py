"""Lines that the profiler logged while it parsed become warnings with what they mean and what to do."""

from pathlib import Path

import pytest

from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, write_profile

FLOW = "[2026-01-01-00:00:00] [ERROR] [AscendProfiler:59] Failed to get acl to npu flow events."
INFO = "[2026-01-01-00:00:00] [INFO] [AscendProfiler:87] Failed to get acl to npu flow events, or not"


def logs_of(folder: Path) -> Path:
    write_profile(folder, [Op("aten::mm", 0, 10)], unlinked=[Kernel("a", 2, 5)])
    (folder / "logs").mkdir()
    return folder / "logs"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (FLOW, ("acl to npu", "no launch", "kernels may be missing", "collect again")),
        ("[t] [ERROR] [77] profiler.py: Failed to get acl to npu flow events.", ("acl to npu", "kernels may be missing")),
        ("[t] [ERROR] [A:1] Get step range failed, the step node list is empty.", ("no step was found", "call step()")),
        ("[t] [WARNING] [A:1] Kernel view failed to get the step range; the step range is empty.", ("no step was found",)),
        ("[t] [ERROR] [A:1] Failed to export CANN Profiling data, error: Path owner is neither root nor the current user",
         ("folders of another owner", "chown", "chmod", "parse it again")),
        ("[t] [ERROR] [A:1] Failed to export CANN Profiling data, error: 'msprof' command not found!", ("set_env.sh",)),
        ("[t] [ERROR] [A:1] Failed to export CANN Profiling data, error: other", ("msprof --export=on", "parse it again")),
        ("[t] [ERROR] [A:1] There is no flow events in ProfilerStep#7 range.", ("kernels have no step", "whole steps")),
        ("[t] [ERROR] [A:1] Get torch op tree node failed, the torch op data is empty.", ("no ops were recorded",)),
        ("[t] [ERROR] [A:1] Failed to generate kernel_details.csv.", ("was not written", "parse it again")),
        ("[t] [ERROR] [A:1] something new", ("something new", "figures may be missing", "parse it again")),
    ],
)  # fmt: skip
def test_a_line_says_what_it_means_and_what_to_do(tmp_path: Path, line: str, words: tuple[str, ...]) -> None:
    file = logs_of(tmp_path / "a_ascend_pt") / "profiler_20260101000000_7_KernelViewParser.log"
    file.write_text(f"{INFO}\n{line}\nTraceback (most recent call last):\n", encoding="utf-8")
    with pytest.warns(ProfAnalysisWarning, match="the profiler logged"), open_profile(tmp_path) as profile:
        (said,) = profile.warnings
        assert profile.ranks(arrow=True).to_pylist()[0]["missing"][0] == said
        assert len(profile.rows("SELECT 1 FROM trace.kernel")) == 1, "what is there answers"
    assert said == says(f"{file}: ", *words)


def test_many_lines_are_one_warning_and_those_of_an_earlier_parsing_are_none(tmp_path: Path) -> None:
    logs = logs_of(tmp_path / "a_ascend_pt")
    (logs / "profiler_20260101000000_7_KernelViewParser.log").write_text(FLOW.replace("acl", "other") + "\n", encoding="utf-8")
    (logs / "profiler_20260102000000_8_KernelViewParser.log").write_text(f"{FLOW}\n" * 3, encoding="utf-8")
    (logs / "profiler_20260101000000_7_TreeBuilder.log").write_text(f"{FLOW}\n", encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    (said,) = rank.doubts
    assert said == says(f"{logs / 'profiler_20260101000000_7_TreeBuilder.log'}: ", "3 more such lines")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00\x01" * 1000, b"[t] [ERROR] [A", b"[ERROR]\n" * 100, b"x" * 10**6])
def test_a_log_that_says_nothing_costs_nothing(tmp_path: Path, content: bytes) -> None:
    logs = logs_of(tmp_path / "a_ascend_pt")
    (logs / "profiler_20260101000000_7.log").write_bytes(content)
    (logs / "profiler_20260101000000_8.log").symlink_to(logs / "nowhere")
    (rank,) = find_ranks(tmp_path)
    assert (rank.doubts, rank.left_out) == ((), None)


def test_an_anonymous_warning_names_nobody(tmp_path: Path) -> None:
    logs = logs_of(tmp_path / "a_ascend_pt")
    line = "[t] [ERROR] [A:1] cannot open /home/alice/run with token=abcdefghijkl\n"
    (logs / "profiler_20260101000000_31337.log").write_text(line, encoding="utf-8")
    with pytest.warns(ProfAnalysisWarning, match="the profiler logged"), open_profile(tmp_path, anonymize=True) as profile:
        (said,) = profile.warnings
    assert said == says("the profiler logged", "cannot open", "token=secret1")
    assert not any(secret in said for secret in ("alice", "abcdefghijkl", "31337", str(tmp_path)))
