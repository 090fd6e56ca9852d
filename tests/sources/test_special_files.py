"""Whatever lies under the name of an input: only regular files are opened, of a size for their kind, and none is waited for."""

import ast
import os
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import Result

from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.common.input_files import ANNOTATIONS_BYTES, SETTINGS_BYTES, check_regular, opened, whole
from prof_analysis.sources.ascend_beside.recorded import devices_of_figures
from prof_analysis.sources.kineto.annotations import read_annotations
from tests.helpers.faults import limit
from tests.helpers.kineto import kernel, launch, op, write_trace
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

Command = Callable[..., Result]
PACKAGE = Path(__file__).parents[2] / "prof_analysis"
OPS = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040),)),)

# Names under which a source looks for what lies beside the data of a rank.
SETTINGS = ("profiler_info_0.json", "profiler_metadata.json", "PROF_1/device_0/info.json.0")
# Calls by which a file would be opened in another way than by input_files, and the one that may: it reads an open file.
OPENING = {"open", "read_text", "read_bytes", "GzipFile", "copyfile", "fdopen"}


def small(folder: Path) -> Path:
    write_profile(folder / "0_ascend_pt", OPS, (Range("Net", 100, 200),), rank=0)
    return folder / "0_ascend_pt"


def trace(file: Path) -> Path:
    events = (op("aten::mm", 100, 200, 1), launch(110, 120, 5, 1), kernel("gemm", 300, 340, 5))
    return write_trace(file, events, tail={"traceName": "a"})


