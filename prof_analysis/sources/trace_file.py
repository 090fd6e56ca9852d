"""Reads a trace_view.json, packed or not, as blocks of chunks that are cut between events, and knows what was lost of it."""

import gzip
import re
import zlib
from collections.abc import Callable, Generator
from contextlib import closing
from io import BufferedReader
from pathlib import Path

from prof_analysis.errors import InputError, reason_of

CHUNK_BYTES = 2**20
_BLOCK_BYTES = 8 * 2**20
MAX_EVENT_BYTES = 64 * 2**20

# Inside a JSON text a quote has a backslash before it, so only a text that ends in `}, {` looks like this and is not.
_BETWEEN_EVENTS = re.compile(rb'\}\s*,\s*(?=\{\s*["}])')


def check_begin(path: Path) -> None:
    """Raise InputError where a file does not begin as a list of events."""
    with closing(TraceFile(path, lambda _: None).blocks()) as blocks:
        next(blocks, None)


class TraceFile:
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
                elif len(rest) > MAX_EVENT_BYTES:
                    raise InputError(
                        f"{self.path}: no event ends in the {MAX_EVENT_BYTES // 2**20} MB before byte {self._read_bytes:,}; "
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
        cut = _BETWEEN_EVENTS.search(text, start + CHUNK_BYTES)
        end = cut.end() if cut else len(text)
        yield text[start:end]
        start = end
