"""The analysis `memory`: what fills the memory of the device, and does it leak?"""

from collections.abc import Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.memory_rows import OF_PLACES, ROWS, TABLES, columns_of
from prof_analysis.analyses.memory_sentences import failure_of, filled, fullness, of_snapshot, rest
from prof_analysis.analyses.tree import as_tree
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES
from prof_analysis.engine.quotes import quote_text


def _or_null(meaning: str, table: str) -> schema.Schema:
    return schema.or_null(schema.one(meaning, schema.fields(**schema.columns_of(table))), "for other profiles")


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
    extras={
        "by stream": Extra((), {"allocation.stream": "MemoryStream"}),
        "by size": Extra((), {"allocation.size_class": "MemorySizeClass"}),
        "by site": Extra(("allocator",), {"allocation.site": "MemorySite"}),
        "by stack": Extra(("allocator",), {"allocation.stack": "MemoryStack"}),
        "by native": Extra(("allocator",), {"allocation.native_stack": "MemoryNativeStack"}),
        "by growth": Extra(("allocator",), {"allocation.growth": "MemoryGrowth"}),
        "by segment": Extra(
            ("allocator",), {"allocation.segment": "MemorySegment", "allocation.segment_total": "MemorySegmentTotal"}
        ),
        "by failure": Extra((), {"allocation.failure_part": "MemoryAtFailure"}),
    },
    pictures=dict.fromkeys(
        ("speedscope", "collapsed"),
        Extra(("memory",), {"flame.memory": "MemoryFlame", "flame.memory_module": "MemoryModuleFlame"}),
    ),
    also=(
        "module.chosen_domain",
        "allocation.peak_moment",
        "allocation.floor",
        "allocation.placement",
        "allocation.segment_total",
        "allocation.segment_audit",
        "trace.set_aside_memory",
    ),
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
        "stream": Rows("allocation.stream", extra="by stream"),
        "size": Rows("allocation.size_class", extra="by size"),
        "site": Rows("allocation.site", extra="by site"),
        "stack": Rows("allocation.stack", extra="by stack"),
        "native": Rows("allocation.native_stack", extra="by native"),
        "growth": Rows("allocation.growth", extra="by growth"),
        "segment": Rows("allocation.segment", extra="by segment"),
        "failure": Rows("allocation.failure_part", extra="by failure"),
        "static": Rows("allocation.static_op", requires=("static_memory",), is_listed=True),
    },
    place=16,
    heading=WHY,
    examples={
        "Floor and peak of each step, and whether it leaks": "result --by step",
        "Which sizes of blocks fill the device": "result --by size",
    },
    returns="""Return the holders of the device's memory.

    With by="peak" a row is a part of what was alive when an allocator, or another component, held most; the rows of each
    peak add up to it. by="module" and by="op" sum up the blocks that were allocated, by="block" has each of them with its
    lifetime. by="step" has the floor and the peak of each step, by="kept" the ops whose blocks stay (a leak), by="time" the
    totals over time, by="component" what else holds memory, by="rank" how full the device of each rank was, by="size" and
    by="stream" what blocks of a size or a stream hold, by="failure" what held memory when an attempt to allocate failed.
    Of memory snapshots, by="site", by="stack" and by="native" have the lines and stacks that hold memory at the peak and at the
    end, by="growth" what they allocated and released between two marks of the history, by="segment" what is free, and where.
    by="static" has the ops of compiled graphs with the memory that was planned for them.
    Raises InputError when no rank holds records of device memory.
    """,
    keys=lambda: schema.by_level(
        schema.answer(
            "components",
            "peaks",
            "floor",
            "kept",
            "at_failure",
            "segments",
            "placement",
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
            at_failure=schema.rows("what filled the device when an attempt failed", "allocation.failure_part"),
            segments=_or_null("segments of the allocator at the end, of a snapshot", "allocation.segment_total"),
            placement=_or_null("how many blocks have modules and steps, of a snapshot", "allocation.placement"),
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
            **{level: TABLES[level] for level in OF_PLACES},
        },
    ),
)

Row = Mapping[str, Any]

_ALL = 2**31
_FLOOR = "SELECT step_count, first_bytes, last_bytes FROM allocation.floor WHERE {one}"


def memory(profile: Tables, top: int, by: str = "peak") -> tuple[Facts, list[Block]]:
    """Return how full the fullest device was, what held its memory at the peak or in time, and growth after each step."""
    ranks = profile.rows("FROM across.memory_rank")
    facts: Facts = {**size_of(profile, "allocation.component"), "level": by, "devices": ranks, "rows_shown": []}
    facts["out_of_memory"] = profile.rows("FROM allocation.out_of_memory ORDER BY time_ns, profile, device_id LIMIT 5")
    if not ranks:
        return facts, [said("no component of the device holds memory in these records")]
    failures = facts["out_of_memory"]
    failed = next((rank for rank in ranks if failures and _place(rank) == _place(failures[0])), None)
    facts["at_failure"] = _of_device(profile, ROWS["failure"], failed, 3) if failed else []
    fullest = failed if failed and by == "failure" else ranks[0]
    rows = _of_device(profile, ROWS[by], fullest, top)
    facts["rows_shown"] = rows
    facts["components"] = _of_device(profile, ROWS["component"], fullest, 20)
    facts["peaks"] = _of_device(
        profile, "FROM allocation.peak_moment WHERE role = 'framework' AND {one} ORDER BY measure", fullest
    )
    facts["floor"] = next(
        iter(_of_device(profile, _FLOOR, fullest)), {"step_count": 0, "first_bytes": None, "last_bytes": None}
    )
    facts["segments"] = next(iter(_of_device(profile, "FROM allocation.segment_total WHERE {one}", fullest)), None)
    facts["placement"] = next(iter(_of_device(profile, "FROM allocation.placement WHERE {one}", fullest)), None)
    facts["kept"] = _of_device(profile, "FROM allocation.kept WHERE {one} LIMIT {top}", fullest, 5)
    facts["static_graphs"] = _of_device(profile, "FROM allocation.static_graph WHERE {one} LIMIT {top}", fullest, 5)
    shown = as_tree(rows, _of_device(profile, ROWS[by], fullest, _ALL)) if by == "module" else rows
    table = [table_of(TABLES[by], shown, columns_of(by, rows))] if shown or not facts["static_graphs"] else []
    none = ["no attempt to allocate failed in the recording"] if by == "failure" and not rows else []
    first = said(*none, *map(failure_of, failures), *filled(facts["at_failure"]), *fullness(facts, fullest))
    return facts, [first, *table, said(*rest(facts, fullest), *of_snapshot(facts))]


def _place(row: Row) -> tuple[Any, ...]:
    return row["profile"], row["device_id"]


def _of_device(profile: Tables, sql: str, device: Row, top: int = 0) -> list[dict[str, Any]]:
    """Return the rows of a query about one device of one rank."""
    number = "NULL" if device["device_id"] is None else f"{device['device_id']:d}"
    one = f"profile = {quote_text(device['profile'])} AND device_id IS NOT DISTINCT FROM {number}"
    return profile.rows(sql.format(one=one, top=top))
