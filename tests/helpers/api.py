"""Helpers that several tests of the Python API share."""

from typing import Any

import pyarrow as pa

from tests.helpers.small_profile import Kernel, Op, Range

RANGES = (Range("Net", 100, 200), Range("Layer", 105, 125))


OPS = (
    Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040), Kernel("hcom_allReduce_", 1050, 1150, "communication"))),
    Op("aten::add", 130, 140, (Kernel("add_kernel", 1200, 1210),)),
    Op("aten::item", 300, 310, (Kernel("copy_kernel", 1300, 1350),)),
)


UNLINKED = (Kernel("lost_kernel", 1400, 1500),)


STEPS = ((7, 100, 125), (8, 125, 400))


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def of_both(*rows_of_one: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The rows of both shared ranks."""
    return [(*rank, *row) for rank in (("a_ascend_pt", 0), ("b_ascend_pt", None)) for row in rows_of_one]
