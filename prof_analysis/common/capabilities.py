"""The capabilities of ranks: a source says which of them a rank has, an analysis says which of them it requires."""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

# Capability -> its meaning, as in "no {meaning}". A reported figure is one that the profiler itself computed.
CAPABILITIES: Mapping[str, str] = {
    "modules": "module ranges",
    "kernels": "kernels",
    "ops": "ops with their times on the host",
    "communication": "communication operators",
    "transfers": "transfers between ranks",
    "graph_calls": "calls of compiled graphs (ops named npu_fx_compiler inference or cache_compiler inference)",
    "compute": "compute kernels",
    "shapes": "shapes of kernels, or of ops",
    "kernel_types": "types of kernels",
    "counters": "hardware counters (PMU)",
    "samples": "samples of metrics of the device over time",
    "clock": "samples of the clock",
    "host_calls": "host calls into CANN, CUDA or HIP",
    "stacks": "Python stacks",
    "marks": "marks and ranges of the user",
    "memory": "records of device memory",
    "static_memory": "planned memory of compiled graphs",
    "allocator": "memory snapshot of PyTorch",
    "settings": "environment variables of the run",
    "reported_kernels": "reported figures of kernels",
    "reported_ops": "reported figures of ops",
    "reported_host_calls": "reported figures of host calls",
    "reported_communication": "reported figures of communication",
    "reported_steps": "reported figures of steps",
}

# The least level of prof_analysis.collect that records a capability; the others depend on the program or the device.
RECORDED_FROM: Mapping[str, int] = {
    "modules": 0,
    "host_calls": 0,
    "shapes": 1,
    "kernel_types": 1,
    "counters": 1,
    "stacks": 2,
    "memory": 2,
}

# Capabilities that depend on the run alone: where one source of a result finds none of it, the other sources find none.
OF_THE_RUN = frozenset(("graph_calls", "marks"))


def lacking(reasons: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
    """Return the capabilities that a rank lacks, each with the reason, in the order of CAPABILITIES.

    `reasons` has the reason for each capability, None where the rank has it; a source omits those that its format never has.
    """
    assert reasons.keys() <= CAPABILITIES.keys(), reasons.keys() - CAPABILITIES.keys()
    never = {name: f"no {meaning} in this format" for name, meaning in CAPABILITIES.items()}
    return tuple((name, reason) for name in CAPABILITIES if (reason := reasons.get(name, never[name])) is not None)


# A capability, or several alternatives; if a rank has none of them, the reason is that of the first one.
Requirement: TypeAlias = str | tuple[str, ...]
# What questions require, each of them all of its requirements.
Questions: TypeAlias = Collection[tuple[Requirement, ...]]
EACH_CAPABILITY: Questions = tuple((name,) for name in CAPABILITIES)


def any_of(*capabilities: str) -> Requirement:
    """Require at least one of these capabilities."""
    return capabilities


def _unmet(requires: tuple[Requirement, ...], lacks: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield the alternatives of each requirement that is not met."""
    for requirement in requires:
        capabilities = (requirement,) if isinstance(requirement, str) else requirement
        if all(capability in lacks for capability in capabilities):
            yield capabilities


def why_not(requires: tuple[Requirement, ...], lacks: Mapping[str, str]) -> str | None:
    """Return the reason for the first requirement that is not met; None where all are.

    `lacks` has the capabilities that the rank lacks, each with the reason.
    """
    return next((lacks[capabilities[0]] for capabilities in _unmet(requires, lacks)), None)


def recorded_from(requires: tuple[Requirement, ...], lacks: Mapping[str, str]) -> int | None:
    """Return the level of prof_analysis.collect that records the data missing for these requirements; None if no level does."""
    levels = [
        min((RECORDED_FROM[one] for one in capabilities if one in RECORDED_FROM), default=None)
        for capabilities in _unmet(requires, lacks)
    ]
    return None if None in levels else max((level for level in levels if level is not None), default=None)
