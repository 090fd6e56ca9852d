"""Flame graphs of modules, ops and Python stacks, for speedscope and in collapsed form: their times add up to all kernels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from prof_analysis import InputError, OutputError, open_profile
from tests.helpers.says import says
from tests.helpers.small_profile import Frame, Kernel, Op, Range, write_profile

HOSTILE = "Net;</script>\n\x1b[2J 7"
# Net holds Layer; an op outside, one inside another one, communication of two names and one type, a kernel without an op.
RANGES = (Range(HOSTILE, 100, 400), Range("Layer", 105, 200))
OPS = (
    Op("aten::linear", 110, 150),
    Op("aten::mm", 120, 130, (Kernel("mm_kernel", 1000, 1040), Kernel("mm_kernel", 1100, 1103))),
    Op("aten::add", 300, 310, (Kernel("add_kernel", 1200, 1210),)),
    Op("c10d::allreduce", 500, 550, tuple(Kernel("hcom_allReduce_", at, at + 100, "communication") for at in (2000, 3000))),
)
FRAMES = (Frame("train.py(3): main", 50, 900), Frame("net.py(7): forward", 100, 160))
LOST = Kernel("lost", 4000, 4005)
LINES = {
    "module-stats": [
        ([HOSTILE, "aten::add", "add_kernel"], 10),
        ([HOSTILE, "Layer", "aten::mm", "mm_kernel"], 43),
        (["linked to no op", "no host launch", "lost"], 5),
        (["outside modules", "outside every module", "c10d::allreduce", "hcom_allReduce_"], 200),
    ],
    "op-stats": [
        (["aten::add", "add_kernel"], 10),
        (["aten::linear", "aten::mm", "mm_kernel"], 43),
        (["c10d::allreduce", "hcom_allReduce_"], 200),
        (["linked to no op", "no host launch", "lost"], 5),
    ],
    "stacks": [
        (["train.py(3): main"], 210),
        (["train.py(3): main", "net.py(7): forward"], 43),
        (["(no host launch)"], 5),
    ],
}
FILES = {"module-stats": "module_flame", "op-stats": "op_flame", "stacks": "stack_flame"}


pytestmark = pytest.mark.usefixtures("keeping")


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks, the second one without a number."""
    folder = tmp_path_factory.mktemp("ranks")
    write_profile(folder / "a_ascend_pt", OPS, RANGES, unlinked=[LOST], frames=FRAMES, rank=3)
    write_profile(folder / "b_ascend_pt", OPS[2:], RANGES, frames=FRAMES, rank=None)
    return folder


