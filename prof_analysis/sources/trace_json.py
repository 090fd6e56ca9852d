"""Reads the events of a trace_view.json into DuckDB: as a stream, fast, and with all that is whole of a damaged file.

The file is one JSON array of events. It is cut between events into chunks that DuckDB parses on all its threads. Where a cut
only looks right, or the file is damaged, a chunk is no JSON: then Python's own parser finds the whole events in it.
"""

import gzip
import json
import re
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from io import BufferedReader
from itertools import accumulate, compress, groupby
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import duckdb

from prof_analysis.database import cursor_of, quote_text
from prof_analysis.errors import InputError, reason_of

if TYPE_CHECKING:
    import pyarrow

# 330 MB of AlexNet events on two threads: 390 MB/s in chunks of 1 MB; DuckDB's read_json on the whole array 157 MB/s.
_CHUNK_BYTES = 2**20
_BLOCK_BYTES = 8 * 2**20
_MAX_EVENT_BYTES = 64 * 2**20
_IDS_OF_CHUNK = 2**20

# Inside a JSON text a quote has a backslash before it, so only a text that ends in `}, {` looks like this and is not.
_BETWEEN_EVENTS = re.compile(rb'\}\s*,\s*(?=\{\s*["}])')
# Not an object that is the value of a key.
_EVENT_START = re.compile(r'(?<![:\s])\s*(\{\s*["}])')
_PAIR_OR_LONE_SURROGATE = re.compile(
    rb"(\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2}"
)
_NUMBER_TIMESTAMP = re.compile(rb'("ts"\s*:\s*)(-?\d[\d.eE+-]*)')
_BETWEEN = b", \t\r\n"

_VALID = "json_valid(text)"
_OF_EVENTS = "CASE WHEN json_valid(text) THEN json_exists(text, '$[0].ph') ELSE false END"


def read_events(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    structure: str,
    take: Callable[[duckdb.DuckDBPyConnection], None],
    on_bytes: Callable[[int], None],
    threads: int = 1,
) -> list[str]:
    """Parse a file and call `take` for each block of it, with a connection that has the events of the block.

    They are in its table event_block: event_id, which grows as events stand in the file, and event, a struct. `structure` is
    that of one event, as DuckDB's from_json() takes it. A time stamp that the file holds as a number becomes text, since a
    double would not hold it. So many threads as given parse and take a block each, each with a connection of its own, while
    another cuts the next. `on_bytes` gets the size of each piece of the file as it is read. Gives warnings that say what was
    lost. Raises InputError when the file cannot be read or holds no list of events.
    """
    reader = _Reader(path, on_bytes)
    chunk_count = 0
    rest = b""
    cursors: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    for _ in range(threads):
        cursors.put(cursor_of(connection))

    def parse_and_take(lists: "pyarrow.Table", first_number: int) -> None:
        cursor = cursors.get()
        _parse(cursor, lists, first_number, structure)
        take(cursor)
        cursors.put(cursor)

    with (
        _single_threaded(connection),
        closing(reader.blocks()) as blocks,
        ThreadPoolExecutor(1) as ahead,
        ThreadPoolExecutor(threads) as parsers,
    ):
        following = ahead.submit(next, blocks, None)
        parsing: deque[Future[None]] = deque()
        is_last = False
        while not is_last:
            chunks = following.result()
            is_last = chunks is None
            if chunks is not None:
                following = ahead.submit(next, blocks, None)
            parseable, rest = _parseable(connection, [*([rest] if rest else []), *(chunks or [])], is_last, reader)
            parsing.append(parsers.submit(parse_and_take, parseable, chunk_count))
            chunk_count += parseable.num_rows
            while len(parsing) > (0 if is_last else threads):
                parsing.popleft().result()
    connection.unregister("event_list")
    while not cursors.empty():
        cursors.get().close()
    return reader.warnings()


