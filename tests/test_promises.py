"""What `ranks` says that a rank answers is what the commands answer of it, and what it cannot answer they refuse."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answer import Sentences
from prof_analysis.analyses.answering import answer_of
from prof_analysis.profile.asking import require
from tests.helpers.asking import build_at_once
from tests.helpers.places import SAMPLE
from tests.helpers.small_profile import Frame, Kernel, Op, Range, edit, write_profile

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")

MM = Kernel("mm_kernel", 1000, 1040)
OPS = (Op("aten::mm", 110, 120, (MM,)), Op("aten::add", 130, 140, (Kernel("add_kernel", 1100, 1110),)))
REDUCE = Op("hccl", 150, 160, (Kernel("hcom_allReduce__904_0_1", 1200, 1300, "communication"),))


def check_promises(path: Path) -> dict[str, list[str]]:
    """Check that each command answers of the ranks of which `ranks` says so, with rows or by saying what was not found, and
    that it refuses with the reason of `ranks` where that promises nothing. Return the commands that found nothing.
    """
    found_nothing: dict[str, list[str]] = {}
    with open_profile(path) as profile:
        ranks = profile.ranks(arrow=True).to_pylist()
        if not all(rank["left_out"] for rank in ranks):
            build_at_once(profile, *ANALYSES)
        for question, analysis in ANALYSES.items():
            if all(rank["left_out"] for rank in ranks):
                with pytest.raises(InputError, match=re.escape(ranks[0]["left_out"])):
                    profile.prepare(question)
                continue
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
            unable = {one.profile for one in require(profile._session, analysis.requires)}
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
QUICK = ("communication without compute", "no ops table")


@pytest.mark.slow
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
    ["api_statistic.csv"],
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


# One file of each kind that the profilers write, as small as it can be, under a name that they give it.
_TIMES = '"Start Timestamp(us)": 1727593954650726.2, "Elapse Time(ms)": 3, "Transit Time(ms)": 1, "Wait Time(ms)": 1'
_MOVED = '"Transport Type": "HCCS", "Transit Size(MB)": 2.5, "Transit Time(ms)": 0.5'
_SUMMARY = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\nmm,MatMulV3,AI_CORE,1723000000000000.120,40.000\n"
FILES = {
    "kernel_details.csv": "Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes\n"
    'mm,MatMulV3,AI_CORE,1723000000000000.120,40.000,"16,16;16,16"\nadd,Add,AI_VECTOR_CORE,1723000000000100.120,4.000,16\n',
    "op_summary_20240101.csv": _SUMMARY,
    "PROF_1/device_0/summary/op_summary_0_1_1.csv": _SUMMARY.replace("Start Time(us)", "Start Time"),
    "op_statistic.csv": "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    "MatMulV3,AI_CORE,2,80,30,40,50,100\n",
    "PROF_1/mindstudio_profiler_output/op_statistic_20240101.csv": "OP Type,Core Type,Count,Total Time(us)\nAdd,AI_CORE,2,80\n",
    "operator_details.csv": "Name,Input Shapes,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
    "Device Total Duration(us)\naten::mm,,1,2,3,4\n",
    "operator_memory.csv": "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),"
    "Allocation Total Reserved(MB),Allocation Total Active(MB),Stream Ptr,Device Type\n"
    "aten::empty,1024,1723000000000000.120,,8,16,8,1,NPU:0\n",
    "memory_record.csv": "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type\n"
    "PTA,1723000000000000.120,8,16,8,NPU:0\n",
    "step_trace_time.csv": "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
    "1,9,1,1,2,3,13,0\n",
    "communication.json": '{"step1": {"collective": {"hcom_allReduce__1_0_1@7": {"Communication Time Info": {'
    f"{_TIMES}}}}}}}}}}}",
    "communication_matrix.json": f'{{"step1": {{"collective": {{"allreduce-total@7": {{"0-1": {{{_MOVED}}}}}}}}}}}',
    "PROF_1/mindstudio_profiler_output/api_statistic_20240101.csv": "Level,API Name,Time(us),Count\nacl,aclnnMm,1,1\n",
    "api_statistic.csv": "Level,API Name,Time(us),Count\nacl,aclnnMm,1,1\n",
    "task_time.csv": "kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us)\nmm,AI_CORE,1,1,1,1\n",
    "static_op_mem.csv": "Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\nAdd,0,1,1,4,1024\n",
    "npu_module_mem.csv": "Component,Timestamp(us),Total Reserved(MB),Device\nHCCL,1723000000000000.120,8.5,NPU:0\n",
}
ANSWERED = {
    "op_statistic.csv": {"kernel-stats"},
    "PROF_1/mindstudio_profiler_output/op_statistic_20240101.csv": {"kernel-stats"},
    "operator_details.csv": {"op-stats"},
    "operator_memory.csv": {"memory"},
    "memory_record.csv": {"memory"},
    "npu_module_mem.csv": {"memory"},
    "static_op_mem.csv": {"memory"},
    "step_trace_time.csv": {"advise", "step-time", "slow-ranks"},
    "communication.json": {"communication-stats", "communication-time", "slow-ranks"},
    "communication_matrix.json": {"links"},
    "api_statistic.csv": {"api-stats"},
    "PROF_1/mindstudio_profiler_output/api_statistic_20240101.csv": {"api-stats"},
    "task_time.csv": set[str](),
}
OF_KERNELS = {"kernel-stats", "advise", "step-time", "free-time", "slow-ranks", "experts", "layer-stats"}
JUDGED = OF_KERNELS.union(*ANSWERED.values())


def test_each_file_that_a_profiler_writes_answers_alone_or_says_what_it_holds(tmp_path: Path) -> None:
    """Each in a folder of its own."""
    for number, (name, text) in enumerate(FILES.items()):
        path = tmp_path / "all" / f"{number:02}" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    with open_profile(tmp_path / "all") as profile:
        ranks = {rank["profile"][:2]: rank for rank in profile.ranks(arrow=True).to_pylist()}
    for number, name in enumerate(FILES):
        rank = ranks.pop(f"{number:02}")
        assert JUDGED.intersection(rank["answers"]) == ANSWERED.get(name, OF_KERNELS), name
        assert bool(rank["left_out"]) is (not rank["answers"]), name
        if rank["left_out"]:
            assert f"{Path(name).name}: holds " in rank["left_out"], "what it holds, and what to give in its place"
    assert not ranks


@pytest.mark.slow
def test_ranks_promises_what_the_commands_answer_of_each_file_alone(tmp_path: Path) -> None:
    for number, (name, text) in enumerate(FILES.items()):
        path = tmp_path / f"{number:02}" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    assert sorted(check_promises(tmp_path)["experts"]) == ["00", "01", "02/PROF_1"], "it says that there are none"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a file", "a file in a folder", "all files but one"])
def test_ranks_promises_what_the_commands_answer_of_parts_of_real_profiles(tmp_path: Path, kind: str, realdata: Path) -> None:
    ranks = [folder for folder in sorted(realdata.rglob("*_ascend_pt")) if re.search(r"rank_?[02]_", folder.name)]
    files = [(folder, file) for folder in ranks for file in sorted(folder.rglob("*")) if file.is_file()]
    traces = [
        file
        for part in ("gpu_kineto", "gpu_more", "serving", "trace_alone_2023")
        for file in (realdata / part).rglob("*.json*")
    ]
    cases = files if kind != "a file" else [*files, *((file.parent, file) for file in traces if "perf_csvs" not in file.parts)]
    for number, (folder, file) in enumerate(cases):
        path = tmp_path / str(number) / folder.name
        if kind == "all files but one":
            shutil.copytree(folder, path)
            (path / file.relative_to(folder)).unlink()
        elif kind == "a file in a folder":
            path.mkdir(parents=True)
            shutil.copy(file, path)
        else:
            path = file
        try:
            with open_profile(path):
                pass
        except InputError as refused:
            assert str(file if kind == "a file" else path) in str(refused), "an error names the file"
            continue
        check_promises(path)


def test_only_the_sequence_of_kernels_shows_layers(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    with open_profile(tmp_path) as profile:
        (rank,) = profile.ranks(arrow=True).to_pylist()
        assert {"experts", "layer-stats"} <= set(rank["answers"])
        with pytest.warns(ProfAnalysisWarning, match="no layers were found"):
            assert len(profile.layer_stats()) == 0


@pytest.mark.parametrize(
    ("command", "by"),
    [
        (command, by)
        for command, analysis in ANALYSES.items()
        if analysis.only_written
        for by in (None, *(by for by, rows in analysis.rows.items() if rows.extra is None))
    ],
)
def test_what_only_files_have_is_built_for_files_alone(command: str, by: str | None, kept: Path, kept_sample: Path) -> None:
    analysis = ANALYSES[command]
    listed = set() if by is None else {analysis.rows[by].table}
    with open_profile(kept_sample, cache=kept) as profile:
        profile.prepare(command, is_written=False, by=by)
        provided = set(profile._session._provided)
        answer_of(profile, command, 3, by)
        assert profile._session._provided == provided, "the answer reads no more"
        assert provided & set(analysis.only_written) == listed & set(analysis.only_written)
        profile.prepare(command)
        assert profile._session._provided.issuperset(analysis.only_written)
