"""Reads the events of a trace_view.json into DuckDB: as a stream, fast, and with all whole events of a damaged file.

The file holds one JSON array of events. It is cut between events into chunks that DuckDB parses: 330 MB of AlexNet events at
390 MB/s in chunks of 1 MB, while its read_json reads the whole array at 157 MB/s. Where a cut is inside an event, or the file
is damaged, a chunk is not JSON: then Python's own parser finds the whole events in it.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain, compress, groupby, repeat
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from prof_analysis.engine.database import cursor_of
from prof_analysis.engine.quotes import quote_text
from prof_analysis.sources.readers.event_lists import as_list, as_readable_table, as_table, in_lists, with_text_timestamps
from prof_analysis.sources.readers.trace_file import MAX_EVENT_BYTES, TraceFile
from prof_analysis.sources.readers.whole_events import BETWEEN, salvage

if TYPE_CHECKING:
    import pyarrow

_IDS_OF_CHUNK = 2**20
# Blocks of the file that are parsed as one: the statements of a block take as long as a MB of events. Fewer at the
# beginning of a file, so that the threads begin at once and share a small one.
_JOINED_BLOCKS = (1, 1, 2, 2, 4)

# A double of 2^43 microseconds (8,796,093,022,208, a hundred days) or more: smaller ones are less than 0.001 from the next
# one, so DuckDB writes them as they were, as it does whole numbers. A double has at most 17 digits: longer texts were texts. To
# look at what was parsed takes no time that can be measured, a search in the file 0.6 s in 300 MB, quotes around all 0.9 s.
_MAY_HAVE_LOST_DIGITS = """
    instr(ts, '.') + (ts >= '8796093022208')::INT >= 15 AND length(ts) < 20 OR contains(ts, 'e') OR contains(ts, 'E')
"""
_LOST_DIGITS = "a time stamp may have lost digits"
_PHASE = b'"ph"'

_VALID = "json_valid(text)"
_OF_EVENTS = "CASE WHEN json_valid(text) THEN json_exists(text, '$[0].ph') ELSE false END"


class _Block(NamedTuple):
    """Blocks that are being parsed as if those before them were whole: then the first of their chunks has this number."""

    blocks: list[list[memoryview]]
    first_number: int
    cursor: duckdb.DuckDBPyConnection
    is_parsed: Future[bool]


def read_events(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    structure: str,
    kept: str,
    take: Callable[[duckdb.DuckDBPyConnection], None],
    on_bytes: Callable[[int], None],
    threads: int = 1,
    text: str = "text",
) -> list[str]:
    """Parse a file and call `take` for each block of it, with a connection that has the events of the block.

    They are in its table event_block, as the SELECT `kept` gives them. It reads the table `event`, which has event_id, in the
    order of the file, and event, a struct; `structure` is its type for DuckDB's from_json(). A time stamp that is a number in
    the file becomes text, since a double would lose digits. `threads` threads parse and take blocks, each block with a
    connection of its own, while another thread cuts the next block. `text` is an expression of what is parsed, by the column of
    this name. `on_bytes` gets the size of each piece of the file as it is
    read. Returns warnings about what was lost. Raises InputError when the file cannot be read or holds no list of events.
    """
    reader = TraceFile(path, on_bytes)
    are_numbers = Event()
    parse = partial(_parse, structure=structure, kept=kept, text=text)
    chunk_count = next_number = 0
    rest = b""
    parsing: deque[_Block] = deque()
    taking: deque[Future[None]] = deque()

    def take_and_free(cursor: duckdb.DuckDBPyConnection) -> None:
        try:
            take(cursor)
        finally:
            cursors.put(cursor)

    def parse_carefully(cursor: duckdb.DuckDBPyConnection, blocks: list[list[memoryview]], is_last: bool) -> int:
        nonlocal rest
        lists: list[bytes] = []
        for chunks in blocks:
            found, rest = _parseable(connection, [*([rest] if rest else []), *map(bytes, chunks)], is_last, reader)
            lists += found
        parse(cursor, as_readable_table(lists), chunk_count)
        return len(lists)

    with (
        _single_threaded(connection),
        # One block more than there are threads is parsed or taken, so that none waits for the order of the blocks.
        _cursors_of(connection, threads + 1) as cursors,
        closing(_joined_blocks(reader)) as joined,
        ThreadPoolExecutor(1) as ahead,
        ThreadPoolExecutor(threads) as workers,
    ):
        following: Future[list[list[memoryview]] | None] | None = ahead.submit(next, joined, None)
        while following or parsing:
            if following and len(parsing) < threads:
                blocks = following.result()
                following = ahead.submit(next, joined, None) if blocks is not None else None
                if blocks is not None:
                    cursor = cursors.get()
                    is_parsed = workers.submit(_parse_whole, parse, cursor, list(chain(*blocks)), next_number, are_numbers)
                    parsing.append(_Block(blocks, next_number, cursor, is_parsed))
                    next_number += sum(map(len, blocks))
                continue
            block = parsing.popleft()
            count = expected = sum(map(len, block.blocks))
            if not block.is_parsed.result() or rest or reader.is_ended or block.first_number != chunk_count:
                count = parse_carefully(block.cursor, block.blocks, is_last=False)
            chunk_count += count
            next_number += count - expected
            taking.append(workers.submit(take_and_free, block.cursor))
            while len(taking) > threads:
                taking.popleft().result()
        if rest:
            cursor = cursors.get()
            parse_carefully(cursor, [[]], is_last=True)
            taking.append(workers.submit(take_and_free, cursor))
        for taken in taking:
            taken.result()
    connection.unregister("event_list")
    return reader.warnings()


def _joined_blocks(reader: TraceFile) -> Generator[list[list[memoryview]]]:
    """Yield the blocks of a file, several as one, and the end of the file by itself where it is no list of events.

    That is so in an object with more behind the list. With the last event by itself, a tiny trace takes 35 ms more.
    """
    counts = chain(_JOINED_BLOCKS, repeat(_JOINED_BLOCKS[-1]))
    joined: list[list[memoryview]] = []
    count = next(counts)
    with closing(reader.blocks()) as blocks:
        for block in blocks:
            is_apart = not reader.is_closed if reader.is_at_end else len(joined) == count
            if joined and is_apart:
                yield joined
                joined, count = [], next(counts)
            joined.append(block)
    if joined:
        yield joined


@contextmanager
def _cursors_of(connection: duckdb.DuckDBPyConnection, count: int) -> Iterator[SimpleQueue[duckdb.DuckDBPyConnection]]:
    """Open `count` cursors of a connection; whoever takes one from the queue puts it back."""
    opened = [cursor_of(connection) for _ in range(count)]
    cursors: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    for cursor in opened:
        cursors.put(cursor)
    try:
        yield cursors
    finally:
        for cursor in opened:
            cursor.close()


@contextmanager
def _single_threaded(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run each statement on its calling thread: two of our threads reach 129 MB/s, with DuckDB's own threads 110 MB/s."""
    ((threads,),) = connection.execute("SELECT current_setting('threads')").fetchall()
    connection.execute("SET threads = 1")
    try:
        yield
    finally:
        connection.execute(f"SET threads = {threads}")


