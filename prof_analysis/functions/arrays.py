"""Columns of tables as arrays of numpy, and back: what a function takes and gives that does one pass over many rows."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Batch = dict[str, Array]
# In the place of NULL.
NONE = np.iinfo(np.int64).min


def batches_of(rows: pa.RecordBatchReader) -> Iterator[Batch]:
    """Yield the columns of a result, integers all, with NONE for NULL, in parts; the first one is empty.

    Each batch is copied and let go: pyarrow keeps all columns of a batch while one of them is used.
    """
    yield {name: np.empty(0, np.int64) for name in rows.schema.names}
    for batch in rows:
        columns = zip(batch.schema.names, batch.columns, strict=True)
        yield {name: np.array(column.fill_null(NONE) if column.null_count else column) for name, column in columns}


def whole(batches: Iterable[Batch]) -> Batch:
    """Return the columns of all batches."""
    parts: dict[str, list[Array]] = {}
    for batch in batches:
        for name, column in batch.items():
            parts.setdefault(name, []).append(column)
    return {name: np.concatenate(parts.pop(name)) for name in [*parts]}


def table(columns: Mapping[str, Array]) -> pa.Table:
    """Return columns as a table that SQL reads, with NULL for NONE."""
    return pa.table({name: pa.array(one, mask=one == NONE if one.dtype == np.int64 else None) for name, one in columns.items()})


def distinct(numbers: Ints) -> Ints:
    """Return the distinct numbers in order. numpy.unique() would hash them: for three million 3.8 s in place of 0.02."""
    ascending = np.sort(numbers, kind="stable")
    return ascending[is_new(ascending)]


def in_order(first: Ints, *rest: Ints) -> Ints:
    """Return the places of rows in the order of the first numbers, and where these are equal in the order of the rest.

    Starts of spans come nearly in order, and few are equal: of 3.7 million this takes 0.2 s, and lexsort() 0.34.
    """
    order = np.argsort(first, kind="stable")
    is_equal = first[order[1:]] == first[order[:-1]]
    equal = np.flatnonzero(np.append(is_equal, False) | np.append(False, is_equal))
    rows = order[equal]
    order[equal] = rows[np.lexsort([numbers[rows] for numbers in (*reversed(rest), first)])]
    return order


def is_new(numbers: Ints) -> Array:
    """Return whether each number differs from the one before it."""
    return np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)]


def outer_first(ids: Ints, threads: Ints, starts: Ints, ends: Ints) -> Ints | slice:
    """Return the order of spans by thread, start, length (longest first) and id: a slice of all where they are in it already.

    To look takes a tenth of the time of sorting what is in order, and nothing is copied then.
    """
    follows = ids[1:] >= ids[:-1]
    for before, after in ((ends[1:], ends[:-1]), (starts[:-1], starts[1:]), (threads[:-1], threads[1:])):
        follows = (before < after) | ((before == after) & follows)
    if follows.all():
        return slice(None)
    order = in_order(starts, -ends, ids)
    known = distinct(threads)
    return order[_in_order_of_groups(np.searchsorted(known, threads[order]), len(known))]


def runs(numbers: Ints) -> Iterator[tuple[int, int]]:
    """Yield where each run of equal numbers begins, and where the next one does."""
    return pairwise([*np.flatnonzero(is_new(numbers)).tolist(), len(numbers)])


def places_in(known: Ints, numbers: Ints) -> Ints:
    """Return the place of each number among distinct ones in order, and their count for one that is not among them."""
    place = np.searchsorted(known, numbers)
    return np.where(np.append(known, 0)[place] == numbers, place, len(known))


def grouped(groups: Ints, count: int) -> list[Ints]:
    """Return the places of the rows of each group, from 0 to the number of groups, in their order."""
    order = _in_order_of_groups(groups, count)
    return np.split(order, np.searchsorted(groups[order], np.arange(1, count)))[:count]


def _in_order_of_groups(groups: Ints, count: int) -> Ints:
    # Of 16 bits numpy sorts by counting.
    return np.argsort(groups.astype(np.uint16 if count <= 2**16 else np.int64), kind="stable")
