"""The hardware counters (PMU) of kernel_details.csv: which of its columns they are, of any chip and set of metrics."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# What describes a kernel, in the names of all versions and of msprof's op_summary.
_DESCRIBING = frozenset(
    (
        "step id", "device_id", "model name", "model id", "task id", "stream id", "infer id", "op name", "name", "op type",
        "type", "op state", "task type", "accelerator core", "task start time(us)", "start time(us)", "task duration(us)",
        "duration(us)", "task wait time(us)", "wait time(us)", "block num", "block dim", "mix block num", "mix block dim",
        "grid dim", "hf32 eligible", "input shapes", "input data types", "input formats", "output shapes",
        "output data types", "output formats", "context id",
    )
)  # fmt: skip
_WITH_UNIT = re.compile(r"(.*\S)\s*\(([^()]+)\)")
# Name in the csv -> name in the database.
_NAMES_IN_DATABASE = {"aicore_time": "aic_total_time", "aiv_time": "aiv_total_time"}


@dataclass(frozen=True)
class Counter:
    """A column of counters: its name in the header in lower case, the metric as the database calls it, and the unit."""

    header: str
    metric: str
    unit: str | None


def counters_of(names: Iterable[str]) -> Iterator[Counter]:
    """The columns of a header that are counters: all that do not describe the kernel, so that new ones are there too."""
    for name in dict.fromkeys(names):
        header = name.lower()
        if header and header not in _DESCRIBING and not header.startswith("unnamed"):
            match = _WITH_UNIT.fullmatch(name)
            metric, unit = (match[1], match[2]) if match else (name, None)
            yield Counter(header, _NAMES_IN_DATABASE.get(metric.lower(), metric), unit)


def has_counters(names: Iterable[str]) -> bool:
    """Whether a header has counters; every set has the time of the cores."""
    return any(name.lower().startswith(("aic", "aiv")) for name in names)
