"""Export to traces in the Trace Event Format for ui.perfetto.dev, chrome://tracing and MindStudio Insight: a file a rank."""

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from prof_analysis.common.files import replacing
from prof_analysis.common.visible import visible
from prof_analysis.engine.quotes import quote_text
from prof_analysis.sources.rank import Rank

# zlib's fastest level: others take longer than making the events, and spare a tenth.
_LEVEL = 1
_GZIP = 31
_ROWS_AT_ONCE = 50_000
_ENDING = re.compile(r"\.(json|json\.gz|csv|db)$")
_BETWEEN = ",\n"


def write(connection: duckdb.DuckDBPyConnection, ranks: Sequence[Rank], folder: Path, warnings: list[str]) -> list[Path]:
    """Write a file for each rank that has kernels, such as timeline_rank0.json.gz, and return the files.

    `connection` has across.timeline_event and across.timeline_rank with the rows of all ranks. A sentence about each rank
    without kernels is added to `warnings`.
    """
    written = []
    for rank, name in zip(ranks, _names(ranks), strict=True):
        of_rank = f"profile = {quote_text(rank.profile)}"
        if len({one.run for one in ranks}) > 1:
            of_rank += f" AND run = {quote_text(rank.run)}"
        found = connection.execute(f"SELECT base_ns, pid FROM across.timeline_rank WHERE {of_rank}").fetchall()
        if not found:
            warnings.append(f"{rank.profile}: it has no kernels, so it has no timeline")
            continue
        target = folder / f"timeline_{name}.json.gz"
        with replacing(target) as unfinished, _keeping_order(connection):
            events = f"SELECT event || {quote_text(_BETWEEN)} FROM across.timeline_event WHERE {of_rank}"
            _write_events(connection.sql(events), _process_of(rank, found[0][1]), found[0][0], unfinished)
        written.append(target)
    return written


@contextmanager
def _keeping_order(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let joins give the rows in the order of their left side, so that the events of a track stay in the order of time.

    To sort the events would take as long as to make them. DuckDB may join the other way round only to save time.
    """
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    try:
        yield
    finally:
        connection.execute("RESET disabled_optimizers")


def _process_of(rank: Rank, pid: int) -> str:
    """Return the event that names the process of a rank. It is not made in SQL: a folder is one text there, to be replaced."""
    name = rank.profile if rank.rank_id is None else f"rank {rank.rank_id}, {rank.profile}"
    return json.dumps({"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": {"name": visible(name)}})


def _write_events(events: duckdb.DuckDBPyRelation, process: str, base_ns: int, file: Path) -> None:
    """Write the event of the process and those of a query, each with _BETWEEN behind it, as one JSON object.

    The list of events comes first: of an object with another member before it, Perfetto reads nothing.
    """
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    with file.open("wb") as opened:
        before = f'{{"traceEvents":[\n{process}{_BETWEEN}'.encode()
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