def in_place_of(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    return file


def warnings_of(folder: Path) -> list[str]:
    """The warnings of a question, which has its answer all the same."""
    with limit(60), pytest.warns(ProfAnalysisWarning), open_profile(folder, cache="none") as profile:
        assert profile.kernel_stats()["total_ns"].tolist() == [40]
        return profile.warnings


def said_of(files: Sequence[Path], warnings: Sequence[str]) -> list[str]:
    """What the warnings say of each file, one of each."""
    ending = "; copy it again; the rank is read without it"
    found = [[one for one in warnings if one.startswith(f"{file}: ") and one.endswith(ending)] for file in files]
    return [one.removeprefix(f"{file}: ").removesuffix(ending) for file, (one,) in zip(files, found, strict=True)]


def test_pipes_in_place_of_settings_are_not_waited_for_and_are_named(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs named pipes in folders")
    folder = small(tmp_path)
    files = [in_place_of(folder / name) for name in SETTINGS]
    for file in files:
        os.mkfifo(file)
    assert said_of(files, warnings_of(tmp_path)) == [says("cannot be read", "a named pipe, not a file")] * 3


def test_a_pipe_in_place_of_an_export_is_passed_over(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs named pipes in folders")
    folder = small(tmp_path)
    for name in ("x.pt.trace.json.gz", "trace_view.json", "communication.json", "op_statistic.csv", "a.db"):
        os.mkfifo(in_place_of(folder / name))
        os.mkfifo(in_place_of(folder / "ASCEND_PROFILER_OUTPUT" / name))
    with limit(60), open_profile(tmp_path, cache="none") as profile:
        assert profile.kernel_stats()["total_ns"].tolist() == [40]


@pytest.mark.parametrize("kind", quick(["a named pipe", "a device", "a socket"], 0))
def test_what_is_given_and_is_no_file_is_one_error(kind: str, tmp_path: Path, command: Command) -> None:
    if sys.platform == "win32":
        pytest.skip("needs named pipes in folders")
    given = tmp_path / "given.json"
    if kind == "a named pipe":
        os.mkfifo(given)
    elif kind == "a device":
        given = Path(os.devnull)
    else:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(given))
    with limit(60):
        result = command("module-stats", given)
        logs = command("stage-durations", given)
    unread = ("error", given, "cannot be read", f"it is {kind}, not a file")
    assert (result.exit_code, result.stderr) == (2, says(*unread))
    assert (logs.exit_code, logs.stderr) == (2, says(*unread, "give - and its content"))


def test_settings_of_many_gigabytes_are_not_read(tmp_path: Path) -> None:
    folder = small(tmp_path)
    files = [in_place_of(folder / name) for name in SETTINGS]
    for file in files:
        with file.open("wb") as sparse:
            sparse.truncate(30 * 2**30)
    too_large = says("cannot be read", f"larger than {SETTINGS_BYTES // 2**20} MB")
    assert said_of(files, warnings_of(tmp_path)) == [too_large] * 3


@pytest.mark.parametrize(
    ("content", "words"),
    quick(
        [
            ("[" * 200_000, ("no JSON that can be read", "too deep")),
            ('{"rank_id": 0', ("no JSON that can be read", "line 1 column 14")),
            ("", ("is empty",)),
            ("[1]", ("holds JSON", "no object")),
        ],
        0,
        3,
    ),
)
def test_settings_that_cannot_be_parsed_are_named(content: str, words: tuple[str, ...], tmp_path: Path) -> None:
    folder = small(tmp_path)
    files = [in_place_of(folder / name) for name in SETTINGS]
    for file in files:
        file.write_text(content, encoding="utf-8")
    assert said_of(files, warnings_of(tmp_path)) == [says(*words)] * 3


def test_metadata_of_a_database_that_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    (database,) = small(tmp_path).rglob("*.db")
    names = ("parallel_group_info", "distributed_args", "ENV_VARIABLES")
    edit(database, "CREATE TABLE IF NOT EXISTS META_DATA (name TEXT, value TEXT)")
    for name in names:
        edit(database, f"INSERT INTO META_DATA VALUES ('{name}', '{'[' * 200_000}')")
    found = [one for one in warnings_of(tmp_path) if "META_DATA" in one]
    assert found == [says(database, f"{name} in META_DATA", "no JSON that can be read") for name in names]


def test_settings_and_metadata_that_are_whole_give_no_warning(tmp_path: Path) -> None:
    folder = small(tmp_path)
    for name in SETTINGS:
        in_place_of(folder / name).write_text("{}", encoding="utf-8")
    (database,) = folder.rglob("*.db")
    edit(database, "CREATE TABLE IF NOT EXISTS META_DATA (name TEXT, value TEXT)")
    edit(database, "INSERT INTO META_DATA VALUES ('parallel_group_info', '{}'), ('distributed_args', ''), ('other', '[')")
    with open_profile(tmp_path, cache="none") as profile:
        profile.kernel_stats()
        assert profile.warnings == []


@pytest.mark.parametrize("place", ["before", "after"])
def test_what_a_trace_says_around_its_events_and_cannot_be_parsed_is_named(place: str, tmp_path: Path) -> None:
    file = tmp_path / "rank0.pt.trace.json"
    trace(file)
    text = file.read_text(encoding="utf-8")
    deep = f'"distributedInfo": {"[" * 200_000}{"]" * 200_000}'
    begin, _, rest = text.partition('"traceEvents"')
    end = rest.rindex("]") + 1
    changed = {"before": f'{begin}{deep}, "traceEvents"{rest}', "after": f'{begin}"traceEvents"{rest[:end]}, {deep}}}'}
    file.write_text(changed[place], encoding="utf-8")
    with open_profile(file, cache="none") as profile:
        (said,) = [one for one in profile.warnings if "around" in one or "stands" in one]
    assert said == says(f"{file}: ", f"what stands {place} its events", "no JSON that can be read")


def test_a_whole_trace_gives_no_warning_of_what_stands_around_its_events(tmp_path: Path) -> None:
    trace(tmp_path / "rank0.pt.trace.json")
    with open_profile(tmp_path, cache="none") as profile:
        assert [one for one in profile.warnings if "stands" in one] == []


def test_a_pickle_that_would_take_gigabytes_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "kernel_annotations_rank0.pkl"
    file.write_bytes(b"]" * (ANNOTATIONS_BYTES + 1))
    found, (said,) = read_annotations([file])
    assert found == {}
    assert said == says(file, "annotations of kernels are left out", "cannot be read", "larger than 16 MB")


def test_a_line_without_end_in_a_table_of_figures_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "step_trace_time.csv").open("wb") as sparse:
        sparse.truncate(30 * 2**30)
    assert devices_of_figures([tmp_path / "step_trace_time.csv"]) == []


def test_a_pipe_that_takes_the_place_of_a_file_between_look_and_opening_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform == "win32":
        pytest.skip("needs named pipes in folders")
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    look = os.stat

    def look_and_change(path: str) -> os.stat_result:
        found = look(path)
        if path == str(tmp_path / "a.json"):
            os.unlink(path)  # noqa: PTH108
            os.mkfifo(path)
        return found

    monkeypatch.setattr(os, "stat", look_and_change)
    with limit(10), pytest.raises(OSError, match="it is a named pipe, not a file"):
        opened(tmp_path / "a.json")


def test_folders_and_sizes_are_refused_with_their_reason(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(OSError, match="it is larger than 1 MB"):
        whole(tmp_path / "a", 2**20)
    assert whole(tmp_path / "a", 2**21) == b"x" * (2**20 + 1)
    assert check_regular(tmp_path / "a").st_size == 2**20 + 1
    for reader in (opened, check_regular):
        with pytest.raises(IsADirectoryError):
            reader(tmp_path)


@pytest.mark.parametrize("room", ["sources", "logs", "run"])
def test_files_of_others_are_opened_by_one_function_alone(room: str) -> None:
    found = []
    for file in sorted((PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                reads_open_file = name == "GzipFile" and [one.arg for one in node.keywords] == ["fileobj"]
                constants = [one.value for one in node.args if isinstance(one, ast.Constant)]
                is_written = name == "open" and "wb" in constants
                is_stdin = name == "open" and constants[:1] == [0]
                if name in OPENING and not reads_open_file and not is_written and not is_stdin:
                    found.append(f"{file.name}:{node.lineno}: {name}")
    assert found == [], "open it with prof_analysis.common.input_files"
