"""Results of msServiceProfiler: the csv files about batches, requests and the KV cache that its parser writes into a folder."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path

from prof_analysis.common import input_files
from prof_analysis.common.errors import InputError, reason_of

# A file -> columns that none of the same name from elsewhere has.
_FILES: Mapping[str, frozenset[str]] = {
    "request.csv": frozenset(("http_rid", "first_token_latency(ms)")),
    "batch.csv": frozenset(("name", "res_list", "start_time(ms)")),
    "kvcache.csv": frozenset(("name", "kvcache_usage_rate", "free_blocks")),
    "spec_decode.csv": frozenset(("rid", "spec_tokens", "accepted_tokens")),
}
# A header of more bytes is none of them.
_HEADER_BYTES = 4096
# Moments are 13 digits of ms.
_LARGEST = 10**13
_Row = Mapping[str, str]
# A request in a batch, as Python or JSON writes a dict without others inside.
_REQUEST = re.compile(r"\{([^{}]*)\}")
_ENTRY = re.compile(r"""['"](\w+)['"]\s*:\s*(?:'([^']*)'|"([^"]*)"|(-?\d{1,18})\b)""")


def files_in(folder: Path) -> list[Path]:
    """Return the files of msServiceProfiler in a folder: those of its names that begin as it writes them."""
    return [file for name, columns in _FILES.items() if columns <= _header_of(file := folder / name)]


def beside(paths: Iterable[Path]) -> Path | None:
    """Return the first of these folders that holds results of msServiceProfiler."""
    return next((path for path in paths if path.is_dir() and files_in(path)), None)


def folder_of(given: Path) -> Path | None:
    """Return the folder of its results that a path means, which may be one of the files; None where it means something else."""
    if given.is_dir():
        return given
    return given.parent if given.name in _FILES else None


def read_folder(folder: Path) -> tuple[str, ...]:
    """Return the records of a folder's files: each a JSON object in a text, the first says where they are from.

    A batch has its requests, a request its latencies, a draft its tokens; times are in ns, moments in Unix ns.
    Raises InputError, which names the file, where none is there, or one cannot be read.
    """
    files = files_in(folder)
    if not files:
        raise InputError(
            f"{folder}: holds no {', '.join(_FILES)} of msServiceProfiler; give the folder into which its parser wrote them, "
            "or the file of a benchmark",
            path=folder,
        )
    found = [record for file in files for record in _READERS[file.name](_rows(file))]
    failed = sum(record["kind"] == "request" and not record["ttft_ns"] for record in found)
    head = _text({"kind": "run", "origin": "msServiceProfiler", "run_count": 1, "failed_count": failed})
    return (head, *(_text(record) for record in found if record["kind"] != "request" or record["ttft_ns"]))


def _header_of(file: Path) -> frozenset[str]:
    """Return the columns of a csv file; none where it cannot be read, or is no such file."""
    try:
        with input_files.opened(file) as content:
            line = content.readline(_HEADER_BYTES).decode("utf-8-sig", "replace")
        return frozenset(name.strip() for name in next(csv.reader([line]), []))
    except (OSError, csv.Error):
        return frozenset()


def _rows(file: Path) -> list[_Row]:
    usual = csv.field_size_limit(input_files.FIGURES_BYTES)  # A batch of a thousand requests is a long cell.
    try:
        content = input_files.whole(file, input_files.FIGURES_BYTES).decode("utf-8-sig")
        return [
            {name.strip(): cell.strip() for name, cell in row.items() if name and isinstance(cell, str)}
            for row in csv.DictReader(io.StringIO(content, newline=""))
        ]
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)})", path=file) from error
    except (ValueError, csv.Error) as error:
        raise InputError(f"{file}: is no csv file in UTF-8 ({reason_of(error)[:100]}); parse again", path=file) from error
    finally:
        csv.field_size_limit(usual)


def _requests(rows: Iterable[_Row]) -> Iterator[dict[str, object]]:
    for row in rows:
        yield {
            "kind": "request",
            "request": row.get("http_rid"),
            "start_ns": _moment(row),
            "input_token_count": _whole(row, "recv_token_size"),
            "output_token_count": _whole(row, "reply_token_size"),
            "ttft_ns": _ns(row, "first_token_latency(ms)"),
            "e2el_ns": _ns(row, "execution_time(ms)"),
            "queue_ns": _ns(row, "queue_wait_time(ms)"),
        }


def _batches(rows: Iterable[_Row]) -> Iterator[dict[str, object]]:
    """Yield the batches that the model ran over; those that the scheduler formed have the blocks of the KV cache."""
    for row in rows:
        start_ns, duration_ns = _moment(row), _ns(row, "during_time(ms)")
        if start_ns is None or duration_ns is None:
            continue
        requests = list(_requests_of(row.get("res_list", "")))
        yield {
            "kind": "batch",
            "name": row.get("name"),
            "start_ns": start_ns,
            "end_ns": start_ns + duration_ns,
            "stream": row.get("prof_id"),
            "phase": row.get("batch_type", "").lower() or None,
            # Of vLLM the size of a batch that is run is its tokens.
            "request_count": len(requests) or _whole(row, "batch_size"),
            "token_count": _whole(row, "total_scheduled_tokens"),
            **_blocks(row),
            "requests": requests,
        }


def _requests_of(text: str) -> Iterator[dict[str, object]]:
    """Yield the requests in a batch, of which vLLM tells more than MindIE."""
    for one in _REQUEST.finditer(text):
        entries = {key: next((value for value in values if value), "") for key, *values in _ENTRY.findall(one[1])}
        if "rid" in entries:
            yield {
                "request": entries["rid"],
                "iteration": _whole(entries, "iter"),
                "phase": {"0": "prefill", "1": "decode"}.get(entries.get("type", "")),
                "token_count": _whole(entries, "num_scheduled_tokens"),
            }


def _caches(rows: Iterable[_Row]) -> Iterator[dict[str, object]]:
    for row in rows:
        yield {"kind": "cache", "name": row.get("name"), **_blocks(row)}


def _drafts(rows: Iterable[_Row]) -> Iterator[dict[str, object]]:
    for row in rows:
        yield {
            "kind": "draft",
            "request": row.get("rid"),
            "iteration": _whole(row, "iter"),
            "token_count": _whole(row, "spec_tokens"),
            "accepted_token_count": _whole(row, "accepted_tokens"),
            "draft_ns": _ns(row, "draft_model_time_ms"),
        }


_READERS: Mapping[str, Callable[[Iterable[_Row]], Iterator[dict[str, object]]]] = {
    "request.csv": _requests,
    "batch.csv": _batches,
    "kvcache.csv": _caches,
    "spec_decode.csv": _drafts,
}


def _blocks(row: _Row) -> dict[str, int | None]:
    return {"block_count": _whole(row, "total_blocks"), "used_block_count": _whole(row, "used_blocks")}


def _moment(row: _Row) -> int | None:
    """Return when something started, Unix ns: whole ms, and the us behind them in the date of the same moment."""
    start_ns = _ns(row, "start_time(ms)")
    if start_ns is None:
        return None
    fraction = re.search(r"[.:](\d{3})(\d{3})$", row.get("start_datetime", ""))
    is_same = fraction is not None and start_ns % 10**6 == 0 and int(fraction[1]) == start_ns // 10**6 % 1000
    return start_ns + 1000 * int(fraction[2]) if fraction is not None and is_same else start_ns


def _ns(row: _Row, column: str) -> int | None:
    """Return a time in ms as ns; None where a cell holds none."""
    value = _number(row.get(column, ""))
    return None if value is None else round(value * 10**6)


def _whole(row: _Row, column: str) -> int | None:
    """Return a number of something, which may be written with decimals; None where a cell holds none."""
    value = _number(row.get(column, ""))
    return None if value is None or value != int(value) else int(value)


def _number(cell: str) -> Decimal | None:
    """Return a number that is not below 0: exact, since moments in ms have more digits than a float."""
    try:
        value = Decimal(cell)
    except InvalidOperation:
        return None
    return value if value.is_finite() and 0 <= value <= _LARGEST else None


def _text(record: Mapping[str, object]) -> str:
    return json.dumps(record, separators=(",", ":"))
