"""Reads a trace, packed or not, as blocks of chunks that are cut between events, and records what was lost.

torch_npu writes a list of events; Kineto, and trace viewers that save one, an object with the list in the key traceEvents.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from io import BufferedReader
from itertools import chain
from pathlib import Path

from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.common.input_files import opened
from prof_analysis.sources.readers import marks

CHUNK_BYTES = 2**20
_BLOCK_BYTES = 8 * 2**20
MAX_EVENT_BYTES = 64 * 2**20

# Inside a JSON text a quote follows a backslash, so only a text that ends in `}, {` looks like a cut and is not one.
_BETWEEN_EVENTS = re.compile(rb'\}\s*,\s*(?=\{\s*["}])')
# A text, with its closing quote as a group, or a bracket. These are enough to find the keys of an object.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:(")|\\?\Z)|[{}\[\]]', re.DOTALL)
_LIST_OF_KEY = re.compile(rb"\s*:\s*\[\s*")
# Keys and categories that only Kineto writes; before 2023 the latter had other names.
_OF_KINETO = re.compile(
    rb'(?<!\\)"(?:External id|schemaVersion|deviceProperties|baseTimeNanoseconds|distributedInfo)"\s*:'
    rb'|(?<!\\)"cat"\s*:\s*"(?:[Kk]ernel|gpu_\w+|cuda_\w+|Runtime|ac2g|user_annotation|cpu_instant_event|Operator)"'
)
_BEGIN_BYTES = 2**20


def check_begin(path: Path) -> None:
    """Raise InputError where a file does not begin as a list of events."""
    with closing(TraceFile(path, lambda _: None).blocks()) as blocks:
        next(blocks, None)


def begin_of(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked; as many as can be read."""
    begin = b""
    try:
        with marks.opened(path) as content:
            while len(begin) < _BEGIN_BYTES and (piece := content.read1(_BEGIN_BYTES)):
                begin += piece
    except (OSError, EOFError, zlib.error):
        pass  # What could be read is enough, or inspect() says what is wrong.
    return begin


def is_of_kineto(path: Path) -> bool:
    """Return whether a file begins as a trace of Kineto, which profiles CPUs and GPUs."""
    begin = begin_of(path)
    return begin.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") and _OF_KINETO.search(begin) is not None


