"""Simulates a server of a language model on ranks that share the load (DP), and writes what profilers record of it: a
database, a text export or a GPU trace. What each pass holds, and when its kernels ran, is known.

A rank takes requests in chunks of their prompts beside those that generate (continuous batching). A rank without requests
runs a dummy pass while others work. With drafts, a small model drafts tokens behind each pass, which the next pass verifies.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Literal

from fixtures.text_export import export_text
from tests.helpers import kineto
from tests.helpers.small_profile import Frame, Kernel, Op, write_profile

BASE_NS = 1_751_410_836_000_000_000
HIDDEN, WORDS, HEADS, WIDTH = 512, 32000, 4, 128
Form = Literal["db", "text", "kineto"]
# The names of what a layer and its end launch: the op, the type on an NPU, the kernel on a GPU.
_NAMES = {
    "norm": ("npu::npu_rms_norm", "RmsNorm", "rms_norm_kernel"),
    "matmul": ("aten::mm", "MatMulV2", "Cijk_Ailk_Bljk_HHS_BH_MT64x64x64"),
    "rope": ("vllm::rope", "ApplyRotaryPosEmb", "rotary_embedding_kernel"),
    "decode": ("vllm::attention", "FusedInferAttentionScore", "paged_attention_v2_kernel"),
    "prefill": ("vllm::attention", "FusedInferAttentionScore", "flash_fwd_kernel"),
    "add": ("npu::npu_add_rms_norm", "AddRmsNorm", "fused_add_rms_norm_kernel"),
    "act": ("aten::silu", "SwiGlu", "act_and_mul_kernel"),
    "argmax": (
        "aten::argmax",
        "ArgMaxV2",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>>>",
    ),
    "verify": ("vllm::rejection_sample", "rejection_random_sample_kernel", "rejection_random_sample_kernel"),
    "embed": ("aten::embedding", "GatherV2", "vectorized_gather_kernel"),
    "sum": ("c10d::allreduce_", "hcom_allReduce_", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"),
    "send": ("kv::send", "hccl_batchPut_", "ncclDevKernel_SendRecv"),
    "receive": ("kv::receive", "hccl_batchGet_", "ncclDevKernel_SendRecv"),
}
_COMMUNICATION = ("sum", "send", "receive")
# Query, key and value; a mask and lengths; a table of blocks.
_ATTENTION_TYPES = "FLOAT16;FLOAT16;FLOAT16;;INT8;INT64;INT64;;;;;;;;INT32"


@dataclass
class Pass:
    """A pass and its kernels: name of the kind, start and end on the device, and module."""

    phase: str
    prefill: int = 0
    decode: int = 0
    tokens: int = 0
    keys: int = 0
    pairs: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Pairs of a query and a key that it attends to, and keys, of the requests in prefill and in decode."""
    host: tuple[int, int] = (0, 0)
    kernels: list[tuple[str, int, int, str]] = field(default_factory=list)
    held: list[tuple[str, int, str, int]] = field(default_factory=list)
    """Its requests: name, tokens before, phase and tokens."""

    @property
    def span(self) -> tuple[int, int]:
        return min(start for _, start, _, _ in self.kernels), max(end for _, _, end, _ in self.kernels)


@dataclass
class Request:
    prompt: int
    generate: int
    done: int = 0
    name: str = ""


