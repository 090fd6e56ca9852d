"""A value is read in one way, whatever shows it."""

from typing import Any

import pytest

from prof_analysis.analyses.words import as_text
from prof_analysis.engine.tables import documented_tables
from prof_analysis.engine.units import Format


@pytest.mark.parametrize(
    ("value", "format_", "text"),
    [
        (None, "time", "-"),
        (0, "time", "0 ns"),
        (999, "time", "999 ns"),
        (999.6, "time", "1.00 us"),
        (1_500, "time", "1.50 us"),
        (2_000_000, "time", "2.00 ms"),
        (1_234_000_000_000, "time", "1,234.00 s"),
        ((1_500, 0.25), "time", "1.50 us (25.0%)"),
        ((1_500, None), "time", "1.50 us"),
        (1234, "count", "1,234"),
        (1234.5, "number", "1,234.50"),
        (1234.56, "rate", "1,234.6"),
        (0.125, "share", "12.5%"),
        (1_700_000_000_000_000_000, "moment", "1700000000000000000"),
        (True, "text", "yes"),
        (False, "text", "no"),
        (None, "text", "-"),
        (7, "text", "7"),
    ],
)
def test_a_value_as_people_read_it(value: Any, format_: Format, text: str) -> None:
    assert as_text(value, format_) == text


@pytest.mark.parametrize(
    ("column", "unit", "format_"),
    [
        ("kernels.statistic.total_ns", "ns", "time"),
        ("kernels.statistic.mean_ns", "ns", "time"),
        ("kernels.statistic.kernel_count", None, "count"),
        ("kernels.statistic.share", None, "share"),
        ("kernels.statistic.type", None, "text"),
        ("graph.statistic.is_compiling", None, "text"),
        ("graph.call.start_ns", "ns", "moment"),
        ("graph.call.ge_to_end_ns", "ns", "time"),
        ("communication.time.size_bytes", "bytes", "count"),
        ("communication.time.bandwidth_gb_s", "GB/s", "rate"),
        ("mfu.rank.mfu", None, "share"),
        ("mfu.rank.efficiency_at_measured_clock", None, "share"),
        ("mfu.rank.known_flops", None, "count"),
        ("mfu.rank.achieved_tflops", None, "rate"),
        ("pmu.op.aic_mac_ratio", None, "share"),
        ("across.module.own_max_to_mean", None, "number"),
    ],
)
def test_a_column_knows_its_unit_and_format(column: str, unit: str | None, format_: Format) -> None:
    table, _, name = column.rpartition(".")
    (found,) = (one for one in documented_tables()[table].columns if one.shown_name == name)
    assert (found.unit, found.format) == (unit, format_)