def read_speedscope(file: Path) -> dict[str, list[tuple[list[str], int]]]:
    """The lines of each profile of a file, by the rules of its schema."""
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert content["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    names = [frame["name"] for frame in content["shared"]["frames"]]
    assert len(set(names)) == len(names)
    found = {}
    for profile in content["profiles"]:
        samples, weights = profile.pop("samples"), profile.pop("weights")
        name = profile.pop("name")
        assert profile == {"type": "sampled", "unit": "nanoseconds", "startValue": 0, "endValue": sum(weights)}
        found[name] = [([names[frame] for frame in stack], ns) for stack, ns in zip(samples, weights, strict=True)]
    return found


@pytest.mark.parametrize("analysis", LINES)
def test_speedscope_has_a_profile_for_each_rank_that_holds_all_kernel_time(ranks: Path, tmp_path: Path, analysis: str) -> None:
    with open_profile(ranks) as profile:
        (file,) = profile.export(tmp_path, "speedscope", analysis)
    assert file == tmp_path / "cluster_analysis_output" / f"{FILES[analysis]}.speedscope.json"
    found = read_speedscope(file)
    assert list(found) == ["rank 3", "b_ascend_pt"]
    shown = [([frame.replace("\n", "\\n").replace("\x1b", "\\x1b") for frame in frames], ns) for frames, ns in LINES[analysis]]
    assert found["rank 3"] == shown
    assert sum(ns for _, ns in found["b_ascend_pt"]) == 210


@pytest.mark.parametrize("analysis", LINES)
def test_collapsed_lines_are_read_back_whatever_names_hold(ranks: Path, tmp_path: Path, analysis: str) -> None:
    with open_profile(ranks, rank_list=[3]) as profile:
        (file,) = profile.export(tmp_path, "collapsed", analysis)
    read = [line.rpartition(" ") for line in file.read_text(encoding="utf-8").splitlines()]
    shown = {HOSTILE: "Net:</script>\\n\\x1b[2J 7"}
    assert [(names.split(";"), int(ns)) for names, _, ns in read] == [
        ([shown.get(frame, frame).replace(";", ":") for frame in frames], ns) for frames, ns in LINES[analysis]
    ]


def test_collapsed_lines_of_several_ranks_begin_with_the_rank(ranks: Path, tmp_path: Path) -> None:
    with open_profile(ranks) as profile:
        (file,) = profile.export(tmp_path, "collapsed", "stacks")
    assert file.read_text(encoding="utf-8").splitlines() == [
        "rank 3;train.py(3): main 210",
        "rank 3;train.py(3): main;net.py(7): forward 43",
        "rank 3;(no host launch) 5",
        "b_ascend_pt;train.py(3): main 210",
    ]


@pytest.mark.slow
def test_ranks_of_one_number_stay_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_profile(tmp_path / f"{name}_ascend_pt", OPS[2:3], rank=0)
    with open_profile(tmp_path) as profile:
        (file,) = profile.export(tmp_path, "speedscope", "op-stats")
        several = bool(profile.runs)
    assert list(read_speedscope(file)) == (["a rank 0", "b rank 0"] if several else ["a_ascend_pt", "b_ascend_pt"])


@pytest.mark.slow
def test_chosen_ops_siblings_steps_and_stacks_are_all_that_is_drawn(tmp_path: Path) -> None:
    """--filter, --instances, --step-id and --under are those of the commands; a step is no frame."""
    ranges = (Range("Net", 100, 400), Range("Layer", 105, 140), Range("Layer", 145, 200))
    write_profile(tmp_path / "a_ascend_pt", OPS, ranges, frames=FRAMES, steps=[(1, 40, 250), (2, 250, 1000)])

    def lines(analysis: str, **options: Any) -> list[tuple[list[str], int]]:
        with open_profile(tmp_path, **options) as profile:
            return read_speedscope(profile.export(tmp_path, "speedscope", analysis)[0])["rank 0"]

    assert lines("op-stats", filter="MM") == [(["aten::linear", "aten::mm", "mm_kernel"], 43)]
    assert lines("module-stats", instances=True, step_id=1) == [(["Net[0]", "Layer[0]", "aten::mm", "mm_kernel"], 43)]
    assert lines("op-stats", step_id=2) == LINES["op-stats"][:1] + LINES["op-stats"][2:3]
    assert lines("stacks", under="net.py") == [(["net.py(7): forward"], 43)]


def test_an_analysis_without_a_flame_graph_says_which_have_one(ranks: Path, command: Callable[..., Result]) -> None:
    result = command("kernel-stats", "-d", ranks, "--export-type", "speedscope")
    who = ("kernel-stats does not write it", "module-stats, op-stats, stacks, memory do")
    assert (result.exit_code, result.stderr) == (2, says("error: ", "export_type='speedscope'", *who))
    result = command("compare", ranks, ranks, "--export-type", "collapsed", "-o", ranks)
    assert result.exit_code == 2
    assert "'collapsed': give one of db, xlsx, csv, parquet, json, duckdb, text, excel, html" in result.stderr
    with open_profile(ranks) as profile, pytest.raises(InputError, match="table does not write it"):
        profile.export_table("flame.op", ranks, "collapsed")
    assert not (ranks / "cluster_analysis_output").exists()


@pytest.mark.parametrize("export_type", ["speedscope", "collapsed"])
def test_a_file_that_cannot_be_replaced_stays_as_it_was(ranks: Path, tmp_path: Path, export_type: str) -> None:
    suffix = {"speedscope": "json", "collapsed": "txt"}[export_type]
    old = tmp_path / "cluster_analysis_output" / f"op_flame.{export_type}.{suffix}"
    (old / "in the way").mkdir(parents=True)
    with open_profile(ranks) as profile, pytest.raises(OutputError, match=r"cannot be written"):
        profile.export(tmp_path, export_type, "op-stats")
    assert [file.name for file in old.parent.iterdir()] == [old.name]