def _parseable(
    connection: duckdb.DuckDBPyConnection, chunks: list[bytes], is_last: bool, reader: TraceFile
) -> tuple[list[bytes], bytes]:
    """Return lists of all whole events of the chunks, in order, and a rest that may begin an event of the next block."""
    if reader.is_ended and not any(_PHASE in chunk for chunk in chunks):
        return [], b""
    reader.is_ended = False  # The supposed end was inside an event.
    lists = [with_text_timestamps(as_list(chunk)) for chunk in chunks]
    table = as_readable_table(lists)
    if all(_are(_VALID, connection, table)):
        return lists, b""
    # A cut inside an event can leave a valid list of the objects in it.
    are_valid = _are(_OF_EVENTS, connection, table)
    parseable: list[bytes] = []
    rest = b""
    for is_valid, group in groupby(range(len(chunks)), are_valid.__getitem__):
        numbers = list(group)
        if is_valid:
            parseable += [lists[number] for number in numbers]
            reader.is_ended = False
            continue
        damaged = b"".join(chunks[number] for number in numbers)
        events, lost_bytes, rest, reader.is_ended = salvage(damaged, reader.is_object)
        is_whole = _are(_VALID, connection, as_readable_table(events, rows_of_batch=2048))
        parseable += in_lists(list(compress(events, is_whole)))
        lost_bytes += sum(len(event) for event, is_one in zip(events, is_whole, strict=True) if not is_one)
        if is_last or numbers[-1] + 1 < len(chunks) or len(rest) > MAX_EVENT_BYTES:
            lost_bytes += len(rest.rstrip(BETWEEN))
            rest = b""
        reader.lost_bytes += lost_bytes
    return parseable, rest


def _are(condition: str, connection: duckdb.DuckDBPyConnection, lists: "pyarrow.Table") -> list[bool]:
    connection.register("event_list", lists)
    rows = connection.execute(f"SELECT {condition} FROM event_list ORDER BY number").fetchall()
    return [row[0] for row in rows]


def _parse_whole(
    parse: Callable[..., None],
    connection: duckdb.DuckDBPyConnection,
    chunks: list[memoryview],
    first_number: int,
    are_numbers: Event,
) -> bool:
    """Parse chunks where each is a list of events without its brackets, as almost all are. Returns whether they are.

    To try is half the work of a look at each chunk before. `are_numbers` is set where time stamps are numbers that may lose
    digits.
    """
    import pyarrow

    lists = [as_list(chunk) for chunk in chunks]
    try:
        if not are_numbers.is_set():
            try:
                parse(connection, as_table(lists), first_number, if_not=_MAY_HAVE_LOST_DIGITS)
            except duckdb.InvalidInputException as error:
                if _LOST_DIGITS not in str(error):
                    return False
                are_numbers.set()
            else:
                return True
        parse(connection, as_table([with_text_timestamps(one) for one in lists]), first_number)
    except (pyarrow.ArrowInvalid, duckdb.InvalidInputException, UnicodeDecodeError):
        return False  # UnicodeDecodeError: the error of DuckDB quotes the text, and can cut it inside a character.
    return True


def _parse(
    connection: duckdb.DuckDBPyConnection,
    lists: "pyarrow.Table",
    first_number: int,
    structure: str,
    kept: str,
    text: str,
    if_not: str = "false",
) -> None:
    """Make the table event_block of the events in lists. Raises InvalidInputException where `if_not` is true of one."""
    connection.register("event_list", lists)
    connection.execute(f"""
        CREATE OR REPLACE TEMP TABLE event_block AS
        WITH parsed AS (SELECT number, from_json({text}, {quote_text(f"[{structure}]")}) AS events FROM event_list),
        unchecked AS (
            SELECT
                ({first_number} + number) * {_IDS_OF_CHUNK} + generate_subscripts(events, 1) AS event_id,
                unnest(events) AS event
            FROM parsed
        ),
        event AS (
            SELECT event_id, event
            FROM (SELECT *, event.ts AS ts FROM unchecked)
            WHERE CASE WHEN {if_not} THEN error({quote_text(_LOST_DIGITS)})::BOOLEAN ELSE true END
        )
        {kept}
    """)