class TraceFile:
    """Reader of a file as blocks of chunks, cut between events, which records what was lost.

    In an object, other keys may be around the list; `head` has the part before its first event. The reader does not look for
    the end of the list; the parser of the chunks finds it in a chunk that is not a list of events, and sets is_ended. The last
    block, before which is_at_end is set, is what follows the last border of two events.
    """

    def __init__(self, path: Path, on_bytes: Callable[[int], None]) -> None:
        self.path = path
        self.lost_bytes = 0
        self.is_object = False
        self.is_ended = False
        self.is_at_end = False
        self.head = b""
        self._read_bytes = 0
        self.is_closed = False
        self._stopped_by: str | None = None
        self._on_bytes = on_bytes

    def blocks(self) -> Generator[list[memoryview]]:
        """Yield the chunks, block by block. A chunk ends with the separator from the next one."""
        with closing(self._pieces()) as pieces:
            rest = self._begin_of_list(pieces)
            for piece in chain((b"",), pieces):
                rest += piece
                if end := _last_cut(rest):
                    yield list(_chunks(rest, end))
                    rest = rest[end:]
                elif len(rest) > MAX_EVENT_BYTES:
                    if not self.is_object:
                        raise self._no_event_in_sight()
                    yield [memoryview(rest)]
                    rest = b""
        self.is_at_end = True
        rest = rest.rstrip()
        inside = rest.removesuffix(b"}").rstrip() if self.is_object else rest
        if inside.endswith(b"]"):
            self.is_closed = True
            rest = inside[:-1]
        if rest:
            yield list(_chunks(rest, len(rest)))

    def warnings(self) -> list[str]:
        """Return warnings about the file after it is read."""
        found = []
        if self._stopped_by:
            found.append(
                f"cannot be unpacked beyond {self._read_bytes:,} bytes ({self._stopped_by}), so later events are missing"
            )
        elif not self.is_closed and not self.is_ended:
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
            with opened(self.path) as file:
                content = gzip.GzipFile(fileobj=file) if self.path.suffix == ".gz" else file
                position, size = 0, self.path.stat().st_size
                while piece := self._piece(content):
                    self._read_bytes += len(piece)
                    self._on_bytes(file.tell() - position)
                    position = file.tell()
                    yield piece
                self._on_bytes(size - position)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({reason_of(error)})", path=self.path) from error
        if self._stopped_by and not self._read_bytes:
            raise InputError(f"{self.path}: cannot be unpacked ({self._stopped_by}); copy it again", path=self.path)

    def _piece(self, content: gzip.GzipFile | BufferedReader) -> bytes:
        """Return the next piece of a file; where it cannot be unpacked to its end, all of it that can."""
        parts: list[bytes] = []
        missing = 0 if self._stopped_by else _BLOCK_BYTES
        try:
            while missing > 0 and (part := content.read1(missing)):
                parts.append(part)
                missing -= len(part)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._stopped_by = reason_of(error)
        return b"".join(parts)

    def _no_event_in_sight(self) -> InputError:
        return InputError(
            f"{self.path}: no event ends in the {MAX_EVENT_BYTES // 2**20} MB before byte {self._read_bytes:,}; "
            "it is not a trace of the profiler, or it is damaged; copy it again"
        )

    def _begin_of_list(self, pieces: Iterator[bytes]) -> bytes:
        """Return the text after the opening bracket of the list, in as many pieces as it takes to find it."""
        begin = next(pieces, b"")
        if not self._read_bytes:
            raise InputError(f"{self.path}: is empty; export the profile again", path=self.path)
        content = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
        if content.startswith(b"["):
            return content[1:]
        if not content.startswith(b"{"):
            raise InputError(f"{self.path}: holds no list of events; export the profile again", path=self.path)
        self.is_object = True
        self.head, events = _list_in_object(content, pieces)
        if events is None:
            raise InputError(
                f"{self.path}: holds a JSON object without a list traceEvents; export the profile again",
                path=self.path,
            )
        self.is_ended = events.startswith(b"]")
        return events


def _list_in_object(content: bytes, pieces: Iterator[bytes]) -> tuple[bytes, bytes | None]:
    """Return an object up to the opening bracket of its list traceEvents, and the rest; None if it has no such list."""
    depth = position = 0
    is_all = False
    while len(content) <= MAX_EVENT_BYTES and not is_all:
        piece = next(pieces, b"")
        is_all = not piece
        content += piece
        for token in _TOKEN.finditer(content, position):
            position = token.start()
            if token[1]:
                found = _LIST_OF_KEY.match(content, token.end()) if depth == 1 and token[0] == b'"traceEvents"' else None
                if found and (is_all or found.end() < len(content)):
                    return content[: found.end()], content[found.end() :]
            elif token[0].startswith(b'"'):
                break
            else:
                position = token.end()
                depth += 1 if token[0] in b"{[" else -1
                if not depth:
                    return b"", None
    return b"", None


def _last_cut(text: bytes) -> int | None:
    """Return where the last event of a text begins; None where no event is before it."""
    window = 2**16
    while True:
        start = max(0, len(text) - window)
        ends = [cut.end() for cut in _BETWEEN_EVENTS.finditer(text, start)]
        if ends or not start:
            return ends[-1] if ends else None
        window *= 16


def _chunks(text: bytes, end: int) -> Generator[memoryview]:
    view = memoryview(text)
    start = 0
    while start < end:
        cut = _BETWEEN_EVENTS.search(text, start + CHUNK_BYTES)
        next_start = min(cut.end(), end) if cut else end
        yield view[start:next_start]
        start = next_start
