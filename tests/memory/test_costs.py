"""What memory costs, only questions about memory pay."""

import importlib

import pytest

from prof_analysis.analyses import ANALYSES
from prof_analysis.engine.planning import make_plan, split_across_ranks
from prof_analysis.sources import NAMES
from tests.helpers.slow import quick

# Raw tables and columns of memory, in each source.
OF_MEMORY = {
    "ascend_db": {
        "raw.op_memory",
        "raw.memory_record",
        "raw.npu_op_mem",
        "raw.npu_mem",
        "raw.npu_module_mem",
        "raw.enum_module",
    },
    "ascend_text": {"raw.memory_block", "raw.memory_record", "raw.module_memory"},
    "kineto": {"raw.memory_event", "raw.out_of_memory"},
    "memory_snapshot": {"raw.snapshot_block", "raw.snapshot_event", "raw.snapshot_segment", "raw.beside_memory_usage"},
    "nsys": {"raw.memory_event"},
}  # fmt: skip


@pytest.mark.parametrize("source", quick(NAMES.values(), 0))
def test_no_other_question_stages_records_of_memory(source: str) -> None:
    raw_columns = importlib.import_module(f"prof_analysis.sources.{source}").RAW_COLUMNS
    others = dict.fromkeys(
        table for name, one in ANALYSES.items() if name not in ("memory", "advise", "diagnose") for table in one.tables
    )
    plan = make_plan(source, raw_columns, split_across_ranks(tuple(others))[0], is_for_others=True)
    assert not plan.raw_tables & OF_MEMORY[source]
    assert OF_MEMORY[source] <= raw_columns.keys()
