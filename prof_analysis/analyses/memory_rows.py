"""The rows that the answer of `memory` shows at each level, and their columns."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from prof_analysis.analyses.answer import Source
from prof_analysis.analyses.tree import PATH
from prof_analysis.analyses.words import size

Row = Mapping[str, Any]
PART_LABELS = {
    "allocated before": "(allocated before the recording)",
    "released unseen": "(released, but not recorded)",
    "whole": "(not recorded by block)",
    "cached": "(reserved, not allocated)",
}
# Levels whose tables have the order of the answer.
_ORDERED = {
    "site": "site",
    "stack": "stack",
    "native": "native_stack",
    "size": "size_class",
    "stream": "stream",
    "segment": "segment",
    "failure": "failure_part",
}
# Whose memory the rows are of: the allocator of the framework; where it is not recorded, but what the process takes from the
# device, the process.
_HOLDER = """(
    SELECT role::VARCHAR
    FROM allocation.peak_moment
    WHERE measure = 'allocated' AND role IN ('framework', 'process') AND {one}
    ORDER BY role
    LIMIT 1
)"""
# Rows of one rank and one device. That of `time` is the moment with most allocated in each of so many equal slices of time.
ROWS = {
    "peak": f"""
        SELECT *, {PATH} AS module_path
        FROM allocation.peak
        WHERE measure = 'allocated' AND role::VARCHAR = {_HOLDER} AND {{one}}
        ORDER BY live_bytes DESC, part, module_path, op_name
        LIMIT {{top}}
    """,
    "module": f"""
        SELECT * REPLACE ({PATH} AS module)
        FROM allocation.module
        WHERE module IS NOT NULL AND role::VARCHAR = {_HOLDER} AND {{one}}
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
    "step": f"""
        SELECT *
        FROM (FROM allocation.step WHERE {{one}} AND role::VARCHAR = {_HOLDER} ORDER BY peak_bytes DESC, step_id LIMIT {{top}})
        ORDER BY step_id
    """,
    "time": f"""
        WITH moment AS (
            SELECT *, time_ns - min(time_ns) OVER () AS since_ns, max(time_ns) OVER () - min(time_ns) OVER () + 1 AS all_ns
            FROM allocation.usage
            WHERE role::VARCHAR = {_HOLDER} AND allocated_bytes IS NOT NULL AND {{one}}
        )
        SELECT *
        FROM moment
        QUALIFY row_number() OVER (
            PARTITION BY since_ns::HUGEINT * {{top}} // all_ns ORDER BY allocated_bytes DESC, time_ns, usage_id
        ) = 1
        ORDER BY time_ns, usage_id
    """,
    "component": """
        FROM allocation.component
        WHERE {one}
        ORDER BY coalesce(peak_reserved_bytes, peak_allocated_bytes) DESC, role, component
        LIMIT {top}
    """,
    **{level: f"FROM allocation.{table} WHERE {{one}} LIMIT {{top}}" for level, table in _ORDERED.items()},
    "growth": """
        FROM (FROM allocation.growth WHERE {one} ORDER BY abs(growth_bytes) DESC, start_ns, site LIMIT {top})
        ORDER BY start_ns, growth_bytes DESC, site
    """,
}


def _what(row: Row) -> str | None:
    if row["part"] == "blocks":
        known: str | None = row["op_name"]
        return known
    return PART_LABELS[row["part"]] if row["op_name"] is None else f"{row['op_name']} {PART_LABELS[row['part']]}"


def _frames(row: Row) -> str:
    return " > ".join(row["frames"] or ()) or "(no frames)"


def _size_class(row: Row) -> str:
    return f"{size(row['size_class'])} to {size(2 * row['size_class'])}"


def _mark(row: Row, side: str) -> str:
    mark = row[f"{side}_mark"]
    return f"{'begin' if side == 'from' else 'end'} of the history" if mark == "history" else f"{mark} of {row[f'{side}_name']}"


TABLES = {level: f"allocation.{_ORDERED.get(level, 'usage' if level == 'time' else level)}" for level in ROWS}
# Levels whose rows are those of their tables.
OF_PLACES = (*_ORDERED, "growth")
_HELD: Mapping[str, Source] = {
    "live at peak": ("size", itemgetter("live_bytes")),
    "at the end": ("size", itemgetter("end_bytes")),
    "allocated": ("size", itemgetter("allocated_bytes")),
    "largest block": ("size", itemgetter("largest_bytes")),
    "blocks": "block_count",
}
_SITE: Source = ("text", lambda row: row["site"] or "(no frames)")
COLUMNS: Mapping[str, Mapping[str, Source]] = {
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
    "site": {"call site": _SITE, **_HELD},
    "stack": {"stack": ("text", _frames), **_HELD},
    "native": {"stack": ("text", _frames), **_HELD},
    "size": {"size of block": ("text", _size_class), **_HELD, "allocator": "component"},
    "stream": {"stream": ("text", itemgetter("stream_id")), **_HELD, "allocator": "component"},
    "growth": {
        "call site": _SITE,
        "growth": ("size", itemgetter("growth_bytes")),
        "from": ("text", lambda row: _mark(row, "from")),
        "to": ("text", lambda row: _mark(row, "to")),
        "allocated": ("size", itemgetter("allocated_bytes")),
        "released": ("size", itemgetter("released_bytes")),
        "blocks": "block_count",
    },
    "segment": {
        "segment": ("text", lambda row: "not recorded" if row["address"] is None else f"{row['address']:#x}"),
        "size": ("size", itemgetter("size_bytes")),
        "free": ("size", itemgetter("free_bytes")),
        "inactive split": ("size", itemgetter("split_bytes")),
        "largest free": ("size", itemgetter("largest_free_bytes")),
        "blocks": "block_count",
        "allocated": ("size", itemgetter("allocated_bytes")),
        "stream": ("text", itemgetter("stream_id")),
        "pool": ("text", itemgetter("pool")),
    },
    "failure": {
        "call site": _SITE,
        "live": ("size", itemgetter("live_bytes")),
        "share": "share",
        "op": "op_name",
        "blocks": "block_count",
        "largest block": ("size", itemgetter("largest_bytes")),
    },
}
# Columns that some profiles alone have: the source line of a snapshot, what its program asked for.
_SOMETIMES: Mapping[str, Mapping[str, Source]] = {
    "peak": {"call site": ("text", itemgetter("site"))},
    "block": {"call site": ("text", itemgetter("site"))},
    "time": {"requested": ("size", itemgetter("requested_bytes"))},
}
_VALUES = {"call site": "site", "requested": "requested_bytes"}


def columns_of(level: str, rows: Sequence[Row]) -> Mapping[str, Source]:
    """Return the columns of a level that people see."""
    more = _SOMETIMES.get(level, {})
    known = {name: source for name, source in more.items() if any(row[_VALUES[name]] is not None for row in rows)}
    return {**COLUMNS[level], **known}
