"""Texts of a snapshot: --anonymize replaces what identifies people, and names that an enemy wrote are text."""

import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

from prof_analysis import open_profile
from prof_analysis.analyses.answering import answer_of
from prof_analysis.cli import terminal
from prof_analysis.common.visible import visible_json
from tests.helpers.asking import build_levels
from tests.helpers.hostile import NAMES
from tests.helpers.kineto import memory, op, write_trace
from tests.helpers.secrets import CODE, FUNCTION, HOME, HOST, TEXTS, leaks
from tests.helpers.snapshots import BASE_US, MIB, Allocator, Frame, native, python, snapshot, write

# So that rules find something in a few MiB.
SMALL = {f"{rule}_gib": 0 for rule in ("largest_holders.least_held", "inactive_split.least_split")}
LEVELS = ("peak", "site", "stack", "native", "growth", "segment", "failure", "block")
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def with_texts(file: Path, stacks: list[list[Frame]], names: list[str]) -> Path:
    """Write a snapshot with these stacks, each of a block, and ranges of these names."""
    device = Allocator()
    device.segment(0, 200 * MIB)
    for number, frames in enumerate(stacks):
        device.alloc(number * MIB, MIB, frames)
    device.oom(MIB, 5, stacks[0])
    marks = [("START", name, number) for number, name in enumerate(names)]
    assert device.time_us > BASE_US
    return write(file, snapshot(device, marks=marks))


def test_no_answer_and_no_file_has_a_secret(tmp_path: Path) -> None:
    stacks = [
        [python(FUNCTION, 12, f"{HOME}/{CODE}.py"), python("main", 3, f"{HOME}/train.py")],
        [native("zzq::make()", f"{HOME}/kernel.cpp"), python("zzqgenerated", 2, "<string>")],
        *(
            [python("forward", 7, f"/opt/{CODE}.py"), python(FUNCTION, 1, text)]
            for text in (f"{HOME}/a.py", f"C:\\zzq\\{CODE}.py")
        ),
    ]
    file = with_texts(tmp_path / "zzqrun" / f"{HOST}_snapshot.pickle", stacks, list(TEXTS.values()))
    with (
        open_profile(file, thresholds=SMALL) as plain,
        open_profile(file, thresholds=SMALL, anonymize=True) as anonymous,
    ):
        build_levels(plain, "memory", "advise")
        build_levels(anonymous, "memory", "advise")
        for level in (*LEVELS, None):
            printed = []
            for profile in (plain, anonymous):
                answer = answer_of(profile, "memory", 100, by=level) if level else answer_of(profile, "advise", 100)
                with redirect_stdout(io.StringIO()) as screen:
                    terminal.print_answer(answer, ())
                printed.append(screen.getvalue() + json.dumps(answer.facts, default=str, ensure_ascii=False))
            assert not leaks(printed[1]), level
            assert leaks(printed[0]), level
        (flame,) = anonymous.export(tmp_path / "out", "speedscope", "memory")
        assert not leaks(flame.read_text(encoding="utf-8"))
        assert leaks(plain.plot.memory().to_json())
        assert not leaks(anonymous.plot.memory().to_json())


def test_what_is_said_of_a_snapshot_beside_a_profile_has_no_secret(tmp_path: Path) -> None:
    folder = tmp_path / "zzqrun"
    write_trace(folder / f"{HOST}.json", [memory(MIB, 16, 2000, (MIB, 2 * MIB)), op("aten::mm", 1000, 3000, 1)])
    with_texts(folder / f"{HOST}_snapshot.pickle", [[python(FUNCTION, 12, f"{HOME}/{CODE}.py")]], [])
    with open_profile(folder, anonymize=True) as profile:
        profile.memory()
        said = [*profile.warnings, profile.ranks().to_json()]
    assert any("its memory comes from the snapshot" in one for one in said)
    assert not leaks("\n".join(said))


def test_names_of_an_enemy_are_text(tmp_path: Path) -> None:
    stacks = [[native(name, name), python(name, 1, f"{name}.py"), python("main", 1, name)] for name in NAMES.values()]
    file = with_texts(tmp_path / "snapshot.pickle", stacks, list(NAMES.values()))
    with open_profile(file, thresholds=SMALL) as profile:
        build_levels(profile, "memory", "advise")
        for level in (*LEVELS, None):
            answer = answer_of(profile, "memory", 100, by=level) if level else answer_of(profile, "advise", 100)
            with redirect_stdout(io.StringIO()) as screen:
                terminal.print_answer(answer, ())
            assert not STEERING.findall(screen.getvalue()), level
            assert not STEERING.findall(visible_json(json.dumps(answer.facts, default=str, ensure_ascii=False))), level
        (flame,) = profile.export(tmp_path / "out", "collapsed", "memory")
        lines = flame.read_text(encoding="utf-8").split("\n")
        assert sum(int(line.rpartition(" ")[2]) for line in lines if line) == len(stacks) * MIB


def test_a_hostile_snapshot_is_one_line_on_the_screen(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(b"\x80\x04}\x94\x8c\x08segments\x94cos\nsystem\ns.")
    run = subprocess.run([sys.executable, "-m", "prof_analysis", "memory", file], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert len([line for line in run.stderr.splitlines() if line.startswith("error: ")]) == 1
    assert "asks for the class or function os.system" in run.stderr
