"""Chooses the entries of a communication matrix that add up to the data of operators, by their keys."""

import re
from collections.abc import Callable

_TOTAL = "-total"
_EXAMPLE = re.compile(r"-(top|middle|bottom)\d*$")


def totals_of(keys: set[str]) -> Callable[[str], str | None]:
    """Return the operators that a key of the matrix adds up; None if it is not to be counted.

    Writers since 2024 have for each type a total, beside its fastest and slowest operators (allreduce-total, -top1, -middle,
    -bottom1); those of 2023 have each operator, and no total.
    """
    if any(key.endswith(_TOTAL) for key in keys):
        return lambda key: key.removesuffix(_TOTAL) if key.endswith(_TOTAL) else None
    return lambda key: None if _EXAMPLE.search(key) else key
