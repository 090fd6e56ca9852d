"""Stage durations of vLLM-Ascend logs: every column, whatever stands around the durations, and logs that cannot be read."""

import gzip
import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from typer.testing import CliRunner, Result

import prof_analysis
from prof_analysis import InputError, ProfAnalysisWarning, QueryError, open_profile, stage_durations
from prof_analysis.cli import app
from tests.helpers.frames import arrow_of
from tests.helpers.places import SAMPLE
from tests.helpers.says import says

SAYS = "Profile execute duration"
COLUMNS = [
    *("duration_count", "mean_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns", "first_tenth_mean_ns", "last_tenth_mean_ns"),
    *("last_to_first", "inner_stages", "inner_mean_ns", "host_rest_mean_ns", "host_rest_reason"),
]
NOTHING_INSIDE = (None, None, None, "no stage lies inside it")
MS = 1_000_000


def rows(found: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in found.to_pylist()]


def one(duration_ns: int, *inside: Any) -> tuple[Any, ...]:
    """What is said of a stage that was measured once."""
    times = (1, float(duration_ns), *[duration_ns] * 4, None, None, None)
    return times + (inside or NOTHING_INSIDE)


def test_the_published_log(realdata: Path) -> None:
    log = realdata / "vllm_ascend_log" / "profile_execute_duration.log"
    of_processes = stage_durations(log)
    assert of_processes.groupby("process")["duration_count"].max().tolist() == [2, 4, 4, 4, 4]
    overall = arrow_of(stage_durations(log, level="all")).to_pylist()
    assert [(row["phase"], row["stage"], row["process_count"], row["duration_count"]) for row in overall] == [
        ("Decode", "post process", 5, 18),
        ("Decode", "prepare input and forward", 5, 18),
        ("Decode", "forward", 5, 18),
    ]
    assert [round(row["mean_ns"] / MS, 4) for row in overall] == [14.5194, 10.2467, 4.2789]
    assert [row["host_rest_mean_ns"] and round(row["host_rest_mean_ns"] / MS, 4) for row in overall] == [None, 5.9678, None]
    assert [row["p99_ns"] for row in overall] == [15_060_000, 11_210_000, 4_610_000]
    # 5691:(IntegratedWorker ... the four lines of one process, by hand.
    assert rows(arrow_of(stage_durations(log)))[4][2:] == (
        *("Decode", "prepare input and forward", 4, 10_092_500.0, 9_880_000, 10_620_000, 10_620_000, 10_620_000),
        *(None, None, None, "forward", 4_180_000.0, 5_912_500.0, None),
    )


LINES = "\n".join(
    [
        "INFO 07-01 12:00:00 [launcher.py:38] Route: /health",
        # Today's wording, behind a colour, a second pair of parentheses, a time and a place in the code; CRLF.
        f"\x1b[1;36m(Worker TP0 pid=7)\x1b[0;0m (EngineCore) INFO 07-01 [a.py:1] {SAYS} [Prefill]:[x]:1.5s [y [mtp]]:30us\r",
        # Two processes wrote at once; no phase; a number with an exponent; another sign for micro.
        f"(Worker pid=8) {SAYS} [Decode]: [x]:2ms(Worker pid=9, ip=10.0.0.1) {SAYS}: [x]:1e3us [y]:0.0005ms [z]:2.5µs",
        # Nobody is named; forward and copy lie inside; the words of the line that follow are no duration.
        f"{SAYS} [解码]: [copy and forward]:10ms [forward]:4ms [copy]:1.000001ms INFO [b.py:2] done",
        # What cannot be read, alone and beside what can; nothing; too long for any clock; cut within the unit.
        f"(Worker pid=8) {SAYS} [Decode]: [x]:nanms [y]:3ms",
        SAYS,
        f"{SAYS} [Decode]: [w]:99999999999999999999s",
        f"(Worker pid=8) {SAYS} [Decode]: [y]:5ms [x]:4.1m",
    ]
)
EXPECTED = [
    ("Worker TP0 pid=7", "Prefill", "x", *one(1_500_000_000)),
    ("Worker TP0 pid=7", "Prefill", "y [mtp]", *one(30_000)),
    ("Worker pid=8", "Decode", "y", 2, 4.0 * MS, 3 * MS, *[5 * MS] * 3, None, None, None, *NOTHING_INSIDE),
    ("Worker pid=8", "Decode", "x", *one(2 * MS)),
    ("Worker pid=9, ip=10.0.0.1", None, "x", *one(MS)),
    ("Worker pid=9, ip=10.0.0.1", None, "z", *one(2500)),
    ("Worker pid=9, ip=10.0.0.1", None, "y", *one(500)),
    (None, "解码", "copy and forward", *one(10 * MS, "forward, copy", 5_000_001.0, 4_999_999.0, None)),
    (None, "解码", "forward", *one(4 * MS)),
    (None, "解码", "copy", *one(1_000_001)),
]


