"""What the answer of `memory` says in sentences: failed attempts, how full the device was, what grows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prof_analysis.analyses.answer import Facts
from prof_analysis.analyses.words import percent, rank_name, several, size

Row = Mapping[str, Any]
# What used_bytes is of -> who uses it.
_USERS = {"device": "all processes on the device", "process": "this process", "allocators": "the allocators of this process"}


def failure_of(event: Row) -> str:
    """Return a sentence about an attempt to allocate that failed."""
    known = [f"{name} {event[f'{name}_id']}" for name in ("device", "step") if event[f"{name}_id"] is not None]
    where = ", ".join([f"rank {rank_name(event)}", *known])
    op = "" if event["op_name"] is None else f" by {event['op_name']}"
    op += "" if event["site"] is None else f" at {event['site']}"
    left = "" if event["left_bytes"] is None else f" of {size(event['memory_bytes'])}, which left {size(event['left_bytes'])}"
    if event["left_bytes"] is not None and event["memory_bytes"] is None:
        left = f"; the device had {size(event['left_bytes'])} left"
    held = f"{size(event['allocated_bytes'])} were allocated and {size(event['reserved_bytes'])} reserved"
    return f"out of memory ({where}): {size(event['size_bytes'])} were tried{op} when {held}{left}"


def fullness(facts: Facts, device: Row) -> Iterator[str]:
    """Yield sentences: how far the device was from being full, and what the framework held at its peak."""
    of = f"rank {rank_name(device)}" if facts["ranks"] > 1 or device["rank_id"] is not None else "the device"
    if device["used_by"] is None:
        yield f"{of}: how much memory was in use is not recorded, but for the parts that --by component shows"
        return
    used = f"{of}: at most {size(device['used_bytes'])} in use by {_USERS[device['used_by']]}"
    if device["memory_bytes"]:
        left = f"{size(device['left_bytes'])} ({percent(device['left_share'])}) left"
        yield f"{used}, of {size(device['memory_bytes'])} on the device: {left}"
    else:
        yield f"{used}; how much memory the device has is not recorded"
    if device["peak_allocated_bytes"] is not None:
        peaks = {row["measure"]: row for row in facts["peaks"]}
        step = peaks["allocated"]["step_id"]
        when = "" if step is None else f" (in step {step})"
        held = [f"{size(device['peak_allocated_bytes'])} allocated{when}"]
        held += [f"{size(row['peak_bytes'])} {measure}" for measure, row in peaks.items() if measure != "allocated"]
        yield f"{device['component']}, the allocator of the framework, held at most {', '.join(held)}"


def rest(facts: Facts, device: Row) -> Iterator[str]:
    """Yield sentences about memory beside the peak, other holders of memory, growth, and differences between ranks."""
    allocated = device["peak_allocated_bytes"]
    if allocated:
        yield (
            f"at the peak {size(device['before_bytes'])} ({percent(device['before_bytes'] / allocated)}) was allocated before "
            f"the recording; {size(device['fragmentation_bytes'])} more was reserved and not allocated (fragmentation)"
        )
    others = [row for row in facts["components"] if row["role"] == "part" and row["at_peak_bytes"] is not None]
    if device["beside_bytes"] is not None:
        names = ", ".join(f"{row['component']} {size(row['at_peak_bytes'])}" for row in others)
        held = f"the process held {size(device['beside_bytes'])} beside the memory that the framework reserved"
        yield f"{held}; by records of their own, {names}" if names else held
    yield from map(_planned, facts["static_graphs"])
    yield from _growth(facts)
    ranks = [row["peak_allocated_bytes"] for row in facts["devices"] if row["peak_allocated_bytes"] is not None]
    if len(ranks) > 1:
        yield f"peak allocated of {several(len(ranks), 'device')}: {size(min(ranks))} to {size(max(ranks))}; the fullest above"


def _planned(graph: Row) -> str:
    """Return a sentence about the memory that was planned for a compiled graph."""
    name = " ".join(str(part) for part in (graph["graph_id"], graph["model"]) if part is not None)
    of = f"graph {name}" if name else "a graph"
    reported = "" if graph["reported_bytes"] is None else f"; the profiler reported {size(graph['reported_bytes'])} in total"
    if graph["peak_bytes"] is None:
        return f"{of}: {size(graph['allocated_bytes'])} were planned for {several(graph['op_count'], 'op')}{reported}"
    planned = f"{size(graph['peak_bytes'])} were planned at most, at node {graph['peak_node']}"
    return f"{of}: {planned}, for {several(graph['op_count'], 'op')}{reported}; --by static has them"


def filled(parts: Sequence[Row]) -> Iterator[str]:
    """Yield a sentence about what held most of the memory when an attempt to allocate failed."""
    if any(row["site"] for row in parts):
        held = ", ".join(
            f"{size(row['live_bytes'])} ({percent(row['share'])}) by {row['site'] or 'no known frame'}" for row in parts
        )
        yield f"most of what was allocated then was held by these call sites: {held}; --by failure shows all"


def of_snapshot(facts: Facts) -> Iterator[str]:
    """Yield sentences about a snapshot: what the allocator held at the end and why it was not used, and what is not known."""
    segments, placement = facts["segments"], facts["placement"]
    if segments is None:
        return
    shown = {name: size(value) for name, value in segments.items() if name.endswith("_bytes") and value is not None}
    yield (
        f"at the end the allocator held {shown['size_bytes']} in {several(segments['segment_count'], 'segment')}: "
        f"{shown['allocated_bytes']} in {several(segments['block_count'], 'block')}, {shown['split_bytes']} free beside blocks "
        f"in {several(segments['split_count'], 'part')} (inactive split), {shown['whole_bytes']} in "
        f"{several(segments['whole_count'], 'unused segment')}; the largest free part has {shown['largest_free_bytes']}"
    )
    if placement is None:  # Without a history, as a warning says.
        return
    yield "of blocks released before the end the request is recorded: their sizes are requests rounded up to 512 bytes"
    if not placement["has_ops"]:
        yield "no profile of the same process lies beside the snapshot, so modules and steps are not known"
    elif not placement["module_count"] and not placement["step_count"]:
        yield "the profile beside the snapshot has no modules or steps at the times of its history"
    else:
        count = several(placement["block_count"], "block")
        places = f"{placement['module_count']:,} were allocated in modules and {placement['step_count']:,} in steps"
        yield f"of {count} of the history, {places} of the profile beside the snapshot, by time"


def _growth(facts: Facts) -> Iterator[str]:
    """Yield sentences about the floor of the steps and the ops whose blocks stay."""
    count, first, last = facts["floor"].values()
    if count < 2:
        return
    yield f"floor of the steps: {size(first)} to {size(last)}, {size((last - first) / (count - 1))} a step"
    leaks = [row for row in facts["kept"] if row["is_leak"]]
    for row in leaks:
        module = f" in {row['module']}" if row["module"] else ""
        each = f"in each of {several(row['step_count'], 'step')}"
        yield f"leak: {size(row['bytes_per_step'])} a step stay, allocated by {row['op_name']}{module} {each}"
    if not leaks and count > 2:  # What the last step leaves may still be released.
        yield "no op leaves blocks in each step"
