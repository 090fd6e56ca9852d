"""Export to traces in the Trace Event Format for ui.perfetto.dev, chrome://tracing and MindStudio Insight: a file a rank."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import duckdb
from isal import isal_zlib

from prof_analysis.common.capabilities import any_of
from prof_analysis.common.files import replacing
from prof_analysis.common.visible import visible
from prof_analysis.engine.database import keeping_order
from prof_analysis.engine.quotes import quote_text
from prof_analysis.sources.rank import Rank

# zlib takes four to five times as long, for a file 4 % larger at its fastest level; isal's highest level takes as long as zlib.
_LEVEL = 2
_GZIP = 31
_ROWS_AT_ONCE = 50_000
_ENDING = re.compile(r"\.(json|json\.gz|csv|db)$")
_BETWEEN = ",\n"
_LONGEST = 1000


def write(connection: duckdb.DuckDBPyConnection, ranks: Sequence[Rank], folder: Path, warnings: list[str]) -> list[Path]:
    """Write a file for each rank that has kernels, such as timeline_rank0.json.gz, and return the files.

    `connection` has across.timeline_event, across.timeline_rank and across.timeline_track with the rows of all ranks. A
    sentence about each rank without kernels, or without anything of the host, is added to `warnings`.
    """
    written = []
    for rank, name in zip(ranks, _names(ranks), strict=True):
        of_rank = f"profile = {quote_text(rank.profile)}"
        if len({one.run for one in ranks}) > 1:
            of_rank += f" AND run = {quote_text(rank.run)}"
        found = connection.execute(f"SELECT base_ns, process_id FROM across.timeline_rank WHERE {of_rank}").fetchall()
        if not found:
            warnings.append(f"{rank.profile}: it has no kernels, so it has no timeline")
            continue
        target = folder / f"timeline_{name}.json.gz"
        ((base_ns, pid),) = found
        tracks = connection.execute(f"SELECT track_id, name, host_tid FROM across.timeline_track WHERE {of_rank}").fetchall()
        if all(host_tid is None for _, _, host_tid in tracks):
            why = rank.why_not((any_of("ops", "host_calls"),)) or "nothing of them is recorded"
            warnings.append(f"{rank.profile}: its timeline has no threads of the host: {why}")
        names = _BETWEEN.join((*_process_of(rank, pid), *_names_of_tracks(pid, tracks)))
        # The events of a track stay in the order of time: to sort the events would take as long as to make them.
        with replacing(target) as unfinished, keeping_order(connection):
            events = f"SELECT event || {quote_text(_BETWEEN)} FROM across.timeline_event WHERE {of_rank}"
            _write_events(connection.sql(events), names, base_ns, unfinished)
        written.append(target)
    return written


# What identifies people and machines is replaced in columns, so names are not made in SQL, where they would be parts of a text.
def _process_of(rank: Rank, pid: int) -> Iterator[str]:
    """Yield the events that name the process of a rank and give it its place."""
    name = rank.profile if rank.rank_id is None else f"rank {rank.rank_id}, {rank.profile}"
    yield _said_of(pid, 0, "process_name", name=name)
    yield _said_of(pid, 0, "process_sort_index", sort_index=pid)


def _names_of_tracks(pid: int, tracks: Iterable[tuple[int, str, int | None]]) -> Iterator[str]:
    """Yield the events that name the tracks of a rank and give them their places; threads of the host have numbers."""
    for tid, name, host_tid in tracks:
        yield _said_of(pid, tid, "thread_name", name=name if host_tid is None else _name_of_thread(name, host_tid))
        yield _said_of(pid, tid, "thread_sort_index", sort_index=tid)


def _name_of_thread(name: str, host_tid: int) -> str:
    """Return a name with the number of the thread behind `thread`, as in `main thread 4242 (2)`."""
    return name.replace("thread", f"thread {host_tid & 0xFFFFFFFF}", 1)


def _said_of(pid: int, tid: int, what: str, **args: str | int) -> str:
    """Return an event that says something of a process or a track. Some readers refuse characters that control a terminal."""
    shown = {name: visible(value)[:_LONGEST] if isinstance(value, str) else value for name, value in args.items()}
    return json.dumps({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": shown}, ensure_ascii=False)


def _write_events(events: duckdb.DuckDBPyRelation, names: str, base_ns: int, file: Path) -> None:
    """Write the events with names and those of a query, each with _BETWEEN behind it, as one JSON object.

    The list of events comes first: of an object with another member before it, Perfetto reads nothing.
    """
    packer = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP)
    with file.open("wb") as opened:
        before = f'{{"traceEvents":[\n{names}{_BETWEEN}'.encode()
        for batch in events.to_arrow_reader(_ROWS_AT_ONCE):
            # As Python texts, a million events would take a second more.
            _, offsets, texts = batch.column(0).buffers()
            end = memoryview(offsets).cast("i")[batch.num_rows]
            opened.write(packer.compress(before))
            opened.write(packer.compress(memoryview(texts)[: end - len(_BETWEEN)]))
            before = _BETWEEN.encode()
        opened.write(packer.compress(f'\n],"baseTimeNanoseconds":{base_ns}}}\n'.encode()))
        opened.write(packer.flush())


def _names(ranks: Sequence[Rank]) -> Iterator[str]:
    """Yield the name of each rank's file: the rank's number, else its folder; with the run if there are several."""
    runs = {rank.run for rank in ranks}
    numbers = Counter((rank.run, rank.rank_id) for rank in ranks)
    taken: Counter[str] = Counter()
    for rank in ranks:
        has_number = rank.rank_id is not None and numbers[rank.run, rank.rank_id] == 1
        words = [*([rank.run] if len(runs) > 1 else []), f"rank{rank.rank_id}" if has_number else _ENDING.sub("", rank.profile)]
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", "_".join(words))[-100:]
        taken[name] += 1
        yield name if taken[name] == 1 else f"{name}_{taken[name]}"
