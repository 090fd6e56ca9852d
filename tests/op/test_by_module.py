"""Time of modules on the host: from a trace without kernels, and that it is what such a trace is told to ask."""

from pathlib import Path

import pytest

from prof_analysis import InputError, open_profile
from tests.helpers.kineto import event, module, op, write_trace
from tests.helpers.says import says


def events_of_step(number: int) -> list[str]:
    """Net takes 5,000 ns, 2,000 of them in Linear and 500 in ReLU."""
    at, python_id = 1000 + number * 10_000, number * 10
    return [
        event("user_annotation", f"ProfilerStep#{number}", at - 100, at + 9000),
        module("Net_0", at, at + 5000, number=python_id + 1),
        module("Linear_0", at + 100, at + 2100, number=python_id + 2),
        op("aten::linear", at + 200, at + 2000, python_id + 1),
        op("aten::addmm", at + 300, at + 1900, python_id + 2),
        module("ReLU_0", at + 2200, at + 2700, number=python_id + 3),
        op("aten::relu", at + 2300, at + 2600, python_id + 3),
    ]


def test_a_trace_of_the_host_alone_says_which_modules_take_its_time(tmp_path: Path) -> None:
    write_trace(tmp_path / "rank0.json", [*events_of_step(0), *events_of_step(1)])
    with open_profile(tmp_path / "rank0.json") as profile:
        rows = profile.op_stats(by="module", across_ranks=True).to_dict("records")
        columns = ("parent_module", "module", "own_host_ns", "host_ns", "calls", "host_per_step_ns", "op_count")
        assert [tuple(row[column] for column in columns) for row in rows] == [
            ("", "Net", 5000, 10_000, 2, 5000, 6),
            ("Net", "Linear", 4000, 4000, 2, 2000, 4),
            ("Net", "ReLU", 1000, 1000, 2, 500, 2),
        ]
        # Not 0: nothing of the device is recorded.
        assert profile.rows("SELECT count(launches) AS known FROM module.host_time") == [{"known": 0}]
        for question in (profile.module_stats, profile.advise, profile.step_time):
            with pytest.raises(InputError, match=r"no kernels; .*op-stats .*rank0.json --by module$"):
                question()
        with pytest.raises(InputError) as error:
            profile.memory()
        assert "--by module" not in str(error.value), "it lacks other records"


def test_a_trace_without_modules_is_told_to_ask_for_ops(tmp_path: Path) -> None:
    write_trace(tmp_path / "rank0.json", [op("aten::linear", 200, 2000, 1)])
    with open_profile(tmp_path / "rank0.json") as profile, pytest.raises(InputError) as error:
        profile.advise()
    assert str(error.value) == says("no kernels", "host time of ops: prof-analysis op-stats", str(tmp_path))
