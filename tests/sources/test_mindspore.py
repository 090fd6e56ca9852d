"""Results of MindSpore: its database, its figures of communication, and the pipeline that feeds the device with data."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from prof_analysis import open_profile
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.asking import build_at_once
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, write_profile

SAMPLE = Path(__file__).parents[2] / "fixtures" / "sample" / "decoder_training"
SUMMARY: dict[str, list[Any]] = {
    "op_ids": [0, 1, 2], "op_names": ["DeviceQueue", "Batch", "ImageFolder"], "num_workers": [1, 4, 8],
    "queue_average_size": [-1, 1.5, 14.0], "queue_utilization_pct": [-1, 9.375, 87.5], "queue_empty_freq_pct": [-1, 62.5, 0.0],
    "children_ids": [[1], [2], []], "parent_id": [-1, 0, 1], "avg_cpu_pct": [2.0, 310.0, 40.0],
    "per_pipeline_time": [11.25], "per_push_queue_time": [1.5], "per_batch_time": [12.75],
}  # fmt: skip
RAW = """op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,output_queue_usage_rate,\
sample_interval,parent_id,children_id
0,DeviceQueueOp,1,,,,,10,,[1]
1,BatchOp,4,"[0, 0, 0, 0, 0, 3, 4, 5]",1.5,16,0.09375,10,0,[2]
2,ImageFolderOp,8,"[14, 14]",14.0,16,0.875,10,1,
"""
CALLS = """Operation,Stage,Occurrences,Avg. time (us),Custom Info
Batch(ID:1),WorkerProcess,40,3000.5,
Batch(ID:1),WorkerGet,40,90000,
ImageFolder(ID:2),WorkerProcess,320,100,
"""
QUEUE = {"queue_op": "Batch", "empty_share": 0.625}
BATCH = {"batch_ns": 12_750_000, "pipeline_ns": 11_250_000, "push_ns": 1_500_000}
SLOWEST = {"slowest_op": "Batch(ID:1)", "slowest_ns": 120_020_000, "slowest_calls": 40}


def result_of(folder: Path) -> Path:
    """Write a result of MindSpore, and return its folder of exports."""
    path = write_profile(folder / "job_20260101000000000_ascend_ms", [Op("aten::mm", 0, 10)], unlinked=[Kernel("a", 2, 5)])
    path.rename(path.with_name("ascend_mindspore_profiler_0.db"))
    return path.parent


def test_its_database_and_figures_of_communication_are_read(tmp_path: Path) -> None:
    """The sample under the names that MindSpore gives: a database of the profiler, and analysis.db by another name."""
    original = next(SAMPLE.glob("*_ascend_pt"))
    (of_torch,) = find_ranks(original)
    renamed = shutil.copytree(original, tmp_path / "host_20260101000000_ascend_ms")
    output = renamed / "ASCEND_PROFILER_OUTPUT"
    output.chmod(0o755)
    for file in list(output.iterdir()):
        name = file.name.replace("ascend_pytorch", "ascend_mindspore").replace("analysis.db", "communication_analyzer.db")
        file.rename(file.with_name(name))
    (rank,) = find_ranks(tmp_path)
    assert (rank.rank_id, rank.source, rank.lacks) == (of_torch.rank_id, of_torch.source, of_torch.lacks)
    query = "SELECT count(*) AS n, sum(elapse_ns) AS ns FROM trace.reported_communication"
    with open_profile(original) as profile, open_profile(renamed) as other:
        assert other.rows(query) == profile.rows(query)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"summary_0.json": json.dumps(SUMMARY)}, {**QUEUE, **BATCH, "slowest_op": "Batch", "slowest_share": 0.775}),
        (
            {"summary_0.csv": "".join(",".join([key, *(f'"{one}"' for one in row)]) + "\n" for key, row in SUMMARY.items())},
            {**QUEUE, **BATCH, "slowest_op": "Batch", "slowest_share": 0.775},
        ),
        ({"raw_0.csv": RAW}, QUEUE),
        ({"dataset.csv": CALLS}, SLOWEST),
        (
            {"summary_0.json": json.dumps(SUMMARY), "summary_0.csv": "op_ids,7", "raw_0.csv": RAW, "dataset.csv": CALLS},
            {**QUEUE, **BATCH, **SLOWEST},
        ),
        ({"summary_0.json": "{", "raw_0.csv": RAW}, QUEUE),
        ({"summary_0.json": json.dumps({"op_ids": [1], "op_names": ["Batch"], "queue_empty_freq_pct": ["62.5"]})}, QUEUE),
        ({"raw_0.csv": RAW[: RAW.index("2,ImageFolder") + 4]}, QUEUE),
    ],
)
def test_each_file_of_the_pipeline_says_what_it_holds(tmp_path: Path, files: dict[str, str], expected: dict[str, Any]) -> None:
    output = result_of(tmp_path)
    for name, text in files.items():
        (output / (name if name == "dataset.csv" else f"minddata_pipeline_{name}")).write_text(text, encoding="utf-8")
    with open_profile(tmp_path) as profile:
        (found,) = profile.rows("SELECT * EXCLUDE (profile, rank_id) FROM step.input")
    assert {name: value for name, value in found.items() if value is not None} == expected


@pytest.mark.parametrize(
    ("name", "text", "says_what"),
    [
        ("minddata_pipeline_summary_0.json", "", "summary_0.json"),
        ("minddata_pipeline_summary_0.json", "[]", "summary_0.json"),
        ("minddata_pipeline_summary_0.json", '{"op_ids": 1}', "no key 'op_ids'"),
        ("minddata_pipeline_summary_0.json", json.dumps({"op_ids": [[], {}], "op_names": 3}), ""),
        ("minddata_pipeline_raw_0.csv", "a,b\n1,2\n", "no column 'op_id'"),
        ("minddata_pipeline_raw_0.csv", "", "no column 'op_id'"),
        ("minddata_pipeline_raw_0.csv", RAW[: RAW.index(", 3, 4")], "breaks off"),
        ("dataset.csv", "x,y\n1,2\n", "no column 'operation'"),
    ],
)
def test_a_damaged_pipeline_costs_no_answer(tmp_path: Path, name: str, text: str, says_what: str) -> None:
    (result_of(tmp_path) / name).write_text(text, encoding="utf-8")
    with open_profile(tmp_path) as profile:
        build_at_once(profile, "step.input", "step.time")
        assert profile.rows("FROM step.input") == []
        assert len(profile.rows("FROM step.time")) == 1
        said = [one for one in profile.warnings if name in one]
    assert not says_what or says_what in said[0]


def test_the_answers_show_it_and_a_hostile_name_does_nothing(tmp_path: Path, command: Callable[..., Result]) -> None:
    output = result_of(tmp_path)
    text = json.dumps({**SUMMARY, "op_names": ["DeviceQueue", "=cmd()\x1b[31m", "x"]})
    (output / "minddata_pipeline_summary_0.json").write_text(text, encoding="utf-8")
    for question in ("step-time", "free-time"):
        shown = command(question, "-d", tmp_path).stdout
        assert "the queue of =cmd()\\x1b[31m that feeds the device was empty in 62.5% of the samples" in shown
        assert "a batch takes 12.75 ms (pipeline 11.25 ms, push 1.50 ms)" in shown
        assert "\x1b" not in shown


def test_it_alone_is_an_error_that_says_what_it_holds(tmp_path: Path, command: Callable[..., Result]) -> None:
    file = tmp_path / "minddata_pipeline_raw_0.csv"
    file.write_text(RAW, encoding="utf-8")
    result = command("step-time", "-d", file)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (2, says(f"error: {file}: ", "fed the device", "folder around"))
    assert command("step-time", "-d", tmp_path).exit_code == 2


def test_a_result_that_was_never_parsed_names_the_parser_of_mindspore(tmp_path: Path) -> None:
    folder = tmp_path / "job_20260101000000000_ascend_ms"
    (folder / "FRAMEWORK").mkdir(parents=True)
    (rank,) = find_ranks(tmp_path)
    assert rank.left_out == says(f"{folder}: ", "never parsed", "mindspore.profiler.profiler.analyse(")
