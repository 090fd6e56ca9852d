"""What a trace of torch.profiler says, worked out from its JSON by plain rules: no SQL, and nothing of the engine."""

import gzip
import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import prod
from pathlib import Path
from typing import Any

Event = dict[str, Any]
# Categories of 2021.
_OLD = {"Operator": "cpu_op", "Runtime": "cuda_runtime", "Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}
_WORK, _CALLS = ("kernel", "gpu_memcpy", "gpu_memset"), ("cuda_runtime", "cuda_driver")
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")
_COLLECTIVE = re.compile(r"[nr]ccl(?:Dev)?Kernel|cross_device_reduce")


def ns(microseconds: str) -> int:
    """Return a time in ns."""
    return int(Decimal(microseconds) * 1000)


class Truth:
    """A trace with its events by category, times in ns in `s` and `e`."""

    def __init__(self, trace: Path) -> None:
        """Read it."""
        content = json.loads(gzip.decompress(trace.read_bytes()), parse_float=str, parse_int=str)
        self.base = int(content.get("baseTimeNanoseconds", 0))
        self.of: dict[str, list[Event]] = defaultdict(list)
        for one in content["traceEvents"]:
            if one.get("ph") == "X" and "cat" in one:
                start = ns(one["ts"])
                one |= {"s": start, "e": start + ns(one["dur"]), "args": one.get("args", {})}
                self.of[_OLD.get(one["cat"], one["cat"])].append(one)
        self.work = sorted((one for category in _WORK for one in self.of[category]), key=lambda one: one["s"])
        calls = [one for category in _CALLS for one in self.of[category]]
        # ROCm of some years names the call by the id that elsewhere is that of the op.
        self.is_by_call = not any("correlation" in one["args"] for one in calls)
        self.calls = {_id(one) if self.is_by_call else one["args"].get("correlation"): one for one in calls}
        self.ops = {_id(one): one for one in self.of["cpu_op"]}
        self.ops.pop(None, None)
        self.steps = [
            one for category in ("user_annotation", "cpu_op") for one in self.of[category] if "ProfilerStep#" in one["name"]
        ]
        modules = [one for one in self.of["python_function"] if one["name"].startswith("nn.Module: ")]
        ranges = [one for one in self.of["user_annotation"] if one["name"].startswith("nccl:")]
        self._inside = {"op": _Nested(self.of["cpu_op"]), "module": _Nested(modules), "collective": _Nested(ranges)}

    def kind(self, one: Event) -> str:
        """Return compute, communication or copy."""
        if one["cat"] not in ("kernel", "Kernel"):
            return "copy"
        return "communication" if "Collective name" in one["args"] or _COLLECTIVE.search(one["name"]) else "compute"

    def call(self, one: Event) -> Event | None:
        """Return the call that put a piece of work on the device."""
        return self.calls.get(_id(one) if self.is_by_call else one["args"].get("correlation"))

    def op(self, one: Event) -> Event | None:
        """Return the op that launched it: by its id, else the innermost one around the call."""
        return (None if self.is_by_call else self.ops.get(_id(one))) or self._around("op", one)

    def module(self, one: Event) -> str | None:
        """Return the class of the innermost module around the call."""
        around = self._around("module", one)
        return re.sub(r"^nn\.Module: |_\d+$", "", around["name"]) if around else None

    def step(self, one: Event) -> int | None:
        """Return the number of the step in whose time on the host the call starts, whatever the thread."""
        call = self.call(one)
        numbers = [int(step["name"].partition("#")[2]) for step in self.steps if call and step["s"] <= call["s"] < step["e"]]
        return numbers[0] if numbers else None

    def _around(self, what: str, one: Event) -> Event | None:
        call = self.call(one)
        return call and self._inside[what].innermost(call)

    def product_flops(self) -> int:
        """Return the FLOPs of the products that launched something."""
        launching = {id(op): op for one in self.work if (op := self.op(one)) and op["name"] in PRODUCTS}
        return sum(_flops(op) for op in launching.values())

    def covered(self, wanted: Sequence[Event], less: Sequence[Event] = ()) -> int:
        """Return the time in which one of these runs and none of `less`, ns."""
        edges = sorted(
            (at, which, step)
            for which, ones in enumerate((wanted, less))
            for one in ones
            for at, step in ((one["s"], 1), (one["e"], -1))
        )
        running, since, covered = [0, 0], 0, 0
        for at, which, step in edges:
            covered += (at - since) * (running[0] > 0 and not running[1])
            running[which] += step
            since = at
        return covered

    def collectives(self) -> Counter[str | None]:
        """Return the number of collectives by operation: of the record, else the range or op around the call, else the name."""
        found: Counter[str | None] = Counter()
        for one in self.work:
            if self.kind(one) == "communication":
                around = self._around("collective", one) or self.op(one) or one
                found[_operation(one["args"].get("Collective name") or around["name"])] += 1
        return found


class _Nested:
    """Events of host threads, nested in each other."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._of_thread: dict[tuple[Any, Any], list[Event]] = defaultdict(list)
        for one in events:
            self._of_thread[one["pid"], one["tid"]].append(one)
        self._starts = {}
        for thread, ones in self._of_thread.items():
            ones.sort(key=lambda one: (one["s"], -one["e"]))
            self._starts[thread] = [one["s"] for one in ones]

    def innermost(self, call: Event) -> Event | None:
        """Return the last one that began before the start of a call and ends behind it."""
        thread = call["pid"], call["tid"]
        ones = self._of_thread.get(thread, [])
        for place in range(bisect_right(self._starts.get(thread, []), call["s"]) - 1, -1, -1):
            if ones[place]["e"] >= call["e"]:
                return ones[place]
        return None


def _id(one: Mapping[str, Any]) -> Any:
    return one["args"].get("External id", one["args"].get("external id"))


def _flops(op: Event) -> int:
    shapes = [[int(size) for size in shape] for shape in op["args"].get("Input Dims", ()) if not _nested(shape)]
    if len(shapes) < 2:
        return 0
    left, right = shapes[1:3] if "add" in op["name"] else shapes[:2]
    return 2 * prod(left) * right[-1]


def _nested(shape: Any) -> bool:
    return not isinstance(shape, list) or any(isinstance(size, list) for size in shape)


def _operation(name: str) -> str | None:
    word = re.sub(r"[^a-z]", "", name.lower())
    operations = ("allreduce", "allgather", "reducescatter", "broadcast", "alltoall", "sendrecv")
    return next((operation for operation in operations if operation in word), None)
