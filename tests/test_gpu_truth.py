"""The table of truth: what the engine says of each real GPU trace, beside what plain rules find in its JSON."""

from collections import Counter
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.gpu_truth import PRODUCTS, Event, Truth

QUICK = ("gpu_kineto/h100/gaunernst_bert-small-uncased__1016001", "gpu_more/rocm_external_id/gemm_02_compute_non_pow2")
SLOW = (
    "gpu_kineto/h100/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "gpu_kineto/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005",
    "gpu_kineto/mi300/gaunernst_bert-small-uncased__1016001",
    "gpu_kineto/mi300/normalization_layer_test",
    "gpu_kineto/mi300/resnet_act_checkpoint",
    "gpu_kineto/mi300_vllm/piecewise_graph_execution",
    "gpu_more/resnet50_2021/worker0.1623213129365.pt.trace",
    "gpu_more/torch_compile_old_nccl/rank0",
    "serving/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode",
    "serving/sglang_decode/sglang_Qwen3-8B_decode",
    "serving/vllm_prefilldecode_piecewise/graph_execution",
)
KERNELS = """
    SELECT kernel.kind, kernel.name, device.start_ns, device.duration_ns, op_name, module, link, step.step_id
    FROM module.kernel AS kernel
    JOIN trace.kernel AS device USING (profile, kernel_id)
    LEFT JOIN kernels.step AS step USING (profile, kernel_id)
    ORDER BY device.start_ns, kernel.name, device.duration_ns
"""
FLOPS = f"""
    SELECT coalesce(sum(flops)::BIGINT, 0) AS flops
    FROM mfu.kernel_flops
    JOIN module.kernel USING (profile, kernel_id)
    WHERE op_name IN {PRODUCTS}
"""
EXPOSED = """
    SELECT coalesce(sum(communication_not_overlapped_ns), 0)::BIGINT AS exposed_ns
    FROM step.time
    WHERE step_id IS NOT NULL OR NOT EXISTS (FROM trace.step)
"""
COLLECTIVES = """
    SELECT communication.operation, count(*) AS count
    FROM trace.kernel
    LEFT JOIN trace.communication USING (profile, kernel_id)
    WHERE kernel.kind = 'communication'
    GROUP BY ALL
"""


@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_everything_is_what_the_trace_says(name: str, realdata: Path) -> None:
    trace = realdata / f"{name}.json.gz"
    truth = Truth(trace)
    read = (
        "module.kernel",
        "trace.kernel",
        "kernels.step",
        "mfu.kernel_flops",
        "step.time",
        "trace.step",
        "trace.communication",
    )
    with open_profile(trace) as profile:
        build_at_once(profile, *read)
        kernels = profile.sql(KERNELS, arrow=True).to_pylist()
        ((flops,),) = profile.sql(FLOPS).to_numpy()
        ((exposed_ns,),) = profile.sql(EXPOSED).to_numpy()
        collectives = {row["operation"]: row["count"] for row in profile.sql(COLLECTIVES, arrow=True).to_pylist()}
    work = sorted(truth.work, key=lambda one: (one["s"], one["name"], one["e"] - one["s"]))
    base = kernels[0]["start_ns"] - work[0]["s"]
    # Each kernel with its kind and its ns.
    assert [(row["kind"], row["name"], row["start_ns"] - base, row["duration_ns"]) for row in kernels] == [
        (truth.kind(one), one["name"], one["s"], one["e"] - one["s"]) for one in work
    ]
    wrong: Counter[tuple[object, ...]] = Counter()
    for one, row in zip(work, kernels, strict=True):
        # The ops of a replayed graph are in the recording of its capture alone; without one, its launch is the op.
        is_replayed = row["link"] == "replayed" or "GraphLaunch" in (row["op_name"] or "")
        op, module, step = truth.op(one), truth.module(one), truth.step(one)
        wrong["op", op and op["name"], row["op_name"]] += row["op_name"] != (op and op["name"]) and not is_replayed
        ours = (row["module"] or "").removeprefix("[Backward]")
        wrong["module", module, ours] += ours != module and module is not None and not is_replayed
        wrong["step", step, row["step_id"]] += row["step_id"] != step
    assert +wrong == {}
    assert flops == truth.product_flops()
    in_step = [one for one in work if not truth.steps or truth.step(one) is not None]

    def of(kind: str) -> list[Event]:
        return [one for one in in_step if truth.kind(one) == kind]

    assert exposed_ns == truth.covered(of("communication"), less=of("compute"))
    assert collectives == truth.collectives()
