"""What `ranks` says that a rank answers is what the commands answer of it, and what it cannot answer they refuse."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.answers import answer_of
from prof_analysis.answers.answer import Sentences
from tests.helpers.asking import build_at_once
from tests.helpers.places import SAMPLE
from tests.helpers.small_profile import Frame, Kernel, Op, Range, edit, write_profile

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")

MM = Kernel("mm_kernel", 1000, 1040)
OPS = (Op("aten::mm", 110, 120, (MM,)), Op("aten::add", 130, 140, (Kernel("add_kernel", 1100, 1110),)))
REDUCE = Op("hccl", 150, 160, (Kernel("hcom_allReduce__904_0_1", 1200, 1300, "communication"),))


def check_promises(path: Path) -> dict[str, list[str]]:
    """Check that each command answers of the ranks of which `ranks` says so, with rows or by saying what was not found, and that
    it refuses with the reason of `ranks` where that promises nothing. Return the commands that found nothing.
    """
    found_nothing: dict[str, list[str]] = {}
    with open_profile(path) as profile:
        ranks = profile.ranks(arrow=True).to_pylist()
        build_at_once(profile, *ANALYSES)
        for question, analysis in ANALYSES.items():
            promised = {rank["profile"] for rank in ranks if question in rank["answers"]}
            reasons = {one.removeprefix(f"{question}: ") for rank in ranks for one in rank["unanswered"]}
            if not promised:
                with pytest.raises(InputError, match="no rank can answer this") as refused:
                    profile.prepare(question)
                assert any(f"no rank can answer this: {reason}" in str(refused.value) for reason in reasons), question
                continue
            profile.prepare(question)
            table = analysis.counted or next(iter(analysis.exports))
            found = {row["profile"] for row in profile.rows(f"SELECT DISTINCT profile FROM {table}")}
            for rank in promised - found:
                assert f"{rank}: no {analysis.subject}" in profile.warnings, question
                found_nothing.setdefault(question, []).append(rank)
            unable = {one.profile for one in profile._session.require(analysis.requires)}
            assert unable.isdisjoint(promised), question
            assert found - unable <= promised, question
            answer = answer_of(profile, question, 3)
            assert bool(found) == profile.has_answer(question)
            if not found:
                assert answer.blocks == (Sentences((f"none found: no {analysis.subject}",)),), question
    return found_nothing


def without(*tables: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        edit(write_profile(folder, OPS, [Range("Net", 100, 200)]), "; ".join(f"DROP TABLE {table}" for table in tables))

    return write


def emptied(*tables: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        database = write_profile(folder, (*OPS, REDUCE), [Range("Net", 100, 200)])
        edit(database, "; ".join(f"DELETE FROM {table}" for table in tables))

    return write


PROFILES: dict[str, Callable[[Path], object]] = {
    "modules": lambda folder: write_profile(folder, OPS, [Range("Net", 100, 200)]),
    "ops without modules": lambda folder: write_profile(folder, OPS),
    "one kernel": lambda folder: write_profile(folder, OPS[:1], [Range("Net", 100, 200)]),
    "only marks": lambda folder: write_profile(folder, OPS, [Range("here", 115, 115, event_type=0)]),
    "python frames without ops": lambda folder: write_profile(folder, unlinked=[MM], frames=[Frame("step", 1, 9)]),
    "communication without compute": lambda folder: write_profile(folder, [REDUCE]),
    "counters": lambda folder: write_profile(folder, [Op("x", 1, 2, (Kernel("k", 5, 6, pmu={"aic_mac_ratio": 0.5}),))]),
    "Level0": lambda folder: write_profile(folder, [Op("x", 1, 2, (Kernel("k", 5, 6, type=None, inputs="", types=""),))]),
    "a compiled graph": lambda folder: write_profile(folder, [Op("npu_fx_compiler inference", 1, 9), *OPS]),
    "no ops table": without("PYTORCH_API", "CONNECTION_IDS"),
    "no links": without("CONNECTION_IDS"),
    "no kernels table": without("COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_SCHEDULE_TASK_INFO"),
    "empty tasks": emptied("TASK"),
    "empty kernels": emptied("COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_SCHEDULE_TASK_INFO"),
    "empty ops": emptied("PYTORCH_API", "MSTX_EVENTS"),
}


# Those of which each lacks something else; all tables of a rank take a second.
QUICK = ("modules", "communication without compute", "Level0", "a compiled graph", "no ops table", "empty kernels")


@pytest.mark.parametrize(
    "names", [pytest.param(QUICK, id="quick"), pytest.param(tuple(PROFILES), id="all", marks=pytest.mark.slow)]
)
def test_ranks_promises_what_the_commands_answer_of_databases(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        PROFILES[name](tmp_path / f"{name}_ascend_pt")
    check_promises(tmp_path)


PARTS = (
    ["trace_view.json"],
    ["kernel_details.csv", "operator_details.csv"],
    ["step_trace_time.csv"],
    ["trace_view.json", "kernel_details.csv"],
    ["kernel_details.csv"],
    ["communication.json", "communication_matrix.json"],
    ["op_statistic.csv"],
)


@pytest.mark.parametrize("parts", [pytest.param(PARTS[:1], id="quick"), pytest.param(PARTS, id="all", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_ranks_promises_what_the_commands_answer_of_parts_of_text_exports(tmp_path: Path, parts: tuple[list[str], ...]) -> None:
    generate(tmp_path / "whole", Shape(steps=2, layers=1), ranks=1, style=TextStyle(exports="text"))
    (whole,) = (tmp_path / "whole").rglob("*_ascend_pt")
    for part in parts:
        folder = shutil.copytree(whole, tmp_path / "parts" / f"{' and '.join(part)}_ascend_pt")
        for file in (folder / "ASCEND_PROFILER_OUTPUT").iterdir():
            if file.name not in part:
                file.unlink()
    check_promises(tmp_path / "parts")


@pytest.mark.slow
def test_ranks_promises_what_the_commands_answer_of_the_sample() -> None:
    check_promises(SAMPLE / "decoder_training")


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    [
        "alexnet_ddp_910a/text/level1",
        "alexnet_ddp_910b/db/level0",
        "alexnet_ddp_910b/text/level0",
        "alexnet_ddp_910b/text/level1",
        "alexnet_ddp_910b_mstx",
        "qwen3_0.6b_pp2dp2_910b",
        "dsv3_vllm_a3/*.csv",
    ],
)
def test_ranks_promises_what_the_commands_answer_of_real_profiles(where: str, realdata: Path) -> None:
    for path in realdata.glob(where):
        check_promises(path)


def test_only_the_sequence_of_kernels_shows_layers(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    with open_profile(tmp_path) as profile:
        (rank,) = profile.ranks(arrow=True).to_pylist()
        assert {"experts", "layer-stats"} <= set(rank["answers"])
        with pytest.warns(ProfAnalysisWarning, match="no layers were found"):
            assert len(profile.layer_stats()) == 0