@dataclass
class Rank:
    """What a rank recorded: passes, and ops with the kernels that they launched."""

    number: int
    drafts: int
    layers: int
    random: Random
    slower: int = 1
    """So many times as long as usual all kernels take."""
    graph_size: int = 0
    """Decode passes compute as many requests at least, as a captured graph does."""
    sampling_ns: int = 0
    """So long the host chooses tokens behind each pass, while the device waits."""
    passes: list[Pass] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    marks: list[tuple[str, int, int]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    """The kinds of all kernels, in the order of their ops."""
    transfers: list[tuple[int, int]] = field(default_factory=list)
    """When the KV cache of a request was sent or received."""
    transfer_calls: list[tuple[int, int]] = field(default_factory=list)
    """When the host did that."""
    host_ns: int = BASE_NS
    device_ns: int = BASE_NS

    def launch(self, kind: str, inputs: str, outputs: str, module: str, took_ns: int) -> None:
        """Run an op that launches a kernel, which waits for the one before it; a collective ends while the next one runs."""
        op, type_, _ = _NAMES[kind]
        begin = self.host_ns + self.random.randrange(500, 1_500)
        self.host_ns = begin + self.random.randrange(2_000, 4_000)
        start = max(self.device_ns + self.random.randrange(100, 900), self.host_ns + 3_000)
        end = start + self.slower * took_ns + self.random.randrange(0, 500)
        is_sum = kind == "sum"
        communicates = kind in _COMMUNICATION
        kernel = Kernel(
            type_ if communicates else f"{type_}_0",
            start,
            end,
            kind="communication" if communicates else "compute",
            type=type_,
            core="AI_CORE" if kind == "matmul" else "MIX_AIC" if kind in ("decode", "prefill") else "AI_VECTOR_CORE",
            group="tp" if is_sum else "kv" if communicates else None,
            inputs=inputs,
            types=_ATTENTION_TYPES if kind in ("decode", "prefill") else ";".join("FLOAT16" for _ in inputs.split(";")),
            outputs=outputs,
            formats=";".join("ND" for _ in inputs.split(";")),
            output_formats="ND",
        )
        self.ops.append(Op(op, begin, self.host_ns, (kernel,), input_shapes=inputs))
        self.kinds.append(kind)
        if kind in ("send", "receive"):
            self.transfers.append((start, end))
        else:
            self.passes[-1].kernels.append((kind, start, end, module))
        # The next kernel does not wait for the end of a collective, nor for what is sent.
        self.device_ns = start if kind == "send" else end - took_ns // 4 if is_sum else end

    def move(self, kind: Literal["send", "receive"], tokens: int) -> None:
        """Send or receive the KV cache of a request."""
        begin = self.host_ns + 1_000
        self.host_ns = begin + 500
        self.launch(kind, str(tokens), str(tokens), "", 20_000 + 30 * tokens)
        self.host_ns += 700
        self.transfer_calls.append((begin, self.host_ns))
        self.marks.append(("save_kv_layer" if kind == "send" else "start_load_kv", begin, self.host_ns))

    def model(self, decode: tuple[int, int], prefill: tuple[int, int], name: str, layers: int) -> None:
        """Run the layers of a model; decode and prefill are requests with their tokens."""
        tokens = decode[1] + prefill[1]
        rows, begin = f"{tokens},{HIDDEN}", self.host_ns
        slow = 1_000 + 40 * tokens
        self.launch("embed", f"{WORDS},{HIDDEN};{tokens}", rows, name, slow)
        for number in range(layers):
            layer, began = f"{name}/Layer", self.host_ns
            self.launch("norm" if number == 0 else "add", f"{rows};{rows};{HIDDEN}", rows, layer, slow)
            attention, attended = f"{layer}/Attention", self.host_ns
            self.launch("matmul", f"{rows};{HIDDEN},{3 * HIDDEN}", f"{tokens},{3 * HIDDEN}", attention, 3 * slow)
            heads = f"{tokens},{HEADS},{WIDTH}"
            self.launch("rope", f"{heads};{heads}", heads, attention, slow)
            for kind, (count, own) in (("decode", decode), ("prefill", prefill)):
                if count:
                    query, cache = f"{own},{HEADS},{WIDTH}", f"900,128,{HIDDEN}"
                    shapes = f"{query};{cache};{cache};;2048,2048;{count};{count};;;;;;;;{count},16"
                    self.launch(kind, shapes, query, attention, 2 * slow)
            self.launch("matmul", f"{rows};{HIDDEN},{HIDDEN}", rows, attention, slow)
            self.launch("sum", rows, rows, attention, slow)
            self.frames.append(Frame("nn.Module: Attention_0", attended, self.host_ns))
            self.launch("add", f"{rows};{rows};{HIDDEN}", rows, layer, slow)
            mlp, began_mlp = f"{layer}/MLP", self.host_ns
            self.launch("matmul", f"{rows};{HIDDEN},{4 * HIDDEN}", f"{tokens},{4 * HIDDEN}", mlp, 4 * slow)
            self.launch("act", f"{tokens},{4 * HIDDEN}", f"{tokens},{2 * HIDDEN}", mlp, slow)
            self.launch("matmul", f"{tokens},{2 * HIDDEN};{2 * HIDDEN},{HIDDEN}", rows, mlp, 2 * slow)
            self.frames.append(Frame("nn.Module: MLP_0", began_mlp, self.host_ns))
            self.frames.append(Frame("nn.Module: Layer_0", began, self.host_ns))
        self.frames.append(Frame(f"nn.Module: {name}_0", begin, self.host_ns))

    def choose(self, requests: int, scores: int) -> None:
        """Run the head of the model and choose tokens; with more scores than requests, verify drafted tokens first."""
        self.launch("norm", f"{scores},{HIDDEN};{HIDDEN}", f"{scores},{HIDDEN}", "", 1_000)
        self.launch("matmul", f"{scores},{HIDDEN};{HIDDEN},{WORDS}", f"{scores},{WORDS}", "", 9_000)
        if scores > requests:
            verified = f"{scores - requests},{WORDS}"
            self.launch("verify", f"{requests};{scores - requests};{verified}", f"{requests},{scores}", "", 2_000)
            self.launch("argmax", verified, str(scores - requests), "", 1_500)
        self.launch("argmax", f"{requests},{WORDS}", str(requests), "", 2_000)

    def run(self, decode: Sequence[Request], prefill: Sequence[tuple[Request, int]], ends_at: int) -> None:
        """Run a pass over requests that generate and chunks of prompts; without any a dummy."""
        self.host_ns += self.random.randrange(20_000, 40_000)
        self.marks.append(("schedule: allocate_slots", self.host_ns - 15_000, self.host_ns - 5_000))
        own, chunks = (1 + self.drafts) * len(decode), sum(tokens for _, tokens in prefill)
        phase = "mixed" if decode and prefill else "decode" if decode else "prefill" if prefill else "dummy"
        tokens = own + chunks or 1
        c = [(tokens, request.done + tokens) for request, tokens in prefill]
        g = [(1 + self.drafts, request.prompt + request.done + 1 + self.drafts) for request in decode]
        pairs = {
            kind: (sum(q * k - (q * q - q) // 2 for q, k in of), sum(k for _, k in of))
            for kind, of in (("prefill", c), ("decode", g))
        }
        self.passes.append(Pass(phase, len(prefill), len(decode), tokens, sum(keys for _, keys in c + g), pairs))
        self.passes[-1].held += [(one.name, one.done, "prefill", tokens) for one, tokens in prefill]
        self.passes[-1].held += [(one.name, one.done, "decode", 1 + self.drafts) for one in decode]
        begin = self.host_ns
        is_dummy = phase == "dummy"
        if phase == "decode" and self.graph_size > len(decode):
            padded = (self.graph_size, self.graph_size * (1 + self.drafts))
            self.model(padded, (0, 0), "Model", self.layers)
        else:
            self.model((1, 1) if is_dummy else (len(decode), own), (len(prefill), chunks), "Model", self.layers)
        if not is_dummy:
            requests = len(decode) + len(prefill)
            self.choose(requests, requests + self.drafts * len(decode))
        self.passes[-1].host = (begin, self.host_ns)
        name = f"execute_{tokens}_context_{len(c)}({_sums(c)})_generation_{len(g)}({_sums(g)})"
        self.marks.append((name, begin, self.host_ns))
        if self.drafts and not is_dummy:
            self.host_ns += 2_000
            self.passes.append(Pass("draft", tokens=len(decode) + len(prefill)))
            begin = self.host_ns
            self.model((len(decode) + len(prefill),) * 2, (0, 0), "Draft", 1)
            self.choose(len(decode) + len(prefill), len(decode) + len(prefill))
            self.passes[-1].host = (begin, self.host_ns)
            self.marks.append(("gpu_model_runner: draft", begin, self.host_ns))
        # The host waits for the tokens before it schedules the next batch.
        self.host_ns = max(self.host_ns, self.device_ns, ends_at) + self.random.randrange(3_000, 9_000)
        if self.sampling_ns:
            self.marks.append(("gpu_model_runner: sample", self.host_ns, self.host_ns + self.sampling_ns))
            self.host_ns += self.sampling_ns


def _sums(parts: Sequence[tuple[int, int]]) -> str:
    query, keys = (sum(part[place] for part in parts) for place in (0, 1))
    return f"sq{query}sk{keys}sqsq{sum(q * q for q, _ in parts)}sqsk{sum(q * k for q, k in parts)}"


def serve(
    passes: int = 200,
    ranks: int = 2,
    drafts: int = 0,
    layers: int = 8,
    seed: int = 0,
    slower: int = 1,
    graph_size: int = 0,
    budget: int = 256,
    sampling_ns: int = 0,
) -> list[Rank]:
    """Serve random requests until a rank has run so many passes, each of at most `budget` tokens; return the ranks."""
    random = Random(seed)
    all_ranks = [
        Rank(number, drafts, layers, Random(seed + 1 + number), slower, graph_size, sampling_ns) for number in range(ranks)
    ]
    names: list[str] = []
    while max(len(rank.passes) for rank in all_ranks) < passes:
        for rank in all_ranks:
            # Requests come in waves, the first rank gets more of them.
            while len(rank.requests) < 6 and random.random() < (0.3 if rank.number == 0 else 0.12):
                sizes = random.randrange(20, 400), random.randrange(3, 20)
                rank.requests.append(Request(*sizes, name=f"cmpl-{rank.number}-{len(names)}"))
                names.append(rank.requests[-1].name)
        if not any(rank.requests for rank in all_ranks):
            continue
        ends_at = max(rank.device_ns for rank in all_ranks)
        for rank in all_ranks:
            decode = [request for request in rank.requests if request.done >= request.prompt]
            prefill, left = [], budget - (1 + drafts) * len(decode)
            for request in rank.requests:
                if request not in decode and left > 0:
                    prefill.append((request, min(left, request.prompt - request.done)))
                    left -= prefill[-1][1]
            rank.run(decode, prefill, ends_at)
            for request, tokens in prefill:
                request.done += tokens
            for request in decode:
                request.done += 1
            rank.requests = [one for one in rank.requests if one.done < one.prompt + one.generate]
    return all_ranks


def serve_apart(requests: int = 12, seed: int = 0) -> tuple[Rank, Rank]:
    """Serve random requests on two ranks of number 0: one that prefills and sends the KV cache, and one that decodes."""
    random = Random(seed)
    first, second = (Rank(0, 0, 4, Random(seed + number)) for number in (1, 2))
    all_requests = [Request(random.randrange(20, 400), random.randrange(3, 20)) for _ in range(requests)]
    sent: list[tuple[int, Request]] = []
    while waiting := [one for one in all_requests if one.done < one.prompt]:
        budget, chunks = 256, list[tuple[Request, int]]()
        for request in waiting[:3]:
            if budget:
                chunks.append((request, min(budget, request.prompt - request.done)))
                budget -= chunks[-1][1]
        first.run([], chunks, first.device_ns)
        for request, tokens in chunks:
            request.done += tokens
            if request.done == request.prompt:
                first.move("send", request.prompt)
                sent.append((first.transfers[-1][1], request))
    while sent or second.requests:
        ready_ns = max(second.host_ns, second.device_ns)
        if not second.requests:
            ready_ns = second.host_ns = second.device_ns = max(ready_ns, sent[0][0])
        while sent and sent[0][0] <= ready_ns and len(second.requests) < 6:
            second.requests.append(sent.pop(0)[1])
            second.move("receive", second.requests[-1].prompt)
        second.run(second.requests, [], second.device_ns)
        for request in second.requests:
            request.done += 1
        second.requests = [one for one in second.requests if one.done < one.prompt + one.generate]
    return first, second


def write(rank: Rank, folder: Path, form: Form, *, marks: bool = True, shapes: bool = True) -> Path:
    """Write what a rank recorded in one of the forms, with or without the annotations of the engine, and shapes."""
    if form == "kineto":
        return _write_kineto(rank, folder / f"rank{rank.number}.json", marks, shapes)
    result = folder / f"rank{rank.number}_ascend_pt"
    named = [Op(name, start, end) for name, start, end in rank.marks] if marks else []
    ops = sorted([*rank.ops, *named], key=lambda op: (op.start, -op.end))
    if not shapes:
        ops = [_without_shapes(op) for op in ops]
    path = write_profile(result, ops, frames=rank.frames, rank=rank.number)
    if form == "text":
        export_text(path)
        path.unlink()
    return result


def _without_shapes(op: Op) -> Op:
    return replace(op, input_shapes=None, kernels=tuple(replace(one, inputs="N/A", outputs="N/A") for one in op.kernels))


def _write_kineto(rank: Rank, path: Path, marks: bool, shapes: bool) -> Path:
    events = [kineto.event("user_annotation", name, start - BASE_NS, end - BASE_NS) for name, start, end in rank.marks if marks]
    for number, op in enumerate(rank.ops, 1):
        dims = [[int(dim) for dim in shape.split(",")] if shape else [] for shape in (op.input_shapes or "").split(";")]
        args = {"Input Dims": dims, "Input type": ["c10::Half"] * len(dims)} if shapes else {}
        begin, end = op.start - BASE_NS, op.end - BASE_NS
        events.append(kineto.op(op.name, begin, end, number, arguments=args))
        events.append(kineto.launch(begin + 100, end - 100, number))
        (kernel,) = op.kernels
        kind = rank.kinds[number - 1]
        stream = 13 if kind in _COMMUNICATION else 7
        events.append(kineto.kernel(_NAMES[kind][2], kernel.start - BASE_NS, kernel.end - BASE_NS, number, stream))
    for number, frame in enumerate(rank.frames, 1):
        name = frame.name.removeprefix("nn.Module: ")
        events.append(kineto.module(name, frame.start - BASE_NS, frame.end - BASE_NS, number=number))
    job = {"backend": "nccl", "rank": rank.number, "world_size": 2}
    return kineto.write_trace(path, events, {**kineto.HEAD, "distributedInfo": job})


def write_service(ranks: Sequence[Rank], folder: Path, shift_ns: int = 0) -> Path:
    """Write batch.csv as msServiceProfiler does: what the model of each rank ran over. Its clock may be shifted."""
    columns = ("name", "res_list", "start_datetime", "end_datetime", "during_time(ms)", "batch_type", "prof_id", "batch_size")
    blocks = (
        "total_blocks",
        "used_blocks",
        "free_blocks",
        "total_scheduled_tokens",
        "start_time(ms)",
        "end_time(ms)",
    )
    rows: list[tuple[object, ...]] = [(*columns, *blocks)]
    for rank in ranks:
        for one in (one for one in rank.passes if one.held):
            start_us, end_us = (one.host[0] + shift_ns) // 1000 - 1, (one.host[1] + shift_ns) // 1000 + 2
            dates = [f"2025-07-02 07:00:{us // 10**6 % 60:02}.{us % 10**6:06}" for us in (start_us, end_us)]
            held = [
                {"rid": name, "iter": done, "type": 0 if phase == "prefill" else 1, "num_scheduled_tokens": tokens}
                for name, done, phase, tokens in one.held
            ]
            kind = "Prefill,Decode" if one.phase == "mixed" else one.phase.capitalize()
            used = 40 + len(one.held)
            ran = ("modelExec", held, *dates, (end_us - start_us) / 1000, kind, 7000 + rank.number, float(one.tokens))
            rows.append((*ran, 100, used, 100 - used, one.tokens, start_us // 1000, end_us // 1000))
    with (file := folder / "batch.csv").open("w", encoding="utf-8", newline="") as content:
        csv.writer(content).writerows(rows)
    return file


def covered(intervals: Sequence[tuple[int, int]]) -> int:
    """Return how long intervals cover together."""
    moments = sorted({moment for interval in intervals for moment in interval})
    return sum(
        end - start for start, end in pairwise(moments) if any(one <= start and end <= other for one, other in intervals)
    )
