"""One question has one answer: all commands that say a figure say the same one, to the nanosecond."""

import gzip
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, Profile, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answering import answer_of
from prof_analysis.analyses.comparison import answers_of
from prof_analysis.profile.asking import ask
from prof_analysis.profile.comparison import Comparison
from tests.helpers.asking import build_at_once
from tests.helpers.places import SAMPLE
from tests.helpers.says import says

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")

Facts = Mapping[str, Mapping[str, Any]]
ALL = 1_000_000
COMMANDS = (
    *("step-time", "advise", "free-time", "kernel-stats", "module-stats", "op-stats", "mfu", "layer-stats"),
    *("communication-stats", "communication-time", "slow-ranks"),
)
# Those that answer in the quick suite; the others, and the comparison, take seconds.
QUICK_COMMANDS = ("step-time", "free-time", "kernel-stats", "module-stats", "communication-stats")
# Real profiles in ../shared/realdata.
QUICK = ("alexnet_ddp_910b/db/level1", "gpu_kineto/h100/gaunernst_bert-small-uncased__1016001.json.gz")
REAL = (
    *("alexnet_ddp_910b/db/level0", "alexnet_ddp_910b/text/level0", "alexnet_ddp_910b/text/level1", "alexnet_ddp_910b_mstx"),
    *("alexnet_ddp_910a/text/level1", "qwen3_0.6b_pp2dp2_910b", "glm5_1_vllm_a3", "trace_alone_2023"),
    *("qwen3_32b_vllm_a3/qwen3-32b_pf_4112tok.csv", "qwen3_32b_vllm_a3/qwen3-32b_dc_16tok.csv"),
    *("dsv3_vllm_a3/dsv3_pf_4099tok.csv", "dsv3_vllm_a3/dsv3_dc_1tok.csv"),
    *("gpu_kineto/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "gpu_kineto/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"),
    *("gpu_kineto/mi300/gaunernst_bert-small-uncased__1016001.json.gz", "gpu_kineto/mi300/resnet_act_checkpoint.json.gz"),
    *("gpu_kineto/mi300/normalization_layer_test.json.gz", "gpu_kineto/mi300_vllm"),
    *("serving/sglang_prefilldecode", "serving/sglang_decode", "serving/vllm_prefilldecode_piecewise/graph_execution.json.gz"),
    *("gpu_more/torch_compile_old_nccl", "gpu_more/rocm_external_id", "gpu_more/resnet50_2021"),
)


def sum_of(rows: Any, *columns: str) -> int:
    return sum(row[column] or 0 for row in rows for column in columns)


def steps_of(facts: Facts) -> list[Mapping[str, Any]]:
    """The whole steps of step-time; the whole recording where there are none."""
    return [row for row in facts["step-time"]["longest_steps"] if row["stage_ns"] is not None]


def of_comparison(facts: Facts, figure: str) -> int | None:
    rows = {row["figure"]: row for row in facts["compare"]["summary"]}
    return rows[figure]["base_sum"] if figure in rows else None


def per_step(facts: Facts) -> bool:
    return bool(facts["compare"]["size"]["base_unit_kind"] == "step")


def kind_total(facts: Facts, *kinds: str) -> tuple[int, int]:
    rows = [row for row in facts["kernel-stats"]["kinds"] if row["kind"] in kinds]
    return sum_of(rows, "kernel_count"), sum_of(rows, "total_ns")


def kinds(rows: Any, time: str) -> dict[str, tuple[int, int]]:
    """Number and time of the kernels of each kind."""
    of_kind = {kind: [row for row in rows if row["kind"] == kind] for kind in sorted({row["kind"] for row in rows})}
    return {kind: (sum_of(found, "kernel_count"), sum_of(found, time)) for kind, found in of_kind.items()}


def mean_of_ranks(facts: Facts, *columns: str) -> dict[str, int]:
    """The mean of a step on each rank, rounded as the tables round it."""
    ranks: dict[str, list[Mapping[str, Any]]] = {}
    for row in steps_of(facts):
        ranks.setdefault(row["profile"], []).append(row)
    return {profile: round(sum_of(rows, *columns) / len(rows)) for profile, rows in ranks.items()}


COMPUTE = ("compute",)
DEVICE = ("compute", "communication", "copy")
# A question -> what says it -> the command whose facts that needs, and the figure in them; None is no answer.
QUESTIONS: Mapping[str, Mapping[str, Callable[[Facts], Any]]] = {
    "steps": {
        "step-time, rows": lambda facts: len({row["step_id"] for row in steps_of(facts)} - {None}),
        "step-time, durations": lambda facts: facts["step-time"]["durations"]["step_count"],
        "advise": lambda facts: facts["advise"]["step_count"],
        "compare": lambda facts: facts["compare"]["size"]["base_distinct_count"] if per_step(facts) else None,
    },
    "steps of all ranks": {
        "step-time, durations": lambda facts: facts["step-time"]["durations"]["rank_step_count"] or None,
        "advise": lambda facts: (
            sum_of(facts["advise"]["steps_of_ranks"], "step_count") if facts["advise"]["has_steps"] else None
        ),
        "compare": lambda facts: facts["compare"]["size"]["base_unit_count"] if per_step(facts) else None,
    },
    "ranks with steps": {
        "step-time": lambda facts: len({row["profile"] for row in steps_of(facts)}),
        "advise": lambda facts: facts["advise"]["ranks"],
        "slow-ranks": lambda facts: sum(row["step_ns"] is not None for row in facts["slow-ranks"]["evidence"]),
    },
    "time of the steps": {
        "step-time, rows": lambda facts: sum_of(steps_of(facts), "stage_ns", "bubble_ns"),
        "step-time, all": lambda facts: sum_of([facts["step-time"]["all"]], "stage_ns", "bubble_ns"),
        # An idle edge of a recording without steps is no part of a step, and is said beside it.
        "step-time, ranks": lambda facts: sum_of(facts["step-time"]["steps_of_ranks"], "step_ns", "edge_ns"),
        "advise": lambda facts: sum_of(facts["advise"]["steps_of_ranks"], "step_ns", "edge_ns"),
        "compare": lambda facts: of_comparison(facts, "step time") if per_step(facts) else None,
    },
    "idle time between steps": {
        "step-time": lambda facts: sum_of(steps_of(facts), "idle_before_ns"),
        "advise": lambda facts: sum_of(facts["advise"]["steps_of_ranks"], "between_ns"),
        "free.cause_of_op": lambda facts: facts["tables"]["between_ns"],
    },
    "mean step of each rank": {
        "step-time": lambda facts: mean_of_ranks(facts, "stage_ns", "bubble_ns"),
        "slow-ranks": lambda facts: {
            row["profile"]: row["step_ns"] for row in facts["slow-ranks"]["evidence"] if row["step_ns"] is not None
        },
    },
    "computing in steps": {
        "step-time, rows": lambda facts: sum_of(steps_of(facts), "computing_ns"),
        "step-time, all": lambda facts: facts["step-time"]["all"]["computing_ns"] or 0,
        "compare": lambda facts: of_comparison(facts, "computing") if per_step(facts) else None,
    },
    "exposed communication in steps": {
        "step-time, all": lambda facts: facts["step-time"]["all"]["communication_not_overlapped_ns"] or 0,
        "compare": lambda facts: of_comparison(facts, "exposed communication") if per_step(facts) else None,
    },
    "idle time in steps": {
        "step-time, all": lambda facts: facts["step-time"]["all"]["free_ns"] or 0,
        "free-time": lambda facts: sum_of(facts["free-time"]["causes"], "total_ns"),
        "compare": lambda facts: of_comparison(facts, "idle") if per_step(facts) else None,
    },
    # Of operators in steps alone, and with what each step waits rounded.
    "waiting for other ranks, in us of a step": {
        "communication-time": lambda facts: (
            (facts["communication-time"]["all"]["waiting_ns"] or 0) // 1000
            if not facts["step-time"]["kernels_of_no_step"]
            else None
        ),
        "slow-ranks": lambda facts: (
            sum(
                ((row["collective_wait_ns"] or 0) + (row["p2p_wait_ns"] or 0)) * row["step_count"]
                for row in facts["slow-ranks"]["evidence"]
            )
            // 1000
            if facts["communication-time"]["all"]["unknown_ns"] == 0
            and all(row["step_count"] for row in facts["slow-ranks"]["evidence"])
            else None
        ),
    },
    "kernels by kind, with their time": {
        "kernel-stats": lambda facts: kinds(facts["kernel-stats"]["kinds"], "total_ns"),
        "module-stats": lambda facts: kinds(facts["module-stats"]["coverage"], "kernel_duration_ns"),
    },
    "kernels": {
        "kernel-stats": lambda facts: kind_total(facts, *DEVICE)[0],
        "step-time": lambda facts: sum_of(steps_of(facts), "kernel_count") + facts["step-time"]["kernels_of_no_step"],
    },
    "kernels of no step": {
        "step-time, rows": lambda facts: sum_of(
            (row for row in facts["step-time"]["longest_steps"] if row["stage_ns"] is None), "kernel_count"
        ),
        "step-time": lambda facts: facts["step-time"]["kernels_of_no_step"],
        "compare": lambda facts: of_comparison(facts, "kernels outside") or 0 if per_step(facts) else None,
    },
    "kernels of steps": {
        "step-time": lambda facts: sum_of(steps_of(facts), "kernel_count"),
        "compare": lambda facts: of_comparison(facts, "kernels") or 0 if per_step(facts) else None,
    },
    "kernel time": {
        "kernel-stats": lambda facts: kind_total(facts, *DEVICE, "schedule")[1],
        "op-stats": lambda facts: facts["op-stats"]["all_kernels_ns"],
    },
    # What helps to start communication runs beside it, and is no work of the model.
    "kernel time, without schedule": {
        "kernel-stats": lambda facts: kind_total(facts, *DEVICE)[1],
        "compare": lambda facts: (
            (of_comparison(facts, "kernel time") or 0) + (of_comparison(facts, "kernel time outside") or 0)
        ),
    },
    "compute kernels, with their time": {
        "kernel-stats": lambda facts: kind_total(facts, *COMPUTE),
        "mfu": lambda facts: (facts["mfu"]["all"]["kernel_count"], facts["mfu"]["all"]["duration_ns"]),
    },
    "time of compute kernels": {
        "kernel-stats": lambda facts: kind_total(facts, *COMPUTE)[1],
        "layer-stats": lambda facts: sum(facts["layer-stats"]["all"].values()),
    },
    "collectives, with their time": {
        "kernel-stats": lambda facts: kind_total(facts, "communication"),
        "communication-stats": lambda facts: (
            facts["communication-stats"]["op_count"] - facts["communication-stats"]["operators_of_profiler"],
            sum(row["total_ns"] for row in facts["tables"]["collectives"]),
        ),
    },
    "all collectives, with their time": {
        "communication-stats": lambda facts: (
            facts["communication-stats"]["op_count"],
            facts["communication-stats"]["total_ns"],
        ),
        "communication-time": lambda facts: (
            facts["communication-time"]["all"]["op_count"],
            facts["communication-time"]["all"]["elapse_ns"],
        ),
    },
    "what a share of compute is of": {
        "kernel-stats": lambda facts: whole_of(
            (row for row in facts["kernel-stats"]["heaviest_kernels"] if row["kind"] == "compute"), "total_ns", "share"
        ),
        "module-stats": lambda facts: whole_of(facts["module-stats"]["heaviest_modules"], "computing_ns", "computing_share"),
        "module-stats, costs": lambda facts: whole_of(
            (row for row in facts["module-stats"]["heaviest_costs"] if row["kind"] == "compute"), "duration_ns", "share"
        ),
    },
}


def whole_of(rows: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]], time: str, share: str) -> int | None:
    """What the largest share of rows is a share of."""
    largest = max(rows, key=lambda row: row[time] or 0, default=None)
    return round(largest[time] / largest[share]) if largest and largest[share] else None


