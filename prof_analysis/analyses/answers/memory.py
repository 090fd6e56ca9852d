"""The analysis `memory`: what fills the memory of the device, and does it leak?"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.memory_sentences import failure_of, fullness, rest
from prof_analysis.analyses.tree import PATH, as_tree
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES
from prof_analysis.engine.quotes import quote_text

ANALYSIS = Analysis(
    "memory",
    "What fills the memory of the device, and does it leak?\n\n"
    "Shows the memory that was alive at the peak, by module and op, how far that was from the memory of the "
    "device, and what stays from step to step.",
    "records of device memory",
    {
        "allocation.peak": "MemoryPeak",
        "allocation.module": "MemoryModule",
        "allocation.op": "MemoryOp",
        "allocation.block": "MemoryBlock",
        "allocation.step": "MemoryStep",
        "allocation.kept": "MemoryKept",
        "allocation.usage": "MemoryUsage",
        "allocation.component": "MemoryComponent",
        "allocation.out_of_memory": "MemoryOutOfMemory",
        "allocation.static_graph": "MemoryStaticGraph",
        "allocation.static_op": "MemoryStaticOp",
        "across.memory_rank": "MemoryAllRanks",
    },
    section="memory",
    captions=("Memory alive at the peak",),
    requires=(any_of("memory", "static_memory"),),
    options=(INPUT, MODULES, MACHINE),
    also=("module.chosen_domain", "allocation.peak_moment", "allocation.floor", "trace.set_aside_memory"),
    counted="allocation.component",
    counts_kernels=False,
    rows={
        "peak": Rows("allocation.peak"),
        "module": Rows("allocation.module"),
        "op": Rows("allocation.op"),
        "block": Rows("allocation.block"),
        "step": Rows("allocation.step"),
        "time": Rows("allocation.usage"),
        "component": Rows("allocation.component"),
        "kept": Rows("allocation.kept", is_listed=True),
        "rank": Rows("across.memory_rank", is_listed=True),
        "static": Rows("allocation.static_op", requires=("static_memory",), is_listed=True),
    },
    place=16,
    heading=WHY,
    examples={
        "Floor and peak of each step, and whether it leaks": "result --by step",
        "The largest blocks and how long they live": "result --by block --top 20",
    },
    returns="""Return the holders of the device's memory.

    With by="peak" a row is a part of what was alive when an allocator, or another component, held most; the rows of each
    peak add up to it. by="module" and by="op" sum up the blocks that were allocated, by="block" has each of them with its
    lifetime. by="step" has the floor and the peak of each step, by="kept" the ops whose blocks stay (a leak), by="time" the
    totals over time, by="component" what else holds memory, by="rank" how full the device of each rank was. by="static"
    has the ops of compiled graphs with the memory that was planned for them.
    Raises InputError when no rank holds records of device memory.
    """,
    keys=lambda: schema.by_level(
        schema.answer(
            "components",
            "peaks",
            "floor",
            "kept",
            "static_graphs",
            devices=schema.rows(
                "the fullest first; components, peaks, floor and kept are of the first one", "across.memory_rank"
            ),
            rows_shown=schema.rows("rows of the first device; with --by another row each"),
            out_of_memory=schema.rows("attempts to allocate that failed", "allocation.out_of_memory"),
            components=schema.rows("who holds memory", "allocation.component"),
            peaks=schema.rows("the peaks", "allocation.peak_moment"),
            floor=schema.one(
                "least that is allocated in steps",
                schema.fields(
                    step_count=schema.count("steps"),
                    first_bytes=schema.or_null(
                        schema.amount("least that is allocated in the first step", "bytes"), "without steps"
                    ),
                    last_bytes=schema.or_null(
                        schema.amount("least that is allocated in the last step", "bytes"), "without steps"
                    ),
                ),
            ),
            kept=schema.rows("ops whose blocks stay", "allocation.kept"),
            static_graphs=schema.rows("compiled graphs of the first device", "allocation.static_graph"),
        ),
        "rows_shown",
        {
            "peak": schema.row("allocation.peak", without=(), module_path=schema.IN_MODULE),
            "module": schema.row("allocation.module", without=("module",), module=schema.MODULE),
            "op": "allocation.op",
            "block": schema.row("allocation.block", module_path=schema.IN_MODULE),
            "step": "allocation.step",
            "time": schema.row(
                "allocation.usage",
                since_ns=schema.amount("time since the first moment", "ns"),
                all_ns=schema.amount("time from the first moment to the last, both included", "ns"),
            ),
            "component": "allocation.component",
        },
    ),
)

Row = Mapping[str, Any]
PART_LABELS = {
    "allocated before": "(allocated before the recording)",
    "released unseen": "(released, but not recorded)",
    "whole": "(not recorded by block)",
    "cached": "(reserved, not allocated)",
}
_ALL = 2**31
# Rows of one rank and one device. That of `time` is the moment with most allocated in each of so many equal slices of time.
_ROWS = {
    "peak": f"""
        SELECT *, {PATH} AS module_path
        FROM allocation.peak
        WHERE measure = 'allocated' AND role = 'framework' AND {{one}}
        ORDER BY live_bytes DESC, part, module_path, op_name
        LIMIT {{top}}
    """,
    "module": f"""
        SELECT * REPLACE ({PATH} AS module)
        FROM allocation.module
        WHERE module IS NOT NULL AND role = 'framework' AND {{one}}
        ORDER BY own_live_bytes DESC, own_allocated_bytes DESC, module
        LIMIT {{top}}
    """,
    "op": "FROM allocation.op WHERE {one} ORDER BY live_bytes DESC, allocated_bytes DESC, op_name, component LIMIT {top}",
    "block": f"""
        SELECT *, {PATH} AS module_path
        FROM allocation.block
        WHERE {{one}}
        ORDER BY size_bytes DESC, allocated_ns, block_id
        LIMIT {{top}}
    """,
    "step": """
        SELECT *
        FROM (FROM allocation.step WHERE {one} AND role = 'framework' ORDER BY peak_bytes DESC, step_id LIMIT {top})
        ORDER BY step_id
    """,
    "time": """
        WITH moment AS (
            SELECT *, time_ns - min(time_ns) OVER () AS since_ns, max(time_ns) OVER () - min(time_ns) OVER () + 1 AS all_ns
            FROM allocation.usage
            WHERE role = 'framework' AND allocated_bytes IS NOT NULL AND {one}
        )
        SELECT *
        FROM moment
        QUALIFY row_number() OVER (
            PARTITION BY since_ns::HUGEINT * {top} // all_ns ORDER BY allocated_bytes DESC, time_ns, usage_id
        ) = 1
        ORDER BY time_ns, usage_id
    """,
    "component": """
        FROM allocation.component
        WHERE {one}
        ORDER BY coalesce(peak_reserved_bytes, peak_allocated_bytes) DESC, role, component
        LIMIT {top}
    """,
}


_FLOOR = "SELECT step_count, first_bytes, last_bytes FROM allocation.floor WHERE {one}"


def memory(profile: Tables, top: int, by: str = "peak") -> tuple[Facts, list[Block]]:
    """Return how full the fullest device was, what held its memory at the peak or in time, and growth after each step."""
    ranks = profile.rows("FROM across.memory_rank")
    facts: Facts = {**size_of(profile, "allocation.component"), "level": by, "devices": ranks, "rows_shown": []}
    facts["out_of_memory"] = profile.rows("FROM allocation.out_of_memory ORDER BY time_ns, profile, device_id LIMIT 5")
    if not ranks:
        return facts, [said("no component of the device holds memory in these records")]
    fullest = ranks[0]
    rows = _of_device(profile, _ROWS[by], fullest, top)
    facts["rows_shown"] = rows
    facts["components"] = _of_device(profile, _ROWS["component"], fullest, 20)
    facts["peaks"] = _of_device(
        profile, "FROM allocation.peak_moment WHERE role = 'framework' AND {one} ORDER BY measure", fullest
    )
    facts["floor"] = next(
        iter(_of_device(profile, _FLOOR, fullest)), {"step_count": 0, "first_bytes": None, "last_bytes": None}
    )
    facts["kept"] = _of_device(profile, "FROM allocation.kept WHERE {one} LIMIT {top}", fullest, 5)
    facts["static_graphs"] = _of_device(profile, "FROM allocation.static_graph WHERE {one} LIMIT {top}", fullest, 5)
    shown = as_tree(rows, _of_device(profile, _ROWS[by], fullest, _ALL)) if by == "module" else rows
    table = [table_of(_TABLES[by], shown, _COLUMNS[by])] if shown or not facts["static_graphs"] else []
    failed = map(failure_of, facts["out_of_memory"])
    return facts, [said(*failed, *fullness(facts, fullest)), *table, said(*rest(facts, fullest))]


def _of_device(profile: Tables, sql: str, device: Row, top: int = 0) -> list[dict[str, Any]]:
    """Return the rows of a query about one device of one rank."""
    number = "NULL" if device["device_id"] is None else f"{device['device_id']:d}"
    one = f"profile = {quote_text(device['profile'])} AND device_id IS NOT DISTINCT FROM {number}"
    return profile.rows(sql.format(one=one, top=top))


def _what(row: Row) -> str | None:
    return row["op_name"] if row["part"] == "blocks" else PART_LABELS[row["part"]]


_TABLES = {level: f"allocation.{'usage' if level == 'time' else level}" for level in _ROWS}
_COLUMNS: Mapping[str, Mapping[str, Source]] = {
    "peak": {
        "op": ("text", _what),
        "live at peak": ("size", itemgetter("live_bytes")),
        "share of peak": "share",
        "in module": ("text", itemgetter("module_path")),
        "blocks": "block_count",
        "largest block": ("size", itemgetter("largest_bytes")),
    },
    "module": {
        "module": ("tree", itemgetter("line")),
        "live at peak": ("size", itemgetter("live_bytes")),
        "own": ("size", itemgetter("own_live_bytes")),
        "allocated": ("size", itemgetter("allocated_bytes")),
        "not released": ("size", itemgetter("own_kept_bytes")),
        "largest block": ("size", itemgetter("largest_bytes")),
        "blocks": "block_count",
    },
    "op": {
        "op": "op_name",
        "live at peak": ("size", itemgetter("live_bytes")),
        "allocated": ("size", itemgetter("allocated_bytes")),
        "not released": ("size", itemgetter("kept_bytes")),
        "largest block": ("size", itemgetter("largest_bytes")),
        "blocks": "block_count",
        "allocator": "component",
    },
    "block": {
        "op": "op_name",
        "size": ("size", itemgetter("size_bytes")),
        "released within": ("text", itemgetter("lifetime")),
        "lived": "lifetime_ns",
        "live at peak": "is_live_at_peak",
        "in module": ("text", itemgetter("module_path")),
        "step": ("text", itemgetter("step_id")),
        "allocator": "component",
    },
    "step": {
        "step": ("text", itemgetter("step_id")),
        "floor": ("size", itemgetter("floor_bytes")),
        "growth": ("size", itemgetter("growth_bytes")),
        "peak": ("size", itemgetter("peak_bytes")),
        "reserved": ("size", itemgetter("peak_reserved_bytes")),
        "allocated": ("size", itemgetter("new_bytes")),
        "not released": ("size", itemgetter("kept_bytes")),
        "blocks": "block_count",
    },
    "time": {
        "time": ("time", itemgetter("since_ns")),
        "allocated": ("size", itemgetter("allocated_bytes")),
        "active": ("size", itemgetter("active_bytes")),
        "reserved": ("size", itemgetter("reserved_bytes")),
        "fragmentation": ("size", itemgetter("fragmentation_bytes")),
        "step": ("text", itemgetter("step_id")),
    },
    "component": {
        "component": "component",
        "role": ("text", itemgetter("role")),
        "reserved": ("size", itemgetter("peak_reserved_bytes")),
        "at peak": ("size", itemgetter("at_peak_bytes")),
        "allocated": ("size", itemgetter("peak_allocated_bytes")),
    },
}
