"""An allocator in a few lines, which keeps a history as that of PyTorch does and writes it as `_dump_snapshot`."""

import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

BASE_US = 1_751_410_836_000_000
MIB = 2**20
Frame = dict[str, Any]
Row = dict[str, Any]


def python(function: str, line: int, file: str = "/home/jane/model.py") -> Frame:
    """A frame of Python."""
    return {"name": function, "filename": file, "line": line}


def native(name: str, file: str = "??") -> Frame:
    """A frame of native code."""
    return {"name": name, "filename": file, "line": 0}


# Innermost first: what is in each stack, the op, then Python.
ALLOCATOR = [native("torch::unwind::unwind()"), native("c10::cuda::CUDACachingAllocator::Native::malloc(void**)")]
START = [native("Py_RunMain"), native("_start")]
MAIN = python("main", 9, "/home/jane/train.py")


def stack(line: int, op: str = "linear", *, has_native: bool = True) -> list[Frame]:
    """A stack of model.py that calls an op."""
    calls = [native(f"at::_ops::empty_memory_format::call({op})"), native(f"at::_ops::{op}::call(at::Tensor const&)")]
    inside = [*ALLOCATOR, *calls] if has_native else []
    of_torch = python("forward", 1, "/usr/lib/python3.11/site-packages/torch/nn/modules/linear.py")
    return [*inside, of_torch, python("forward", line), MAIN, *(START if has_native else [])]


class Allocator:
    """A device with its segments and blocks, and what it held after each event: `totals`."""

    def __init__(self, device: int = 0) -> None:
        self.device = device
        self.events: list[Row] = []
        self.segments: dict[int, Row] = {}
        self.blocks: dict[int, Row] = {}
        self.totals: list[dict[str, int]] = [self._now()]
        self.time_us = BASE_US

    def segment(self, address: int, size: int = 2 * MIB, stream: int = 0, action: str = "segment_alloc") -> None:
        """Take a segment from the device."""
        self.segments[address] = {"total_size": size, "stream": stream}
        self._event(action, address, size, stream)

    def alloc(self, address: int, requested: int, frames: list[Frame] | None = None, stream: int = 0) -> None:
        """Hand out a block."""
        size = max(512, -(-requested // 512) * 512)
        self.blocks[address] = {
            "address": address, "size": size, "requested_size": requested, "state": "active_allocated", "frames": frames or [],
        }  # fmt: skip
        self._event("alloc", address, requested, stream, frames)

    def free(self, address: int, *, is_complete: bool = True) -> None:
        """Release a block; another stream may still use it."""
        self.blocks[address]["state"] = "active_awaiting_free"
        self._event("free_requested", address, self.blocks[address]["requested_size"])
        if is_complete:
            self.complete(address)

    def complete(self, address: int) -> None:
        """End the use of a released block."""
        size = self.blocks.pop(address)["requested_size"]
        self._event("free_completed", address, size)

    def drop(self, address: int, action: str = "segment_free") -> None:
        """Give a segment back to the device."""
        self._event(action, address, self.segments.pop(address)["total_size"])

    def oom(self, requested: int, free: int, frames: list[Frame] | None = None) -> None:
        """Fail to allocate."""
        self._event("oom", None, requested, frames=frames, device_free=free)

    def _event(
        self, action: str, address: int | None, size: int, stream: int = 0, frames: list[Frame] | None = None, **more: int
    ) -> None:
        self.time_us += 1 if len(self.events) % 3 else 0  # Some events have the time of the one before.
        known = {} if address is None else {"addr": address}
        event = {"action": action, **known, "size": size, "stream": stream, "time_us": self.time_us, **more}
        self.events.append({**event, "frames": frames or []})
        self.totals.append(self._now())

    def _now(self) -> dict[str, int]:
        blocks = self.blocks.values()
        held = [one for one in blocks if one["state"] == "active_allocated"]
        return {
            "allocated_bytes": sum(one["size"] for one in held),
            "active_bytes": sum(one["size"] for one in blocks),
            "reserved_bytes": sum(one["total_size"] for one in self.segments.values()),
            "requested_bytes": sum(one["requested_size"] for one in held),
        }

    def state(self) -> list[Row]:
        """Return the segments as a snapshot has them, with free memory between the blocks."""
        return [self._segment(address, one) for address, one in sorted(self.segments.items())]

    def _segment(self, address: int, segment: Row) -> Row:
        end, parts = address + segment["total_size"], []
        at = address
        inside = [one for one in self.blocks.values() if address <= one["address"] < end]
        for block in sorted(inside, key=lambda one: int(one["address"])):
            if block["address"] > at:
                parts.append(_free(at, block["address"] - at))
            parts.append(block)
            at = block["address"] + block["size"]
        if at < end:
            parts.append(_free(at, end - at))
        active = [one for one in parts if one["state"] != "inactive"]
        allocated = [one for one in active if one["state"] == "active_allocated"]
        return {
            "device": self.device, "address": address, "total_size": segment["total_size"],
            "allocated_size": sum(one["size"] for one in allocated), "active_size": sum(one["size"] for one in active),
            "requested_size": sum(one["requested_size"] for one in active), "stream": segment["stream"],
            "segment_type": "large" if segment["total_size"] > 2 * MIB else "small", "segment_pool_id": (0, 0),
            "is_expandable": False, "frames": [], "blocks": parts,
        }  # fmt: skip


def _free(address: int, size: int) -> Row:
    return {"address": address, "size": size, "requested_size": 0, "state": "inactive", "frames": []}


def snapshot(*devices: Allocator, last: int | None = None, marks: Sequence[tuple[str, str, int]] = ()) -> dict[str, Any]:
    """Return a snapshot of devices, with the last events of each history, and marks: stage, name, time in µs after the base."""
    count = max((one.device for one in devices), default=-1) + 1
    traces: list[list[Row]] = [[] for _ in range(count)]
    for one in devices:
        traces[one.device] = one.events if last is None else one.events[len(one.events) - last :]
    return {
        "segments": [segment for one in devices for segment in one.state()],
        "device_traces": traces,
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""},
        "external_annotations": [
            {"stage": stage, "name": name, "device": 0, "time_us": BASE_US + time} for stage, name, time in marks
        ],
    }


def write(file: Path, content: Any, protocol: int = 4) -> Path:
    """Write a snapshot, or any data."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(content, protocol))
    return file


def busy_device(device: int = 0, rounds: int = 3) -> Allocator:
    """Return a device that ran: a block stays each round, others are released, one waits for a stream, a segment goes back."""
    one = Allocator(device)
    one.segment(0x10000, 2 * MIB)
    one.segment(0x1000000, 20 * MIB, stream=7)
    one.alloc(0x10000, 1000, stack(5))
    for number in range(rounds):
        kept, passing = 0x1000000 + number * 2 * MIB, 0x11000 + number * 0x1000
        one.alloc(kept, MIB + 1, stack(20, "add__Tensor"), stream=7)
        one.alloc(passing, 2048, stack(30, "mm"))
        one.free(passing)
    one.segment(0x9000000, 4 * MIB)
    one.alloc(0x9000000, 3 * MIB, stack(40, "bmm", has_native=False))
    one.free(0x9000000)
    one.drop(0x9000000)
    one.alloc(0x18000, 600)
    one.free(0x18000, is_complete=False)
    return one


def sums(blocks: Iterable[Row], name: str = "size") -> int:
    """Return the sum of a value of blocks."""
    return sum(int(one[name]) for one in blocks)