def facts_of(profile: Profile, commands: tuple[str, ...]) -> dict[str, Mapping[str, Any]]:
    """The facts of commands that answer, and what no command says."""
    answers = {command for rank in profile.ranks(arrow=True).to_pylist() for command in (*rank["answers"], *rank["may_answer"])}
    facts: dict[str, Mapping[str, Any]] = {}
    asked = [command for command in commands if command in answers]
    build_at_once(profile, *asked)
    for command in asked:
        try:
            ask(profile._session, ANALYSES[command])
        except InputError:  # It may answer, and finds out that it cannot.
            continue
        facts[command] = answer_of(profile, command, ALL).facts
    tables = {"collectives": profile.rows("FROM communication.statistic WHERE origin::VARCHAR = 'kernels'")}
    if "free-time" in facts:
        (between,) = profile.rows(
            "SELECT coalesce(sum(total_ns), 0)::BIGINT AS between_ns FROM free.cause_of_op WHERE is_between_steps"
        )
        tables |= between
    facts["tables"] = tables
    return facts


def facts_of_comparison(path: Path) -> dict[str, Mapping[str, Any]]:
    """The facts of a comparison of a profile with itself; none where nothing in it can be compared."""
    try:
        with Comparison({"base": path, "new": path}) as comparison:
            return {"compare": answers_of(comparison, ALL)[""].facts}
    except InputError:
        return {}


