"""A file that is cut off, packed, or another than its name says is named as that, and nothing else is blamed."""

import gzip
import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from typer.testing import Result

from prof_analysis import InputError
from prof_analysis.analyses.answerable import answered_by, better_recording_of, unanswered_by, why_unanswered
from prof_analysis.sources.discovery import find_ranks
from prof_analysis.sources.readers.cut_off import ends_too_early
from tests.helpers import kineto
from tests.helpers.says import says

Command = Callable[..., Result]


def trace_of_gpu(path: Path) -> bytes:
    """A trace with 40 ops, and then their launches and kernels."""
    events = [kineto.op(f"aten::op_{number}", 10 * number, 10 * number + 5, number) for number in range(1, 41)]
    events += [kineto.launch(10 * number, 10 * number + 2, number, number) for number in range(1, 41)]
    events += [kineto.kernel(f"kernel_{number}", 1000 * number, 1000 * number + 500, number) for number in range(1, 41)]
    return kineto.write_trace(path, events).read_bytes()


def test_a_packed_trace_that_was_cut_is_not_blamed_on_how_it_was_recorded(tmp_path: Path, command: Command) -> None:
    whole = trace_of_gpu(tmp_path / "whole.json")
    lines = whole.splitlines(keepends=True)
    packed = gzip.compress(b"".join(lines), mtime=0)
    cut = tmp_path / "cut.json.gz"
    # What is left has some of the ops and no kernel.
    cut.write_bytes(next(packed[:size] for size in range(20, len(packed)) if b"op_12" in unpacked(packed[:size])))
    left = unpacked(cut.read_bytes()).count(b'"ph"') - 1
    assert left >= 11
    result = command("kernel-stats", "-d", cut)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {cut}: no rank can answer this: {cut}: ")
    assert result.stderr.splitlines()[0] == says("cannot be unpacked", f"{left} events that are left", "copy it again")
    (rank,) = find_ranks(cut)
    assert "op-stats" in answered_by(rank)
    assert better_recording_of(rank) is None, "what is missing may have been recorded"
    assert not [reason for _, reason in unanswered_by(rank) if "ProfilerActivity" in reason or "profile_memory" in reason]


def test_what_a_whole_trace_would_not_have_either_is_not_blamed_on_the_cut(tmp_path: Path) -> None:
    """The trace has events of all kinds, of an AMD GPU, before it is cut."""
    events = [
        kineto.op("aten::mm", 10, 15, 1, arguments={"Input Dims": [[4, 4]], "Call stack": "net.py(7): forward"}),
        kineto.module("Net_0", 5, 30),
        kineto.event("user_annotation", "part", 5, 30),
        kineto.launch(11, 12, 1, 1),
        kineto.kernel("gemm", 100, 150, 1),
        kineto.kernel("ncclDevKernel_Generic", 200, 250, 2),
        kineto.memory(64, 8, 12, (64, 128)),
        kineto.op("aten::cut", 40, 50, 2),
    ]
    path = kineto.write_trace(tmp_path / "trace.json", events)
    path.write_bytes(path.read_bytes()[:-30])
    (rank,) = find_ranks(path)
    assert (why_unanswered(rank, "pmu-stats") or "").startswith("no occupancy of kernels, which")
    assert not rank.is_cut_off


def unpacked(content: bytes) -> bytes:
    found = b""
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as file:
            while piece := file.read1(64):
                found += piece
    except EOFError:
        pass
    return found