def test_every_column_of_lines_of_every_kind(tmp_path: Path) -> None:
    log, packed, latin = tmp_path / "server.log", tmp_path / "packed", tmp_path / "latin.log"
    log.write_text(LINES, encoding="utf-8", newline="")
    packed.write_bytes(gzip.compress(f"{SAYS} [D]:[x]:1ms\nother\n".encode()))
    latin.write_bytes(b"caf\xe9 \xff\x00\n" + f"(caf\u00e9 pid=1) {SAYS} [D]: [x]:1us".encode("latin-1"))
    with pytest.warns(ProfAnalysisWarning, match=r"server\.log: 3 of 8 reports .*cannot be read"):
        found = arrow_of(stage_durations([log, packed, latin, log]))
    assert found.column_names == ["log", "process", "phase", "stage", *COLUMNS]
    expected = [(str(log), *row) for row in EXPECTED]
    expected += [(str(packed), None, "D", "x", *one(MS)), (str(latin), "caf\ufffd pid=1", "D", "x", *one(1000))]
    assert rows(found) == expected
    with pytest.warns(ProfAnalysisWarning):
        of_logs = arrow_of(stage_durations([log, packed, latin], level="log"))
    assert of_logs.to_pylist() == [
        {
            **{"log": str(name), "line_count": lines, "announcement_count": announcements},
            **{"other_line_count": other, "unread_count": unread, "process_count": processes},
        }
        for name, lines, announcements, other, unread, processes in (
            (log, 8, 8, 1, 3, 4),
            (packed, 2, 1, 1, 0, 1),
            (latin, 2, 1, 1, 0, 1),
        )
    ]


def test_the_first_and_the_last_tenth_are_of_each_process(tmp_path: Path) -> None:
    """Process 1 slows down from 1 to 20 ms, process 2 always takes 5 ms; 3 has too few."""
    lines = [(1, n + 1) for n in range(20)] + [(2, 5)] * 30 + [(3, 1)] * 9
    log = tmp_path / "a.log"
    log.write_text("".join(f"(w pid={pid}) {SAYS} [D]: [x]:{ms}ms\n" for pid, ms in lines), encoding="utf-8")
    tenths = ["process", "first_tenth_mean_ns", "last_tenth_mean_ns", "last_to_first"]
    assert rows(arrow_of(stage_durations(log)).select(tenths)) == [
        ("w pid=1", 1.5 * MS, 19.5 * MS, 13.0),
        ("w pid=2", 5.0 * MS, 5.0 * MS, 1.0),
        ("w pid=3", None, None, None),
    ]
    (overall,) = arrow_of(stage_durations(log, level="all")).to_pylist()
    assert math.isclose(overall["first_tenth_mean_ns"], (1 + 2 + 15) * MS / 5)
    assert (overall["p50_ns"], overall["p95_ns"], overall["max_ns"]) == (5 * MS, 18 * MS, 20 * MS)


def test_stages_that_took_equally_long_are_in_the_order_of_their_names(tmp_path: Path) -> None:
    """29 durations and one, both 1 ms together, which 29 times their mean is not."""
    log = tmp_path / "a.log"
    times = ["[zz]:1ms", *["[aa]:34.482us"] * 28, f"[aa]:{(MS - 28 * 34482) / 1000}us"]
    log.write_text("".join(f"{SAYS} [D]: {time}\n" for time in times), encoding="utf-8")
    for level in ("process", "all"):
        found = arrow_of(stage_durations(log, level=level))
        assert found["stage"].to_pylist() == ["aa", "zz"]
        assert [mean * count for mean, count in rows(found.select(["mean_ns", "duration_count"]))] < [MS, MS]


