"""Reads the logs in which vLLM-Ascend reports how long its stages took, and builds the tables `vllm.*` from them.

A log is read as a stream, whatever its size; only lines that report durations are kept. sql/vllm/ interprets them.
"""

import errno
import gzip
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, cast

import duckdb

from prof_analysis.common import input_files
from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.common.option_docs import check_path
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.database import connect
from prof_analysis.engine.tables import log_tables

STANDARD_INPUT = "-"
# The level that a row can be of -> the table that has these rows.
LEVELS = {"process": "vllm.statistic", "all": "vllm.across_processes", "log": "vllm.log", "iteration": "vllm.iteration"}
# The tables in the order in which they are written, each with its name in cluster_analysis.db.
EXPORTS = {
    "vllm.statistic": "StageDuration",
    "vllm.across_processes": "StageDurationAllProcesses",
    "vllm.log": "StageLog",
    "vllm.iteration": "EngineIteration",
}

_ANNOUNCES = b"Profile execute duration"
# What newer versions log for each iteration of the engine (ObservabilityConfig) in place of it.
_OF_ITERATION = b"iteration elapsed time: "
_BLOCK_BYTES = 16 * 2**20
_CHUNK_BYTES = 2**18
_MAX_LINE_BYTES = 64 * 2**20
_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class StageLogs:
    """Logs that were read: `connection` has the tables of sql/vllm/, `failures` names the logs that cannot be read.

    `shown` gives a text as it may be printed.
    """

    connection: duckdb.DuckDBPyConnection
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    details: tuple[str, ...] = ()
    shown: Callable[[str], str] = str


@contextmanager
def open_logs(paths: Iterable[str | Path], anonymize: bool = False) -> Iterator[StageLogs]:
    """Read logs, `-` for standard input, and build the tables; with `anonymize`, names that identify people are replaced.

    Raises InputError when no log reports durations.
    """
    logs = list(dict.fromkeys(map(str, paths)))
    for log in logs:
        check_path("log", log)
    anonymous = None
    if anonymize:
        from prof_analysis.anonymous.texts import Anonymous

        anonymous = Anonymous()
        for number, log in enumerate(logs, 1):
            anonymous.add_folder(Path(log), f"log{number}")
    with temporary_folder() as spill, connect(temp_directory=spill) as connection:
        opened = StageLogs(connection, shown=str if anonymous is None else anonymous.shown)
        connection.execute("""
            CREATE SCHEMA raw;
            CREATE TABLE raw.log (log_number BIGINT, log VARCHAR, line_count BIGINT);
            CREATE TABLE raw.stage_line (log_number BIGINT, line_number BIGINT, line VARCHAR);
        """)
        for number, log in enumerate(logs):
            try:
                opened.warnings.extend(_stage(connection, number, log))
            except InputError as error:
                opened.failures.append(str(error))
        for table in log_tables():
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS vllm; CREATE TABLE {table.name} AS {table.body}")
        try:
            _check(opened, logs)
        except InputError as error:
            raise (error if anonymous is None else InputError(anonymous.shown(str(error)), path=error.path)) from None
        if anonymous is not None:
            from prof_analysis.anonymous.columns import replace_in

            replace_in(connection, (table.name for table in log_tables()), anonymous)
            opened.failures[:] = map(anonymous.shown, opened.failures)
            opened.warnings[:] = map(anonymous.shown, opened.warnings)
        yield opened


def folder_of(logs: list[str]) -> Path:
    """Return the default folder of results: that of the first log that is a file, else the current one."""
    return next((Path(log).parent for log in logs if log != STANDARD_INPUT), Path())


def _check(opened: StageLogs, logs: list[str]) -> None:
    rows = opened.connection.execute("SELECT log, line_count, announcement_count, unread_count FROM vllm.log").fetchall()
    if not opened.connection.execute("SELECT 1 FROM vllm.record LIMIT 1").fetchall():
        if opened.failures:
            more = f" ({len(opened.failures) - 1} more cannot be read)" if len(opened.failures) > 1 else ""
            raise InputError(f"{opened.failures[0]}{more}")
        name = logs[0] if len(logs) == 1 else f"{len(logs)} logs"
        raise InputError(
            f"{name}: none of {sum(row[1] for row in rows):,} lines has a `{_ANNOUNCES.decode()} [phase]: [stage]:1.23ms` or "
            f"an `{_OF_ITERATION.decode()}1.23 ms`; serve with VLLM_ASCEND_MODEL_EXECUTE_TIME_OBSERVE=1, or newer versions "
            "with enable_logging_iteration_details of ObservabilityConfig; with log level INFO; and give the output of workers"
        )
    for log, _, announcements, unread in rows:
        if unread:
            opened.warnings.append(f"{log}: {unread:,} of {announcements:,} reports of durations cannot be read completely")
        if not announcements:
            opened.warnings.append(f"{log}: none of its lines reports durations")