@contextmanager
def _single_threaded(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Each statement runs on the thread that calls it: on two threads of ours 129 MB/s, with DuckDB's own besides 110 MB/s."""
    ((threads,),) = connection.execute("SELECT current_setting('threads')").fetchall()
    connection.execute("SET threads = 1")
    try:
        yield
    finally:
        connection.execute(f"SET threads = {threads}")


def check_begin(path: Path) -> None:
    """Raise InputError where a file does not begin as a list of events."""
    with closing(_Reader(path, lambda _: None).blocks()) as blocks:
        next(blocks, None)


class _Reader:
    """Reads a file as blocks of chunks, cut between events, and knows what was lost of it."""

    def __init__(self, path: Path, on_bytes: Callable[[int], None]) -> None:
        self.path = path
        self.lost_bytes = 0
        self._read_bytes = 0
        self._is_closed = False
        self._stopped_by: str | None = None
        self._on_bytes = on_bytes

    def blocks(self) -> Generator[list[bytes]]:
        """The chunks, block by block. A chunk has what separates it from the next at its end."""
        rest = b""
        with closing(self._pieces()) as pieces:
            for number, piece in enumerate(pieces):
                rest = self._after_bracket(piece) if number == 0 else rest + piece
                if end := _last_cut(rest):
                    yield list(_chunks(rest[:end]))
                    rest = rest[end:]
                elif len(rest) > _MAX_EVENT_BYTES:
                    raise InputError(
                        f"{self.path}: no event ends in the {_MAX_EVENT_BYTES // 2**20} MB before byte {self._read_bytes:,}; "
                        "this is no trace of the profiler, or it is damaged: copy it again"
                    )
        if not self._read_bytes:
            raise InputError(f"{self.path}: is empty; export the profile again with ExportType.Text")
        rest = rest.rstrip()
        self._is_closed = rest.endswith(b"]")
        if rest := rest.removesuffix(b"]"):
            yield list(_chunks(rest))

    def warnings(self) -> list[str]:
        """What to say of the file once it is read."""
        found = []
        if self._stopped_by:
            found.append(
                f"cannot be unpacked beyond {self._read_bytes:,} bytes ({self._stopped_by}), so later events are missing"
            )
        elif not self._is_closed:
            found.append(
                "the list of events is not closed: it was cut off, or its writer was stopped, so later events are missing"
            )
        if self.lost_bytes:
            share = self.lost_bytes / self._read_bytes
            found.append(
                f"{self.lost_bytes:,} of {self._read_bytes:,} bytes ({share:.2%}) hold no whole event and are left out"
            )
        return [f"{self.path}: {'; '.join(found)}; copy or export it again"] if found else []

    def _pieces(self) -> Generator[bytes]:
        try:
            with self.path.open("rb") as file:
                content = gzip.GzipFile(fileobj=file) if self.path.suffix == ".gz" else file
                position, size = 0, self.path.stat().st_size
                while piece := self._piece(content):
                    self._read_bytes += len(piece)
                    self._on_bytes(file.tell() - position)
                    position = file.tell()
                    yield piece
                self._on_bytes(size - position)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({reason_of(error)})") from error
        if self._stopped_by and not self._read_bytes:
            raise InputError(f"{self.path}: cannot be unpacked ({self._stopped_by}); copy it again")

    def _piece(self, content: gzip.GzipFile | BufferedReader) -> bytes:
        """The next piece of a file; of one that cannot be unpacked to its end, all that can."""
        parts: list[bytes] = []
        missing = 0 if self._stopped_by else _BLOCK_BYTES
        try:
            while missing > 0 and (part := content.read1(missing)):
                parts.append(part)
                missing -= len(part)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._stopped_by = reason_of(error)
        return b"".join(parts)

    def _after_bracket(self, begin: bytes) -> bytes:
        content = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not content.startswith(b"["):
            raise InputError(f"{self.path}: holds no list of events; export the profile again with ExportType.Text")
        return content[1:]


def _last_cut(text: bytes) -> int | None:
    """Where the last event of a text begins, if there is one before it."""
    window = 2**16
    while True:
        start = max(0, len(text) - window)
        ends = [cut.end() for cut in _BETWEEN_EVENTS.finditer(text, start)]
        if ends or not start:
            return ends[-1] if ends else None
        window *= 16


def _chunks(text: bytes) -> Generator[bytes]:
    start = 0
    while start < len(text):
        cut = _BETWEEN_EVENTS.search(text, start + _CHUNK_BYTES)
        end = cut.end() if cut else len(text)
        yield text[start:end]
        start = end


def _parseable(
    connection: duckdb.DuckDBPyConnection, chunks: list[bytes], is_last: bool, reader: _Reader
) -> tuple["pyarrow.Table", bytes]:
    """Lists of all whole events of the chunks, in their order; and what may be the begin of an event of the next block."""
    lists = [_as_list(chunk) for chunk in chunks]
    table = _as_table(lists)
    if all(_are(_VALID, connection, table)):
        return table, b""
    # A cut inside an event can leave a valid list of the objects in it.
    are_valid = _are(_OF_EVENTS, connection, table)
    parseable: list[bytes] = []
    rest = b""
    for is_valid, group in groupby(range(len(chunks)), are_valid.__getitem__):
        numbers = list(group)
        if is_valid:
            parseable += [lists[number] for number in numbers]
            continue
        events, lost_bytes, rest = _salvage(b"".join(chunks[number] for number in numbers))
        is_whole = _are(_VALID, connection, _as_table(events, rows_of_batch=2048))
        parseable += _joined(list(compress(events, is_whole)))
        lost_bytes += sum(len(event) for event, is_one in zip(events, is_whole, strict=True) if not is_one)
        if is_last or numbers[-1] + 1 < len(chunks) or len(rest) > _MAX_EVENT_BYTES:
            lost_bytes += len(rest.rstrip(_BETWEEN))
            rest = b""
        reader.lost_bytes += lost_bytes
    return _as_table(parseable), rest


def _joined(events: list[bytes]) -> list[bytes]:
    """Lists of the size of a chunk of these events."""
    sizes = accumulate(map(len, events))
    numbered = groupby(zip(sizes, events, strict=True), lambda one: one[0] // _CHUNK_BYTES)
    return [_as_list(b",".join(event for _, event in group)) for _, group in numbered]


def _as_list(events: bytes) -> bytes:
    """Events as a JSON list, their time stamps as texts."""
    return b"[" + _NUMBER_TIMESTAMP.sub(rb'\1"\2"', events.rstrip(_BETWEEN)) + b"]"


def _salvage(damaged: bytes) -> tuple[list[bytes], int, bytes]:
    """The whole events in a damaged part of the list, the size of what is none, and what follows the last of them.

    What has no phase is a part of a broken event.
    """
    decoder = json.JSONDecoder()
    text = damaged.decode("utf-8", "surrogateescape")

    def as_bytes(start: int, end: int) -> bytes:
        return text[start:end].encode("utf-8", "surrogateescape")

    events = []
    lost_bytes = begin = end = 0
    while start := _EVENT_START.search(text, begin):
        begin = start.start(1)
        try:
            event, event_end = decoder.raw_decode(text, begin)
        except ValueError:
            begin = start.end()
            continue
        except RecursionError:
            closing_brace = text.find("}", begin)
            begin = closing_brace if closing_brace >= 0 else len(text)
            continue
        if "ph" in event:
            events.append(_without_lone_surrogates(as_bytes(begin, event_end)))
            lost_bytes += len(as_bytes(end, begin).strip(_BETWEEN))
            end = event_end
        begin = event_end
    return events, lost_bytes, as_bytes(end, len(text)).lstrip(_BETWEEN)


def _without_lone_surrogates(event: bytes) -> bytes:
    """An event in which halves of a character, which DuckDB refuses, are U+FFFD. Python writes them for bad bytes of a path."""
    return _PAIR_OR_LONE_SURROGATE.sub(lambda found: found[1] or rb"\ufffd", event)


def _as_table(lists: list[bytes], rows_of_batch: int = 1) -> "pyarrow.Table":
    """Texts in batches of one, so that each thread takes one after another. Bytes that are not UTF-8 become U+FFFD."""
    import pyarrow

    texts = pyarrow.array(lists, pyarrow.binary())
    try:
        texts = texts.cast(pyarrow.string())
    except pyarrow.ArrowInvalid:
        texts = pyarrow.array([one.decode("utf-8", "replace") for one in lists], pyarrow.string())
    table = pyarrow.table({"number": pyarrow.array(range(len(lists)), pyarrow.int64()), "text": texts})
    return pyarrow.Table.from_batches(table.to_batches(max_chunksize=rows_of_batch), table.schema)


def _are(condition: str, connection: duckdb.DuckDBPyConnection, lists: "pyarrow.Table") -> list[bool]:
    connection.register("event_list", lists)
    rows = connection.execute(f"SELECT {condition} FROM event_list ORDER BY number").fetchall()
    return [row[0] for row in rows]


def _parse(connection: duckdb.DuckDBPyConnection, lists: "pyarrow.Table", first_number: int, structure: str) -> None:
    connection.register("event_list", lists)
    connection.execute(f"""
        CREATE OR REPLACE TEMP TABLE event_block AS
        WITH parsed AS (SELECT number, from_json(text, {quote_text(f"[{structure}]")}) AS events FROM event_list)
        SELECT
            ({first_number} + number) * {_IDS_OF_CHUNK} + generate_subscripts(events, 1) AS event_id,
            unnest(events) AS event
        FROM parsed
    """)