def test_lines_are_counted_over_the_blocks_of_a_long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prof_analysis.logs.vllm_stages._BLOCK_BYTES", 100)
    monkeypatch.setattr("prof_analysis.logs.vllm_stages._CHUNK_BYTES", 10)
    monkeypatch.setattr("prof_analysis.logs.vllm_stages._MAX_LINE_BYTES", 300)
    log = tmp_path / "a.log"
    log.write_text(f"{SAYS} [D]: [x]:1ms\n\nother\n" * 30 + "no end" * 100, encoding="utf-8")
    (found,) = arrow_of(stage_durations(log, level="log")).to_pylist()
    assert (found["announcement_count"], found["unread_count"]) == (30, 0)
    assert found["other_line_count"] in range(61, 64)  # A line without end is cut.


def test_the_command_from_a_pipe_beside_a_damaged_log(tmp_path: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(f"{SAYS} [D]:[x]:1ms\n".encode() * 20)[:-9])
    (tmp_path / "utf16.log").write_text(LINES, encoding="utf-16")
    logs = ["-", str(cut), str(tmp_path / "utf16.log"), str(tmp_path), str(tmp_path / "missing.log")]
    result = CliRunner().invoke(app, ["stage-durations", *logs, "-o", str(tmp_path), "--json"], input=LINES.encode())
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["status"]) == (1, "partial")
    assert [row["stage"] for row in answer["summary"]["stages"] if row["phase"] == "D"] == ["x"]
    assert [failure.split(": ", 1)[1] for failure in answer["failures"]] == [
        says("UTF-16", "save it as UTF-8"),
        says("cannot be read", "Is a directory", "give the logs in it"),
        says("cannot be read", "No such file or directory"),
    ]
    assert "cannot be unpacked to its end" in answer["warnings"][0]
    with closing(sqlite3.connect(answer["files"][0])) as database:
        names = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
        assert names == {"StageDuration", "StageDurationAllProcesses", "StageLog", "EngineIteration", "Provenance"}
        assert database.execute("SELECT DISTINCT options, inputs, identity FROM Provenance").fetchall() == [
            ("{}", json.dumps(logs), None)
        ]
        assert database.execute("SELECT log, line_count FROM StageLog").fetchall()[:1] == [("-", 8)]


def test_the_screen_and_the_workbooks(tmp_path: Path, command: Callable[..., Result]) -> None:
    log = tmp_path / "a.log"
    log.write_text(f"{SAYS} [D]: [a and x]:1.5ms [x]:1ms\nother\n", encoding="utf-8")
    result = command("stage-durations", log, "--export_type", "excel")
    folder = tmp_path / "cluster_analysis_output" / "StageDuration"
    assert (result.exit_code, result.stderr) == (0, "")
    assert [" ".join(line.split()) for line in result.stdout.splitlines() if line.strip()] == [
        "stage phase count mean p50 p95 p99 max last / first tenth host rest",
        "a and x D 1 1.50 ms 1.50 ms 1.50 ms 1.50 ms 1.50 ms - 500.00 us",
        "x D 1 1.00 ms 1.00 ms 1.00 ms 1.00 ms 1.00 ms - -",
        says("1 announcement of 1 process", "2 lines of 1 log", "skipped: 1"),
        "process stage phase count mean p50 p95 p99 max last / first tenth host rest",
        "- a and x D 1 1.50 ms 1.50 ms 1.50 ms 1.50 ms 1.50 ms - 500.00 us",
        "- x D 1 1.00 ms 1.00 ms 1.00 ms 1.00 ms 1.00 ms - -",
        f"wrote {folder / 'stage_duration'}.xlsx",
    ]
    book = openpyxl.load_workbook(folder / "stage_duration.xlsx")
    assert book.sheetnames == ["About", "StageDuration", "StageDurationAllProcesses", "StageLog", "EngineIteration", "Columns"]
    assert ("a and x", "D", 1, 1.5) in [row[:4] for row in book["About"].iter_rows(values_only=True)]


def test_what_cannot_be_answered_is_said(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("one\ntwo\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.log: none of 2 lines .*`Profile execute duration \[phase\]"):
        stage_durations(log)
    with pytest.raises(InputError, match=r"missing: cannot be read"):
        stage_durations(tmp_path / "missing")
    with pytest.raises(InputError, match="by='pid': give process, all, log"):
        stage_durations(log, by="pid")  # type: ignore[arg-type]
    with open_profile(SAMPLE / "decoder_training") as profile, pytest.raises(QueryError, match=r"vllm\.log is made from logs"):
        profile.sql("FROM vllm.log")
    assert "stage_durations" in prof_analysis.__all__