def contradictions(facts: Facts) -> dict[str, dict[str, Any]]:
    """Return the questions that have several answers, with these."""
    found = {}
    for question, places in QUESTIONS.items():
        said = {}
        for place, figure in places.items():
            try:
                said[place] = figure(facts)
            except KeyError:  # The command cannot answer.
                continue
        known = [figure for figure in said.values() if figure is not None]
        if any(figure != known[0] for figure in known):
            found[question] = said
    return found


def check(path: Path, commands: tuple[str, ...] = COMMANDS) -> None:
    with open_profile(path) as profile:
        facts = facts_of(profile, commands)
    if commands == COMMANDS:
        facts |= facts_of_comparison(path)
    assert "step-time" in facts
    assert contradictions(facts) == {}


@pytest.mark.parametrize("commands", [QUICK_COMMANDS, pytest.param(COMMANDS, marks=pytest.mark.slow)], ids=["some", "all"])
def test_commands_say_the_same_of_the_sample(commands: tuple[str, ...]) -> None:
    check(SAMPLE / "decoder_training", commands)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_commands_say_the_same_of_a_small_real_profile(realdata: Path, name: str) -> None:
    check(realdata / name, QUICK_COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", (*QUICK, *REAL))
def test_all_commands_say_the_same_of_a_real_profile(realdata: Path, tmp_path: Path, name: str) -> None:
    path = realdata / name
    if path.suffix == ".csv":
        path = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        path.parent.mkdir(parents=True)
        shutil.copy(realdata / name, path)
        path = tmp_path
    check(path)


def launched_in_steps(trace: Path) -> dict[str, list[int]]:
    """Number and time of what the device ran: launched within a step on the host, and not; of the raw trace alone."""
    with gzip.open(trace) as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
    steps = [
        (event["ts"], event["ts"] + event["dur"])
        for event in events
        if event.get("cat") == "user_annotation" and event["name"].startswith("ProfilerStep#")
    ]
    calls = {
        event["args"]["correlation"]: event["ts"]
        for event in events
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in event.get("args", {})
    }
    found = {"in": [0, 0], "outside": [0, 0]}
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            asked = calls.get(event["args"].get("correlation"))
            is_in = asked is not None and any(start <= asked < end for start, end in steps)
            count = found["in" if is_in else "outside"]
            count[0] += 1
            count[1] += round(event["dur"] * 1000)
    return found


H100 = "gpu_kineto/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"


@pytest.mark.slow
def test_a_step_of_the_h100_has_what_the_host_launched_in_it(realdata: Path) -> None:
    """A step took 47.15 ms for advise and 34.89 for step-time, and had 1,707 kernels for compare: 509 belong to no step."""
    counted = launched_in_steps(realdata / H100)
    assert counted == {"in": [1198, 31_905_473], "outside": [509, 13_741_827]}
    with open_profile(realdata / H100) as profile:
        build_at_once(profile, "across.rank_step")
        steps = profile.rows("SELECT step_id, kernel_count FROM step.time")
        (rank,) = profile.rows("FROM across.rank_step")
    assert [tuple(row.values()) for row in steps] == [(6, 1198), (None, 509)]
    assert (rank["step_count"], rank["duration_ns"], rank["host_ns"]) == (1, 34_892_419, 47_151_395)
    with open_profile(realdata / H100, step_id=6) as profile:
        of_kinds = profile.rows("SELECT sum(kernel_count)::BIGINT, sum(total_ns)::BIGINT FROM kernels.statistic")
    assert [list(row.values()) for row in of_kinds] == [counted["in"]]


@pytest.mark.slow
def test_advise_and_compare_count_the_same_step_of_the_h100(realdata: Path, command: Callable[..., Result]) -> None:
    with open_profile(realdata / H100) as profile:
        findings = answer_of(profile, "advise", ALL).facts["findings"]
    assert findings
    assert all(row["win_share"] == pytest.approx(row["win_ns_per_step"] / 34_892_419) for row in findings if row["win_share"])
    shown = command("compare", realdata / H100, realdata / H100).stdout
    assert "per step: kernels 1,198, launches 1,198" in shown
    assert says("of no step", "509 kernels, 13.74 ms") in shown.splitlines()