@pytest.mark.parametrize("name", ["trace_view.json", "trunc.json", "trace_view.json.gz"])
def test_a_trace_of_an_npu_that_was_cut_says_so_and_names_the_file(tmp_path: Path, name: str) -> None:
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "Python"}}]
    events += [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": "1.000", "dur": 1, "args": {}}] * 300
    text = json.dumps(events).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text, mtime=0)[:-20] if name.endswith(".gz") else text[:90])
    (rank,) = find_ranks(path)
    what = "cannot be unpacked to its end" if name.endswith(".gz") else "was cut off"
    assert (why_unanswered(rank, "kernel-stats") or "").startswith(f"{path}: {what}, and the ")
    assert why_unanswered(rank, "module-stats") == why_unanswered(rank, "kernel-stats")


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        ('[{"ph": "X", "args": {}}]', False),
        ('[{"ph": "X", "args": {}},]', False),  # as torch_npu ends it without events of the device
        ('{"traceEvents": [{"ph": "X"}], "traceName": "a"}', False),
        ('{"traceEvents": [{"ph": "X"}]}\n', False),
        ('[{"ph": "X", "args": {"a": [1, 2]', True),
        ('[{"ph": "X", "args": {}}', True),
        ('[{"ph": "X", "args": {}},\n', True),
        ('{"traceEvents": [{"ph": "X", "args": {"a": 1}}', True),
        ('{"traceEvents": [{"ph": "X", "args": {"a": 1}', True),
        ("", False),
    ],
)
def test_the_end_of_a_trace_shows_whether_it_was_cut(tmp_path: Path, text: str, is_cut: bool) -> None:
    (tmp_path / "trace.json").write_text(text, encoding="utf-8")
    assert ends_too_early(tmp_path / "trace.json") is is_cut


def test_a_whole_trace_that_lacks_something_is_told_how_to_record_it(tmp_path: Path) -> None:
    for name in ("a.json", "b.json.gz"):
        path = kineto.write_trace(tmp_path / name, [kineto.op("aten::add", 10, 15, 1)])
        (rank,) = find_ranks(path)
        assert why_unanswered(rank, "kernel-stats") == says("no kernels", "record", "ProfilerActivity.CUDA")
        assert better_recording_of(rank) is not None


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("kernel_details.csv", "Name,Type,Start Time(us),Duration(us)\nmm,MatMul,1,2\n")


def write_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE a (b)")


OTHERS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "prof.zip": (write_zip, ("zip archive", "unpack")),
    "kernel_details.csv": (write_zip, ("zip archive", "unpack")),
    "trace.json.gz": (write_zip, ("zip archive", "unpack")),
    "plain.json.gz": (lambda path: path.write_text("[]"), ("not packed", ".gz", "rename it to plain.json")),
    "packed.json": (lambda path: path.write_bytes(gzip.compress(b"[]")), ("packed with gzip", "unpack", "rename")),
    "kernels.csv.gz": (lambda path: path.write_bytes(gzip.compress(b"a,b\n")), ("packed with gzip", "unpack")),
    "database.csv": (write_database, ("SQLite database", "rename it to database.db")),
    "header.csv": (lambda path: path.write_text("Name,Type,Start Ti"), ("breaks off", "first line", "copy it again")),
    "empty.db": (lambda path: path.write_bytes(b""), ("is empty", "copy it again")),
    "analysis.db": (lambda path: path.write_bytes(b""), ("is empty", "copy it again")),
    "communication.json": (lambda path: path.write_text('{"step": {"p2p": {'), ("cut off", "no communication.json")),
    "step_trace_time.csv": (lambda path: path.write_text("a,b\n1,2\n"), ("not the step_trace_time.csv",)),
    "api_statistic.csv": (lambda path: path.write_text("Level,API Name\nacl,x\n"), ("not the api_statistic.csv",)),
    "op_statistic.csv": (lambda path: path.write_text("name,calls\na,1\n"), ("not the op_statistic.csv",)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_is_named_for_what_it_is_and_what_to_do(tmp_path: Path, name: str, command: Command) -> None:
    write, words = OTHERS[name]
    write(tmp_path / name)
    result = command("kernel-stats", "-d", tmp_path / name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {tmp_path / name}: ")
    assert result.stderr.splitlines()[0] == says(*words)


def test_a_folder_of_archives_says_to_unpack_them(tmp_path: Path) -> None:
    write_zip(tmp_path / "prof.zip")
    with pytest.raises(InputError, match=says("no profiling result here", "unpack prof.zip", "a result is").pattern):
        find_ranks(tmp_path)
