"""`stacks`: what the ops that were called from each place in the Python source cost, whatever form the stacks have."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from click.testing import Result

from prof_analysis import InputError, Profile, open_profile
from tests.helpers import kineto
from tests.helpers.api import rows
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Frame, Kernel, Op, Range, edit, write_profile
from tests.sources import test_ascend_text as text

DEEP = ["torch/_ops.py(5): __call__", "net.py(7): forward", "net.py(7): forward", "train.py(3): main"]  # the innermost first
STACKS = {0: DEEP, 2: DEEP[-1:]}  # op -> its stack
OPS = [
    Op("aten::mm", 100, 200, (Kernel("a", 1000, 1100),)),
    Op("aten::empty", 120, 150, (Kernel("b", 1100, 1110),)),  # inside it
    Op("aten::add", 300, 360, (Kernel("c", 1200, 1230),)),
    Op("aten::sub", 600, 620, (Kernel("d", 1300, 1307),)),
]
TIMES = [(98, 230), (95, 240), (90, 250), (50, 500)]
FRAMES = [
    *(Frame(name, *times) for name, times in zip(DEEP, TIMES, strict=True)),
    Frame("nn.Module: Net_0", 92, 245),  # no place in a file
]
UNLINKED = Kernel("e", 1400, 1403)
# frame, reason, launches, own and all time on the device, share, in the backward, own and all time on the host
BY_FRAME = [
    ("train.py(3): main", None, 3, 30, 140, 140 / 150, 0, 60, 160),
    ("net.py(7): forward", None, 2, 0, 110, 110 / 150, 0, 0, 100),
    ("torch/_ops.py(5): __call__", None, 2, 110, 110, 110 / 150, 0, 100, 100),
    (None, "op without stack", 1, 7, 7, 7 / 150, 0, 20, 20),
    (None, "no host launch", 1, 3, 3, 3 / 150, 0, 0, 0),
]
BY_STACK = [
    (";".join(DEEP[::-1]), None, 2, 110, 110 / 150, 0, 2, 100),
    ("train.py(3): main", None, 1, 30, 30 / 150, 0, 1, 60),
    (None, "op without stack", 1, 7, 7 / 150, 0, 1, 20),
    (None, "no host launch", 1, 3, 3 / 150, 0, 0, 0),
]
_CALLCHAINS = "CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER);"


def with_chains(folder: Path, ops: list[Op] = OPS, stacks: dict[int, list[str]] = STACKS) -> None:
    """Write a database with stacks that are recorded with ops, and frames of the tracer, which these make needless."""
    path = write_profile(folder / "a_ascend_pt", ops, unlinked=[UNLINKED], frames=[Frame("other.py(1): f", 0, 10_000)])
    names = dict.fromkeys(frame for stack in stacks.values() for frame in stack)
    texts = {frame: 10_000 + number for number, frame in enumerate(names)}
    sql = _CALLCHAINS + "".join(f"INSERT INTO STRING_IDS VALUES ({text}, '{frame}');" for frame, text in texts.items())
    for op, stack in stacks.items():
        for depth, frame in enumerate(stack):
            sql += f"INSERT INTO PYTORCH_CALLCHAINS VALUES ({op}, {texts[frame]}, {depth});"
        sql += f"UPDATE PYTORCH_API SET callchainId = {op} WHERE startNs = '{ops[op].start}' AND type = 50001;"
    edit(path, sql)


def with_frames(folder: Path) -> None:
    write_profile(folder / "a_ascend_pt", OPS, unlinked=[UNLINKED], frames=FRAMES)


def trace_of(folder: Path, extra: list[str], stacks: dict[int, list[str]]) -> None:
    events = list(extra)
    for number, one in enumerate(OPS):
        arguments = {"Call stack": ";".join(stacks[number])} if number in stacks else {}
        events.append(kineto.op(one.name, one.start, one.end, number + 1, arguments=arguments))
        # Of one op inside another, each launch lies in its own.
        at = one.end - 5
        events.append(kineto.launch(at, at + 2, number + 1, number + 1))
        events += [kineto.kernel(k.name, k.start, k.end, number + 1) for k in one.kernels]
    events.append(kineto.kernel(UNLINKED.name, UNLINKED.start, UNLINKED.end, 99))
    kineto.write_trace(folder / "trace.json", events)


def with_stacks_of_2022(folder: Path) -> None:
    trace_of(folder, [], STACKS)


def with_python_functions(folder: Path) -> None:
    trace_of(folder, [kineto.event("python_function", one.name, one.start, one.end) for one in FRAMES], {})


def with_stacks_in_text(folder: Path) -> None:
    """A trace_view.json, whose stacks are separated by ';' and line ends."""
    events = []
    for number, one in enumerate(OPS):
        event = text.op(one.name, one.start, one.end)
        event["args"] |= {"Call stack": ";\r\n".join(STACKS[number]) + ";"} if number in STACKS else {}
        events.append(event)
        for kernel in one.kernels:
            events += [*text.flow(one.start, kernel.start), text.task(kernel.name, kernel.start, kernel.end, number + 10)]
    events.append(text.task(UNLINKED.name, UNLINKED.start, UNLINKED.end, 99))
    output = folder / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")


FORMS = [with_chains, with_frames, with_stacks_of_2022, with_python_functions, with_stacks_in_text]


def found(profile: Profile, by: Literal["frame", "stack"]) -> list[tuple[object, ...]]:
    edge = "cut at the profile edge"  # What a trace says of a kernel whose launch it lacks.
    table = rows(arrow_of(profile.stacks(by)))
    return [tuple("no host launch" if cell == edge else cell for cell in row[2:]) for row in table]


@pytest.mark.parametrize("write", [with_chains, with_stacks_of_2022, with_stacks_in_text])
def test_each_form_gives_the_same_stacks(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path)
    with open_profile(tmp_path) as profile:
        stacks = """
            SELECT name, list(frame ORDER BY depth) AS frames FROM trace.op_stack
            JOIN trace.op USING (op_id) JOIN trace.stack_frame USING (stack_id) GROUP BY ALL ORDER BY ALL
        """
        found = rows(profile.sql(stacks, arrow=True))
    assert found == [(OPS[op].name, STACKS[op]) for op in (2, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("write", quick(FORMS, 1))
def test_time_by_frame_and_by_stack_adds_up_to_all_kernels(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path)
    with open_profile(tmp_path) as profile:
        assert found(profile, "frame") == BY_FRAME
        assert found(profile, "stack") == BY_STACK
        assert rows(arrow_of(profile.stacks(across_ranks=True))) == [row[2:] for row in rows(arrow_of(profile.stacks()))]
    with open_profile(tmp_path, user_code=True) as profile:
        assert found(profile, "frame") == [
            BY_FRAME[0],
            ("net.py(7): forward", None, 2, 110, 110, 110 / 150, 0, 100, 100),
            *BY_FRAME[3:],
        ]
    with open_profile(tmp_path, under="NET.py") as profile:
        assert found(profile, "frame") == BY_FRAME[1:3]
        assert found(profile, "stack") == [(";".join(DEEP[2::-1]), *BY_STACK[0][1:])]


def test_chains_of_the_same_frames_are_one_stack_and_others_are_not(tmp_path: Path) -> None:
    with_chains(tmp_path, stacks={0: DEEP, 2: DEEP, 3: DEEP[::-1]})
    with open_profile(tmp_path) as profile:
        stacks = [row[0] for row in rows(profile.sql("SELECT stack_id FROM trace.op_stack ORDER BY op_id", arrow=True))]
        frames = rows(profile.sql("SELECT stack_id, frame FROM trace.stack_frame ORDER BY stack_id, depth", arrow=True))
    assert stacks == [0, 0, 3]
    assert frames == [*((0, frame) for frame in DEEP), *((3, frame) for frame in DEEP[::-1])]


@pytest.mark.slow
def test_a_backward_op_has_the_stack_of_its_forward_op(tmp_path: Path) -> None:
    ops = [
        Op("aten::mm", 100, 200, (Kernel("a", 1000, 1100),), sequence_number=7),
        Op("MmBackward0", 400, 500, (), tid=2, backward_of=0, sequence_number=7),
        Op("aten::mm", 410, 480, (Kernel("b", 1100, 1150),), tid=2),
    ]
    with_chains(tmp_path, ops, {0: DEEP[-1:]})
    with open_profile(tmp_path) as profile:
        assert found(profile, "frame") == [
            ("train.py(3): main", None, 2, 150, 150, 150 / 153, 50, 200, 200),
            (None, "no host launch", 1, 3, 3, 3 / 153, 0, 0, 0),
        ]


@pytest.mark.slow
def test_a_module_has_the_stacks_of_its_forward_and_backward(tmp_path: Path, command: Callable[..., Result]) -> None:
    backward = [
        Op("MmBackward0", 700, 800, (), tid=2, backward_of=0, sequence_number=7),
        Op("aten::mm", 710, 780, (Kernel("f", 1500, 1550),), tid=2),
    ]
    ranges = [Range("Net", 90, 650), Range("Layer", 95, 250)]
    ops = [replace(OPS[0], sequence_number=7), *OPS[1:], *backward]
    write_profile(tmp_path / "a_ascend_pt", ops, ranges, unlinked=[UNLINKED], frames=FRAMES)
    with open_profile(tmp_path, module="Net/Layer") as profile:
        assert found(profile, "stack") == [(";".join(DEEP[::-1]), None, 3, 160, 160 / 200, 50, 4, 200)]
    with open_profile(tmp_path, module="Net") as profile:
        assert [row[:4] for row in found(profile, "stack")] == [
            (";".join(DEEP[::-1]), None, 3, 160),
            ("train.py(3): main", None, 1, 30),
            (None, "op without stack", 1, 7),
        ]
    result = command("stacks", "-d", tmp_path, "--module", "Lay")
    assert (result.exit_code, result.stderr) == (2, says("error: ", "no module Lay", "module-stats"))


def test_stacks_of_a_module_need_modules(tmp_path: Path) -> None:
    with_frames(tmp_path)
    with open_profile(tmp_path, module="Net", module_source="mstx") as profile, pytest.raises(InputError, match="no rank can"):
        profile.stacks()


@pytest.mark.slow
def test_addresses_of_objects_make_no_stacks_of_their_own(tmp_path: Path) -> None:
    ops = [Op("aten::mm", at, at + 10, (Kernel("a", at + 1000, at + 1010),)) for at in (100, 200)]
    frames = [Frame(f"<built-in method mm of Tensor object at 0x7f{at}>", at - 10, at + 20) for at in (100, 200)]
    frames.append(Frame("train.py(3): main", 0, 900))
    write_profile(tmp_path / "a_ascend_pt", ops, frames=frames)
    with open_profile(tmp_path) as profile:
        assert found(profile, "stack") == [("train.py(3): main;<built-in method mm of Tensor>", None, 2, 20, 1.0, 0, 2, 20)]


@pytest.mark.slow
def test_a_step_has_its_own_kernels_and_ops(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "a_ascend_pt", OPS, frames=FRAMES, steps=[(1, 0, 250), (2, 250, 1000)])
    assert path.exists()
    with open_profile(tmp_path, step_id=2) as profile:
        assert [row[:4] for row in found(profile, "stack")] == [
            ("train.py(3): main", None, 1, 30),
            (None, "op without stack", 1, 7),
        ]


def test_a_rank_without_stacks_says_what_to_collect(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    result = command("stacks", "-d", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == says(f"error: {tmp_path}: ", "no rank can answer", "no Python stacks", "with_stack=True")


def test_the_screen_says_what_has_no_stack(tmp_path: Path, command: Callable[..., Result]) -> None:
    with_chains(tmp_path)
    result = command("stacks", "-d", tmp_path, "--under", "forward", "--by", "stack")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "net.py(7): forward > net.py(7): forward > torch/_ops.py(5): __call__" in result.stdout
    assert says("1 stack", "kernels of 110 ns", "of 150 ns in all (73.3%)", "1 rank") in result.stdout.splitlines()


@pytest.mark.slow
def test_a_place_that_no_stack_has_is_no_failure(tmp_path: Path, command: Callable[..., Result]) -> None:
    with_frames(tmp_path)
    result = command("stacks", "-d", tmp_path, "--under", "'; DROP")
    assert (result.exit_code, result.stderr) == (0, "")
    assert says("0 stacks", "kernels of 0 ns", "of 150 ns in all (0.0%)", "1 rank") in result.stdout.splitlines()


@pytest.mark.parametrize("form", ["db", "text"])
@pytest.mark.slow
def test_all_kernel_time_of_alexnet_is_in_one_row_each(realdata: Path, form: str) -> None:
    """Of 860 ops, 316 have a stack of their own, 36 different ones."""
    with open_profile(realdata / "alexnet_ddp_910b" / form / "level1" / "rank0_ascend_pt") as profile:
        recorded = profile.sql("SELECT count(*), count(DISTINCT stack_id) FROM trace.op_stack", arrow=True)
        frames = profile.sql("SELECT count(*) FROM trace.stack_frame", arrow=True)
        totals = profile.sql(
            "SELECT (SELECT sum(device_ns) FROM stack.by_stack), (SELECT sum(device_self_ns) FROM stack.by_frame), "
            "(SELECT sum(duration_ns) FROM trace.kernel)",
            arrow=True,
        )
        hosts = profile.sql(
            "SELECT (SELECT sum(host_ns) FROM stack.by_stack), (SELECT sum(host_self_ns) FROM stack.by_frame), "
            "(SELECT sum(host_self_ns) FROM op.cost JOIN trace.op USING (profile, op_id) WHERE NOT is_step)",
            arrow=True,
        )
    assert rows(recorded) == [(316, 36)]
    assert rows(frames)[0][0] == 469
    assert len(set(rows(totals)[0])) == 1
    assert len(set(rows(hosts)[0])) == 1
