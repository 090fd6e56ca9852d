"""Simulates a server that replays graphs where its passes are decode alone: of the whole model, or of the pieces between its
attentions; and writes the recordings of the capture and of the replays. What each kernel belongs to is known.

The facts about ACL graphs, and what of them is not proved, are those of fixtures/acl_graphs.py.
"""

from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Literal

from fixtures.text_export import export_text
from tests.helpers import kineto
from tests.helpers.serving import _NAMES, BASE_NS, HIDDEN, Form, Pass, Rank, Request
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, write_profile

Mode = Literal["full", "piecewise"]
_CAPTURE = {"db": "graph_capture_profile/c_ascend_pt", "text": "graph_capture_profile/c_ascend_pt",
            "kineto": "graph_capture_profile/capture.json"}  # fmt: skip


@dataclass
class Piece:
    """A replay: its launch on the host, its graph, and its kernels with their kinds."""

    graph: tuple[int, int]
    host: tuple[int, int]
    kernels: list[tuple[str, Kernel]] = field(default_factory=list)


@dataclass
class GraphRank(Rank):
    """A rank that replays graphs, without a mode one that captures them."""

    mode: Mode | None = None
    pieces: list[Piece] = field(default_factory=list)
    captured: list[tuple[int, int]] = field(default_factory=list)
    """Begin and end of the captures on the host."""
    _rows: int = 0
    _number: int = 0
    _is_open: bool = False

    def launch(self, kind: str, inputs: str, outputs: str, module: str, took_ns: int) -> None:
        """Run an op, or in a graph add its kernel to the replay; between the pieces of a model attention runs."""
        super().launch(kind, inputs, outputs, module, took_ns)
        if not self._rows:
            return
        if self.mode == "piecewise" and kind in ("decode", "prefill"):
            self._is_open = False
            kind, start, end, _ = self.passes[-1].kernels[-1]
            self.passes[-1].kernels[-1] = (kind, start, end, "Model")
            return
        op = self.ops.pop()
        if not self._is_open:
            self._is_open = True
            self.pieces.append(Piece((self._rows, self._number), (op.start, op.end)))
            self._number += 1
        self.pieces[-1].host = (self.pieces[-1].host[0], op.end)
        self.pieces[-1].kernels.append((kind, op.kernels[0]))

    def model(self, decode: tuple[int, int], prefill: tuple[int, int], name: str, layers: int) -> None:
        """Run a model; of a graph the host runs no module, but what calls the pieces of one."""
        if self.mode is None or prefill[0] or decode[0] < 1 or name != "Model":
            self._model(decode, prefill, name, layers)
            return
        frames, begin = len(self.frames), self.host_ns
        self._rows, self._number, self._is_open = decode[1], 0, False
        self._model(decode, prefill, name, layers)
        self._rows, self._is_open = 0, False
        del self.frames[frames:]
        if self.mode == "piecewise":
            self.frames.append(Frame("nn.Module: Model_0", begin, self.host_ns))

    def _model(self, decode: tuple[int, int], prefill: tuple[int, int], name: str, layers: int) -> None:
        """Run a model that ends with a norm, so that the last piece is no part of one layer."""
        super().model(decode, prefill, name, layers)
        rows = f"{decode[1] + prefill[1]},{HIDDEN}"
        self.launch("add", f"{rows};{rows};{HIDDEN}", rows, name, 2_000)
        self.frames[-1] = replace(self.frames[-1], end=self.host_ns)

    def capture(self, rows: int, *, is_piecewise: bool) -> None:
        """Run the model for so many rows, and capture it: the host runs it again, and nothing is on the device."""
        self.passes.append(Pass("capture"))
        self.model((rows, rows), (0, 0), "Model", self.layers)
        first, device_ns = len(self.ops), self.device_ns
        self.host_ns += 1_000
        self.model((rows, rows), (0, 0), "Model", self.layers)
        self.host_ns += 50_000
        self.device_ns = device_ns
        self.ops[first:] = [replace(op, kernels=()) for op in self.ops[first:]]
        between = [is_piecewise and op.name == _NAMES["decode"][0] for op in self.ops[first:]]
        for is_between, ops in groupby(zip(between, self.ops[first:], strict=True), key=lambda one: one[0]):
            inside = [op for _, op in ops]
            if not is_between:
                self.captured.append((inside[0].start - 100, inside[-1].end - 60))


