"""Attention of a server: FLOPs and bytes by the lengths that annotations of its passes say, beside the figures of TraceLens."""

import csv
from pathlib import Path
from statistics import mean

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.kineto import kernel, launch, op, write_trace
from tests.helpers.serving import HEADS, WIDTH, Form, serve, write
from tests.helpers.slow import quick
from tests.mfu.test_gpu_flops import BF16, H100

# Heads of queries and their size; of each pass in each layer, pairs of a query and a key that it attends to.
REAL = {
    # 15 prompts of 1,024 tokens.
    "sglang_prefilldecode": (32, 128, 15 * 1024 * 1025 // 2),
    # Sums of the annotation: queries times keys of the prompts, less what lies ahead, and the keys of 37 requests.
    "vllm_prefilldecode_piecewise": (64, 64, 7_671_310 - (7_475_785 - 8_155) // 2 + 34_489),
}
KERNELS = """
    SELECT attention.flops, attention.halved_flops, attention.bytes, judged.flops AS shown, judged.flops_source AS source,
        kernel.duration_ns
    FROM mfu.served_attention AS attention
    JOIN mfu.judged USING (profile, kernel_id)
    JOIN trace.kernel USING (profile, kernel_id)
"""


@pytest.mark.parametrize("name", quick(list(REAL), 0))
def test_flops_are_exact_and_by_the_formula_of_tracelens_its_own(realdata: Path, name: str) -> None:
    folder = realdata / "serving" / name
    with open_profile(folder) as profile:
        rows = profile.rows(KERNELS)
        (phase,) = arrow_of(profile.mfu("attention")).to_pylist()
    heads, size, pairs = REAL[name]
    text = (folder / "perf_csvs" / "InferenceAttention_fwd.csv").read_text()
    theirs = next(row for row in csv.DictReader(text.splitlines()) if "attention" in row["name"] or "prefill" in row["name"])
    assert {row["flops"] for row in rows} == {row["shown"] for row in rows} == {4 * heads * size * pairs}
    assert {row["source"] for row in rows} == {"pass"}
    assert {row["halved_flops"] for row in rows} == {round(float(theirs["GFLOPS_first"]) * 1e9)}
    assert {row["bytes"] for row in rows} == {round(float(theirs["Data Moved (MB)_first"]) * 2**20)}
    assert len(rows) == int(theirs["name_count"])
    rates = [row["halved_flops"] / row["duration_ns"] / 1000 for row in rows]
    assert mean(rates) == pytest.approx(float(theirs["TFLOPS/s_mean"]), rel=5e-5)
    assert (phase["flops"], phase["bytes"]) == (sum(row["flops"] for row in rows), sum(row["bytes"] for row in rows))


def test_decode_is_bound_by_the_memory_and_prefill_by_computing(tmp_path: Path) -> None:
    """4 heads of 128 share 1 head of keys. A prompt of 2,048 tokens; then two requests decode, with 1,000 and 3,000 keys."""
    passes = [
        ("execute_2048_context_1(sq2048sk2048sqsq4194304sqsk4194304)_generation_0(sq0sk0sqsq0sqsk0)", 2048),
        ("execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk4000sqsq2sqsk4000)", 2),
        ("execute_2_context_0(0)_generation_2(2)", 2),
    ]
    events = []
    for number, (name, tokens) in enumerate(passes, start=1):
        start, on_device = 10_000 * number, 1_000_000 * number
        dims = [[tokens, 4, 128], [tokens, 1, 128], [tokens, 1, 128], [tokens, 4, 128], []]
        arguments = {"Input Dims": dims, "Input type": [BF16] * 4 + [""], "Concrete Inputs": [""] * 5}
        events += [
            op(name, start, start + 9_000, 10 * number),
            op("vllm::unified_attention_with_output", start + 10, start + 100, 10 * number + 1, arguments=arguments),
            launch(start + 20, start + 30, number, 10 * number + 1),
            kernel("kernel_unified_attention_2d", on_device, on_device + 100_000, number),
        ]
    with open_profile(write_trace(tmp_path / "trace.json", events, H100)) as profile:
        kernels = arrow_of(profile.mfu("kernel")).to_pylist()
        phases = {row["phase"]: row for row in arrow_of(profile.mfu("attention")).to_pylist()}
    pair = 4 * 4 * 128
    prefill, decode = pair * 2048 * 2049 // 2, pair * 4000
    assert [(row["flops"], row["flops_source"], row["reason"]) for row in kernels] == [
        (prefill, "pass", None),
        (decode, "pass", None),
        (None, None, "the annotation of the pass does not say its queries and keys"),
    ]
    query, key = 2 * 4 * 128 * 2, 2 * 128 * 2
    assert (phases["prefill"]["bytes"], phases["prefill"]["bound"]) == (2048 * (query + key), "computing")
    assert phases["decode"]["bytes"] == 2 * query + 4000 * key
    assert phases["decode"]["bound"] == "memory"
    assert phases["decode"]["flops_per_byte"] == pytest.approx(decode / (2 * query + 4000 * key))


@pytest.mark.parametrize("form", quick(["db", "text"], 0))
def test_kernels_of_an_npu_have_the_flops_of_their_pass(tmp_path: Path, form: Form) -> None:
    """FusedInferAttentionScore over pages: in mixed passes one for the prompts, one for what generates, on some filled up."""
    (rank,) = serve(30, ranks=1, layers=2, graph_size=4)
    write(rank, tmp_path, form)
    with open_profile(tmp_path) as profile:
        rows = profile.rows(f"{KERNELS} ORDER BY kernel.start_ns")
        phases = {row["phase"]: row for row in arrow_of(profile.mfu("attention")).to_pylist()}
    # 4 heads with keys of their own, of 2 bytes an element.
    size, expected, by_phase = HEADS * WIDTH, [], dict.fromkeys(phases, 0)
    for one in rank.passes:
        for kind, _, _, _ in one.kernels:
            if kind in one.pairs:
                pairs, keys = one.pairs[kind]
                queries = {"decode": one.decode, "prefill": one.tokens - one.decode}[kind] if keys else 0
                expected.append((4 * size * pairs, queries * 2 * size * 2 + keys * 2 * size * 2))
                by_phase[one.phase] += 4 * size * pairs
    assert [(row["flops"], row["bytes"]) for row in rows] == expected
    assert {row["source"] for row in rows} == {"pass"}
    assert {phase: row["flops"] for phase, row in phases.items()} == by_phase
