"""Reads what MindSpore recorded of the pipeline that feeds the device: minddata_pipeline_*.csv and .json, dataset.csv.

The summary has a list for each key, with a value for each op; as CSV a row for each key. The raw file has a row for each op,
with the lengths of its queue at regular moments.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prof_analysis.common.errors import InputError
from prof_analysis.common.input_files import FIGURES_BYTES, whole
from prof_analysis.sources.ascend_beside.recorded_figures import MS, US, whole_of
from prof_analysis.sources.rank import number, object_in

CALLS = "dataset.csv"
SUMMARY, SUMMARY_TABLE, SAMPLES = (f"minddata_pipeline_{name}" for name in ("summary.json", "summary.csv", "raw.csv"))
# In this order: the first that is here is read.
FILES = (SUMMARY, SUMMARY_TABLE, SAMPLES, CALLS)
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "raw.input_op": {"op_id": "BIGINT", "name": "VARCHAR", "parent_id": "BIGINT", "worker_count": "BIGINT",
                     "queue_size": "DOUBLE", "queue_mean": "DOUBLE", "empty_percent": "DOUBLE", "cpu_percent": "DOUBLE"},
    "raw.input_time": {"name": "VARCHAR", "mean_ns": "BIGINT"},
    "raw.input_call": {"name": "VARCHAR", "stage": "VARCHAR", "call_count": "BIGINT", "mean_ns": "BIGINT"},
}  # fmt: skip
_NAME = re.compile(r"(minddata_pipeline_(?:raw|summary))(?:_\w+)?(\.csv|\.json)")
_TIMES = {"per_batch_time": "batch", "per_pipeline_time": "pipeline", "per_push_queue_time": "push"}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def role_of(file: Path) -> str | None:
    """Return which of these files one is, by its name; None for others."""
    match = _NAME.fullmatch(file.name)
    role = f"{match[1]}{match[2]}" if match else file.name
    return role if role in FILES else None


def rows_of(file: Path, name: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a raw table that a file holds. Raises InputError, OSError or ValueError where it cannot be read."""
    role = role_of(file)
    if role == CALLS:
        if name == "raw.input_call":
            for row in _table(file, ("operation", "occurrences")):
                mean = next((value for key, value in row.items() if key.startswith("avg") and "time" in key), None)
                yield row["operation"], row.get("stage"), number(row["occurrences"]), whole_of(mean, US)
    elif role == SAMPLES:
        if name == "raw.input_op":
            yield from map(_sampled, _table(file, ("op_id", "op_type", "output_queue_size")))
    elif role in (SUMMARY, SUMMARY_TABLE):
        content = object_in(whole(file, FIGURES_BYTES)) if role == SUMMARY else _lists(file)
        if not isinstance(content.get("op_ids"), list):
            raise InputError(f"{file}: is not a summary of a pipeline: it has no key 'op_ids'", path=file)
        if name == "raw.input_op":
            yield from _ops(content)
        elif name == "raw.input_time":
            yield from ((_TIMES[key], whole_of(_at(content, key, 0), MS)) for key in _TIMES if key in content)


def said_of_cut(file: Path, name: str) -> list[str]:
    """Say that the last row of a table is left out, where it has no end; once for each file."""
    role = role_of(file)
    is_told = name == ("raw.input_call" if role == CALLS else "raw.input_op")
    if not is_told or role not in (SUMMARY_TABLE, SAMPLES, CALLS) or whole(file, FIGURES_BYTES).endswith((b"\n", b"\r")):
        return []
    return [f"{file}: breaks off within its last line, which is left out; copy it again"]


def _ops(content: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for place, op_id in enumerate(content["op_ids"]):
        names = ("num_workers", "queue_average_size", "queue_utilization_pct", "queue_empty_freq_pct", "avg_cpu_pct")
        workers, mean, used, empty, cpu = (_float(_at(content, name, place)) for name in names)
        size = None if mean is None or not used else 100 * mean / used
        parent = number(_at(content, "parent_id", place))
        yield (
            number(op_id),
            _at(content, "op_names", place),
            parent,
            None if workers is None else int(workers),
            size,
            mean,
            empty,
            cpu,
        )


def _sampled(row: Mapping[str, str]) -> tuple[Any, ...]:
    sizes = [float(one) for one in _NUMBER.findall(row["output_queue_size"] or "")]
    mean = sum(sizes) / len(sizes) if sizes else None
    empty = 100 * sizes.count(0) / len(sizes) if sizes else None
    name = (row["op_type"] or "").removesuffix("Op") or None
    size = _float(row.get("output_queue_length"))
    return number(row["op_id"]), name, number(row.get("parent_id")), number(row.get("num_workers")), size, mean, empty, None


def _at(content: Mapping[str, Any], key: str, place: int) -> Any:
    values = content.get(key)
    return values[place] if isinstance(values, list) and place < len(values) else None


def _float(value: object) -> float | None:
    """Return a number; None for -1, which stands for what an op does not have, and for what is no number."""
    match = _NUMBER.fullmatch(str(value).strip())
    found = float(match[0]) if match and len(match[0]) < 20 else -1.0
    return None if found < 0 else found


def _rows(file: Path) -> Iterable[Sequence[str]]:
    text = whole(file, FIGURES_BYTES).decode("utf-8-sig", "replace")
    usual = csv.field_size_limit(FIGURES_BYTES)  # The samples of a queue are one cell.
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
        return rows if text.endswith(("\n", "\r")) else rows[:-1]
    except csv.Error as error:
        raise InputError(f"{file}: cannot be read as CSV ({error}); export it again", path=file) from error
    finally:
        csv.field_size_limit(usual)


def _table(file: Path, needed: Sequence[str]) -> Iterator[dict[str, str]]:
    head, *rows = [*_rows(file)] or [[]]
    names = [" ".join(name.split()).lower() for name in head]
    if lacking := [name for name in needed if name not in names]:
        raise InputError(f"{file}: is not the {role_of(file)} of MindSpore: it has no column {lacking[0]!r}", path=file)
    for row in rows:
        if len(row) == len(names):
            yield dict(zip(names, row, strict=True))


def _lists(file: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for key, *values in filter(None, _rows(file)):
        # Some versions write all values into one cell, as a list.
        is_list = len(values) == 1 and values[0].startswith("[")
        found[key] = json.loads(values[0].replace("'", '"')) if is_list else list(values)
    return found