def serve_graphs(mode: Mode, passes: int, layers: int = 4, seed: int = 0) -> tuple[GraphRank, GraphRank]:
    """Serve passes, every third with a prompt beside, and return the rank and the one that captured its graphs before."""
    rank = GraphRank(0, 0, layers, Random(seed), mode=mode)
    for number in range(passes):
        rows = (4, 8)[number % 2]
        decode = [Request(20, 50, done=20 + number) for _ in range(rows)]
        rank.run(decode, [(Request(64, 5), 32)] if number % 3 == 2 else [], rank.device_ns)
    capture = GraphRank(0, 0, layers, Random(seed + 1))
    for rows in (8, 4):
        capture.capture(rows, is_piecewise=mode == "piecewise")
    return rank, capture


def write_served(rank: GraphRank, capture: GraphRank, folder: Path, form: Form) -> None:
    """Write both recordings, that of the capture where the program looks for it."""
    for one, place in ((rank, "rank0.json" if form == "kineto" else "rank0_ascend_pt"), (capture, _CAPTURE[form])):
        if form == "kineto":
            _write_kineto(one, folder / place)
        else:
            _write_ascend(one, folder / place, form)


def _write_ascend(rank: GraphRank, folder: Path, form: Form) -> None:
    models = {graph: number for number, graph in enumerate(sorted({piece.graph for piece in rank.pieces}), 3)}
    launches = [
        Launch(
            *piece.host,
            tuple(
                kernel
                if kernel.kind != "compute"
                else replace(
                    kernel,
                    name=f"{kernel.type}_ND_{place}",
                    model=models[piece.graph],
                    stream=100 + models[piece.graph],
                    task=place,
                )
                for place, (_, kernel) in enumerate(piece.kernels)
            ),
        )
        for piece in rank.pieces
    ]
    ops = [replace(op, kernels=tuple(_of_aclnn(one) for one in op.kernels)) for op in rank.ops]
    marks = [Op(name, start, end) for name, start, end in rank.marks]
    ops = sorted([*ops, *marks], key=lambda op: (op.start, -op.end))
    path = write_profile(folder, ops, frames=rank.frames, launches=launches, rank=0)
    if form == "text":
        export_text(path)
        path.unlink()


def _of_aclnn(kernel: Kernel) -> Kernel:
    return kernel if kernel.kind != "compute" else replace(kernel, name=f"aclnn{kernel.type}_{kernel.type}_{kernel.type}")


def _write_kineto(rank: GraphRank, path: Path) -> None:
    kinds = {start: kind for one in rank.passes for kind, start, _, _ in one.kernels}
    events = [kineto.event("user_annotation", name, start - BASE_NS, end - BASE_NS) for name, start, end in rank.marks]
    for number, op in enumerate(rank.ops, 1):
        begin, end = op.start - BASE_NS, op.end - BASE_NS
        dims = [[int(dim) for dim in shape.split(",")] if shape else [] for shape in (op.input_shapes or "").split(";")]
        shapes = {"Input Dims": dims, "Input type": ["c10::Half"] * len(dims)}
        events.append(kineto.op(op.name, begin, end, number, arguments=shapes))
        events.append(kineto.launch(begin + 100, end - 100, number))
        for kernel in op.kernels:
            name = _NAMES[kinds[kernel.start]][2]
            stream = 13 if kernel.kind == "communication" else 7
            events.append(kineto.kernel(name, kernel.start - BASE_NS, kernel.end - BASE_NS, number, stream))
    graphs = {graph: number for number, graph in enumerate(sorted({piece.graph for piece in rank.pieces}), 3)}
    for number, piece in enumerate(rank.pieces, 1_000_001):
        begin, end = (moment - BASE_NS for moment in piece.host)
        events.append(kineto.launch(begin, end, number, name="cudaGraphLaunch"))
        for place, (kind, kernel) in enumerate(piece.kernels, 1):
            node = {"graph id": graphs[piece.graph], "graph node id": (graphs[piece.graph] << 32) + place}
            times = (kernel.start - BASE_NS, kernel.end - BASE_NS)
            events.append(kineto.kernel(_NAMES[kind][2], *times, number, arguments=node))
    for number, (begin, end) in enumerate(rank.captured, 2_000_001):
        for name, at in (("cudaStreamBeginCapture", begin - BASE_NS), ("cudaStreamEndCapture", end - BASE_NS)):
            events.append(kineto.launch(at, at + 50, number, name=name))
    for number, frame in enumerate(rank.frames, 1):
        name = frame.name.removeprefix("nn.Module: ")
        events.append(kineto.module(name, frame.start - BASE_NS, frame.end - BASE_NS, number=number))
    kineto.write_trace(path, events, {**kineto.HEAD, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}})