def _stage(connection: duckdb.DuckDBPyConnection, number: int, log: str) -> list[str]:
    """Add the lines of a log that report durations to raw.stage_line, and return warnings.

    Raises InputError when it cannot be read.
    """
    import pyarrow

    warnings: list[str] = []
    line_count = 0
    for block in _blocks(log, warnings):
        chunks: list[tuple[int, str]] = []
        for chunk in _chunks(block):
            if _ANNOUNCES in chunk or _OF_ITERATION in chunk:
                chunks.append((line_count, chunk.decode("utf-8", "replace")))
            line_count += chunk.count(b"\n") + (not chunk.endswith(b"\n"))
        if chunks:
            table = pyarrow.table({"lines_before": [lines for lines, _ in chunks], "text": [text for _, text in chunks]})
            connection.register("log_block", table)
            connection.execute(_LINES, {"log_number": number})
            connection.unregister("log_block")
    connection.execute(
        "INSERT INTO raw.log VALUES ($number, $log, $lines)", {"number": number, "log": log, "lines": line_count}
    )
    return warnings


_LINES = f"""
    INSERT INTO raw.stage_line
    WITH chunk AS (SELECT lines_before, string_split(text, chr(10)) AS lines FROM log_block),
    line AS (SELECT lines_before + generate_subscripts(lines, 1) AS line_number, unnest(lines) AS line FROM chunk)
    SELECT $log_number, line_number, line
    FROM line
    WHERE contains(line, '{_ANNOUNCES.decode()}') OR contains(line, '{_OF_ITERATION.decode()}')
"""


def _chunks(block: bytes) -> Generator[bytes]:
    """Yield a block of whole lines in smaller parts of whole lines, so that the many parts without a report are skipped."""
    start = 0
    while start < len(block):
        end = block.find(b"\n", start + _CHUNK_BYTES) + 1 or len(block)
        yield block[start:end]
        start = end


def _blocks(log: str, warnings: list[str]) -> Generator[bytes]:
    """Yield a log in blocks of whole lines; a line of more than 64 MB is cut. Unpacking errors are added to the warnings."""
    try:
        with _opened(log) as file:
            begin = file.peek(2)[:2]
            if begin in _UTF_16:
                raise InputError(f"{log}: is UTF-16 text, as PowerShell writes it; save it as UTF-8", path=Path(log))
            content = gzip.GzipFile(fileobj=file) if begin == _GZIP else file
            rest = b""
            while piece := _piece(content, log, warnings):
                end = piece.rfind(b"\n") + 1
                if end or len(rest) > _MAX_LINE_BYTES:
                    yield rest + piece[:end]
                    rest = piece[end:]
                else:
                    rest += piece
            if rest:
                yield rest
    except OSError as error:
        others = f"; give - and its content on standard input (... | prof-analysis stage-durations {STANDARD_INPUT})"
        hint = {errno.EISDIR: "; give the logs in it", errno.EINVAL: others}.get(error.errno or 0, "")
        raise InputError(f"{log}: cannot be read ({reason_of(error)}){hint}", path=Path(log)) from error


@contextmanager
def _opened(log: str) -> Iterator["BufferedReader[Any]"]:
    if log != STANDARD_INPUT:
        with input_files.opened(Path(log)) as file:
            yield file
        return
    standard_input = BufferedReader(cast(RawIOBase, sys.stdin.buffer))
    try:
        yield standard_input
    finally:
        standard_input.detach()  # The caller closes standard input.


def _piece(content: "BufferedReader[Any] | gzip.GzipFile", log: str, warnings: list[str]) -> bytes:
    """Return the next piece of a log; where it cannot be unpacked to its end, all of it that can."""
    parts: list[bytes] = []
    missing = 0 if warnings else _BLOCK_BYTES
    try:
        while missing > 0 and (part := content.read1(missing)):
            parts.append(part)
            missing -= len(part)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        warnings.append(f"{log}: cannot be unpacked to its end ({reason_of(error)}), so later lines are missing; copy it again")
    return b"".join(parts)
