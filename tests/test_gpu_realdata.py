"""Real traces of torch.profiler on H100 and MI300X: every ns of them, and the figures that TraceLens has for them."""

import csv
import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of

SLOW = pytest.mark.slow
# Trace -> the folder with the figures of TraceLens, and whether it leaves out memsets: those of AMD, which have no flow.
TRACES = [
    pytest.param("h100/gaunernst_bert-small-uncased__1016001", "h100_bert", False, id="bert on H100"),
    pytest.param("mi300/normalization_layer_test", "mi300_normalization", True, id="normalization on MI300X"),
    pytest.param("h100/Qwen_Qwen1.5-0.5B-Chat__1016005", "h100_qwen1.5", False, id="Qwen on H100", marks=SLOW),
    pytest.param("mi300/gaunernst_bert-small-uncased__1016001", "mi300_bert", True, id="bert on MI300X", marks=SLOW),
    pytest.param("mi300/Qwen_Qwen1.5-0.5B-Chat__1016005", "mi300_qwen1.5", True, id="Qwen on MI300X", marks=SLOW),
    pytest.param("mi300/resnet_act_checkpoint", "mi300_resnet_act_checkpoint", True, id="ResNet on MI300X", marks=SLOW),
    pytest.param("mi300_vllm/piecewise_graph_execution", "mi300_vllm_piecewise", True, id="vLLM on MI300X", marks=SLOW),
]
# TraceLens counts what was launched in the recording, and memsets as computation.
COVERED = """
    WITH part AS (
        SELECT CASE WHEN starts_with(name, 'Memset') THEN 'compute' ELSE kind::VARCHAR END AS what, start_ns, end_ns
        FROM trace.kernel
        WHERE launch_id IN (SELECT launch_id FROM trace.launch) AND NOT (starts_with(name, 'Memset') AND {leaves_out_sets})
    ),
    measured AS (FROM part UNION ALL SELECT 'busy', start_ns, end_ns FROM part),
    added AS (
        SELECT what, greatest(0, end_ns - greatest(start_ns, coalesce(max(end_ns) OVER before, start_ns))) AS added_ns
        FROM measured
        WINDOW before AS (PARTITION BY what ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    )
    SELECT what, sum(added_ns)::BIGINT AS covered_ns FROM added GROUP BY what
"""


@pytest.mark.parametrize(("name", "expected", "leaves_out_sets"), TRACES)
def test_every_ns_is_there_and_busy_times_are_those_of_tracelens(
    name: str, expected: str, leaves_out_sets: bool, realdata: Path
) -> None:
    trace = realdata / "gpu_kineto" / f"{name}.json.gz"
    work = [
        Decimal(one["dur"])
        for one in json.loads(gzip.decompress(trace.read_bytes()), parse_float=str, parse_int=str)["traceEvents"]
        if one.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
    ]
    with (realdata / "gpu_kineto" / "expected" / expected / "gpu_timeline.csv").open() as file:
        timeline = [(row["type"], float(row["time ms"])) for row in csv.DictReader(file)]
    with open_profile(trace) as profile:
        coverage = arrow_of(profile.coverage()).to_pylist()
        covered = profile.sql(COVERED.format(leaves_out_sets=leaves_out_sets), arrow=True).to_pylist()
        # No capture lies beside the graphs of vLLM.
        assert [one for one in profile.warnings if "give a recording of the capture" not in one] == []
    assert sum(row["kernel_count"] for row in coverage) == len(work)
    assert sum(row["kernel_duration_ns"] for row in coverage) == sum(work) * 1000
    ours = {row["what"]: row["covered_ns"] / 1e6 for row in covered}
    # Recomputation has rows of its own there; it runs while nothing else does.
    theirs = {what: sum(time for kind, time in timeline if kind == what) for what, _ in timeline}
    assert ours["compute"] == pytest.approx(theirs["computation_time"], abs=0.001)
    assert ours.get("communication", 0) == pytest.approx(theirs["total_comm_time"], abs=0.001)
    assert ours.get("copy", 0) == pytest.approx(theirs["total_memcpy_time"], abs=0.001)


@pytest.mark.slow
def test_compute_launched_in_the_recording_lies_in_modules(realdata: Path) -> None:
    """All of it but gradient hooks and 0.1 %: forward, recomputation, and backward through sequence numbers."""
    with open_profile(realdata / "gpu_kineto" / "mi300" / "resnet_act_checkpoint.json.gz") as profile:
        rows = profile.sql(
            "SELECT coalesce(reason, 'inside') AS place, sum(duration_ns)::BIGINT AS total_ns FROM module.kernel "
            "WHERE kind = 'compute' GROUP BY place",
            arrow=True,
        ).to_pylist()
    total = {row["place"]: row["total_ns"] for row in rows}
    launched = sum(total.values()) - total["cut at the profile edge"] - total["gradient hooks"]
    assert total.keys() == {"inside", "cut at the profile edge", "gradient hooks", "outside every module"}
    assert total["inside"] / launched > 0.98


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected", "leaves_out_sets"), TRACES)
def test_commands_answer_what_ranks_says_they_answer(name: str, expected: str, leaves_out_sets: bool, realdata: Path) -> None:
    del expected, leaves_out_sets
    with open_profile(realdata / "gpu_kineto" / f"{name}.json.gz") as profile:
        (answers,) = profile.ranks()["answers"]
        for command in answers:
            getattr(profile, command.replace("-", "_"))()


@pytest.mark.slow
def test_collectives_have_the_times_and_bytes_that_tracelens_reports(realdata: Path) -> None:
    expected = realdata / "gpu_kineto" / "expected" / "mi300_resnet_act_checkpoint" / "coll_analysis.csv"
    with expected.open() as file:
        theirs = [
            (row["Collective name"], float(row["In msg size (MB)_first"]), int(row["operation_count"]), float(row["dur_sum"]))
            for row in csv.DictReader(file)
        ]
    with open_profile(realdata / "gpu_kineto" / "mi300" / "resnet_act_checkpoint.json.gz") as profile:
        ours = profile.sql(
            "SELECT operation, size_bytes / 1048576, count(*), sum(duration_ns) / 1000 FROM trace.communication "
            "JOIN trace.kernel USING (profile, kernel_id) WHERE size_bytes > 0 GROUP BY ALL ORDER BY 4 DESC"
        ).to_numpy()
        (reduced, *_) = arrow_of(profile.communication_stats()).to_pylist()
    assert [tuple(row) for row in ours] == [pytest.approx(row) for row in theirs]
    total_bytes = sum(size * count for name, size, count, _ in theirs if name == "allreduce") * 1048576
    total_ns = sum(time for name, _, _, time in theirs if name == "allreduce") * 1000
    assert reduced["algorithm_gb_s"] == pytest.approx(total_bytes / total_ns)
    assert reduced["bus_gb_s"] == pytest.approx(total_bytes / total_ns * 2 * 7 / 8)
