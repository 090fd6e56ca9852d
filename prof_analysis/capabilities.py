"""What a rank can hold: the words in which a source says what is there, and an analysis what it requires."""

from collections.abc import Mapping

# Capability -> its meaning, as in "no {meaning}". A reported figure is one that the profiler itself worked out.
CAPABILITIES: Mapping[str, str] = {
    "modules": "module ranges",
    "kernels": "kernels",
    "ops": "ops with their times on the host",
    "communication": "communication operators",
    "graph_calls": "calls of compiled graphs (ops named npu_fx_compiler inference or cache_compiler inference)",
    "compute": "compute kernels",
    "shapes": "kernel types and shapes",
    "kernel_types": "types of kernels",
    "counters": "hardware counters (PMU)",
    "marks": "marks and ranges of the user",
    "reported_ops": "reported figures of ops",
    "reported_communication": "reported figures of communication",
    "reported_steps": "reported figures of steps",
}

# What a run need not have: where one source finds none of it, no other source of the same result does.
OF_THE_RUN = frozenset(("graph_calls", "marks"))


def lacking(reasons: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
    """Give the capabilities that a rank lacks, each with the reason, in their order.

    `reasons` has None for what is there. A source leaves out what its format never holds.
    """
    assert reasons.keys() <= CAPABILITIES.keys(), reasons.keys() - CAPABILITIES.keys()
    never = {name: f"no {meaning} in this format" for name, meaning in CAPABILITIES.items()}
    return tuple((name, reason) for name in CAPABILITIES if (reason := reasons.get(name, never[name])) is not None)
