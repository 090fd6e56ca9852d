"""Flame graphs: a file of speedscope with a profile for each rank, or lines in the collapsed form of flamegraph.pl.

The names come from files that anybody may have written: what controls a terminal or ends a line is written out, as on the
screen, and in the collapsed form so is what separates names.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.common.files import replacing
from prof_analysis.common.version import __version__
from prof_analysis.common.visible import visible
from prof_analysis.exports.names import file_name

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
# The columns that have the width of a line, with the word of speedscope for their unit.
_UNITS = {"duration_ns": "nanoseconds", "live_bytes": "bytes"}
_SUFFIXES = {"speedscope": "speedscope.json", "collapsed": "collapsed.txt"}

# A line of a flame graph: the name of its rank, the names of its frames, its time in ns or its bytes.
Line = tuple[str, list[str], int]


def write(connection: duckdb.DuckDBPyConnection, folder: Path, exports: Mapping[str, str], export_type: str) -> list[Path]:
    """Write a file for each table of lines, and return the files. Without lines only the first one has a file."""
    written: list[Path] = []
    for table, name in exports.items():
        target = folder / f"{file_name(name)}.{_SUFFIXES[export_type]}"
        names = _names_of_ranks(connection, table)
        if written and not names:
            target.unlink(missing_ok=True)  # Of an earlier export.
            continue
        columns = {column for column, *_ in connection.execute(f"DESCRIBE {table}").fetchall()}
        (width,) = columns & _UNITS.keys()
        with replacing(target) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
            lines = _lines(connection, table, names, width)
            if export_type == "speedscope":
                json.dump(_speedscope(lines, name, _UNITS[width]), file, separators=(",", ":"))
            else:
                file.writelines(_collapsed(lines, has_several_ranks=len(names) > 1))
        written.append(target)
    return written


def _names_of_ranks(connection: duckdb.DuckDBPyConnection, table: str) -> dict[tuple[str, ...], str]:
    """Return the names of the ranks of a table by run, if there are several, and profile: a number, where no other has it."""
    rows = connection.execute(f"SELECT DISTINCT COLUMNS('^(run|profile|rank_id)$') FROM {table}").fetchall()
    numbers = [(*run, rank_id) for *run, _, rank_id in rows]
    names = {}
    for *run, profile, rank_id in rows:
        is_known = rank_id is not None and numbers.count((*run, rank_id)) == 1
        names[(*run, profile)] = " ".join((*run, f"rank {rank_id}" if is_known else profile))
    return names


def _lines(
    connection: duckdb.DuckDBPyConnection, table: str, names: Mapping[tuple[str, ...], str], width: str
) -> Iterator[Line]:
    """Yield the lines of a table, rank after rank."""
    of_rank = ", ".join(("run", "profile")[-len(next(iter(names), ("",))) :])
    rows = connection.execute(f"SELECT frames, {width}, {of_rank} FROM {table}")
    while batch := rows.fetchmany(1000):
        for frames, value, *rank in batch:
            yield names[tuple(rank)], frames, value


def _speedscope(lines: Iterator[Line], name: str, unit: str) -> dict[str, Any]:
    """Return a file of speedscope; a profile of the type sampled has stacks with weights."""
    numbers: dict[str, int] = {}
    profiles = []
    for rank, of_rank in groupby(lines, key=itemgetter(0)):
        samples, weights = [], []
        for _, frames, value in of_rank:
            samples.append([numbers.setdefault(visible(frame), len(numbers)) for frame in frames])
            weights.append(value)
        profiles.append(
            {
                "type": "sampled",
                "name": visible(rank),
                "unit": unit,
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    return {
        "$schema": _SCHEMA,
        "exporter": f"prof-analysis {__version__}",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": frame} for frame in numbers]},
        "profiles": profiles,
    }


def _collapsed(lines: Iterable[Line], has_several_ranks: bool) -> Iterator[str]:
    """Yield lines of text, each frames and a number; of several ranks, the rank is the outermost frame."""
    for rank, frames, value in lines:
        names = [rank, *frames] if has_several_ranks else frames
        # As the scripts of flamegraph.pl do, ';' becomes ':'.
        yield f"{';'.join(visible(one).replace(';', ':') or '(no name)' for one in names)} {value}\n"
