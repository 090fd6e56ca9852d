"""Derives the unit of a column, and the format in which people read its values, from its name and type."""

import re
from typing import Literal

# Text; whole number; number with decimals; amount per second; part of 1; duration in ns, or by how much one changed; point in
# time in Unix ns; bytes.
Format = Literal["text", "count", "number", "rate", "share", "time", "change", "moment", "size"]

# Suffix -> unit.
_UNITS = {"ns": "ns", "bytes": "bytes", "gb_s": "GB/s"}
# At the end, or in front of what it is divided by: win_ns_per_step.
_UNIT = re.compile(rf"_({'|'.join(_UNITS)})(?=_per_|$)")
_SHARE = re.compile(r"share$|^mfu|^efficiency|^occupancy$|_ratio$|_hit_rate$|_utilization$")
_RATE = re.compile(r"_(gb_s|tflops)$")


def unit_of(column: str) -> str | None:
    """Return the unit in the name of a column: total_ns -> ns, win_ns_per_step -> ns."""
    match = _UNIT.search(column)
    return _UNITS[match[1]] if match else None


def without_unit(column: str) -> str:
    """Return the name of a column without its unit: total_ns -> total."""
    return _UNIT.sub("", column)


def format_of(column: str, type_: str, meaning: str) -> Format:
    """Return the format of a column by its name, its type as users see it, and its documentation."""
    if type_ not in ("BIGINT", "INTEGER", "DOUBLE"):
        return "text"
    if unit_of(column) == "ns":
        return "moment" if "Unix ns" in meaning else "time"
    if type_ != "DOUBLE":
        return "count"
    if _SHARE.search(column):
        return "share"
    return "rate" if _RATE.search(column) else "number"
