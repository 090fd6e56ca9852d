"""Passes of real servers: what the engines wrote, and the same where their annotations are hidden."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.slow import quick

# Path -> of each pass the phase, requests in prefill and in decode, and tokens; the rows of graphs count their padding, and
# those of a replayed graph are not recorded.
HELD: dict[str, list[tuple[Any, ...]]] = {
    "serving/sglang_decode": [("decode", 0, 32, 32)],
    "serving/sglang_prefilldecode": [("prefill", 15, 0, 15_360)],
    "serving/vllm_prefilldecode_piecewise": [("mixed", 9, 37, 8_192)],
    "gpu_kineto/mi300_vllm": [("mixed", 9, 37, 8_192)],
    "qwen3_32b_vllm_a3/qwen3-32b_dc_16tok.csv": [("decode", 0, 1, 16)],
    "qwen3_32b_vllm_a3/qwen3-32b_pf_4112tok.csv": [("prefill", 1, 0, 4_112)],
    "dsv3_vllm_a3/dsv3_dc_1tok.csv": [("decode", 0, 1, 1)],
    "dsv3_vllm_a3/dsv3_pf_4099tok.csv": [("prefill", 1, 0, 4_099)],
    "glm5_1_vllm_a3": [("decode", 0, 1, 3), ("draft", None, None, 3)],
}
ANNOTATED = list(HELD)[:4]


def passes_of(path: Path) -> list[dict[str, Any]]:
    with open_profile(path) as profile:
        rows: list[dict[str, Any]] = arrow_of(profile.iterations()).to_pylist()
    return rows


def held(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["phase"], row["prefill_request_count"], row["decode_request_count"], row["token_count"]) for row in rows]


@pytest.mark.parametrize("path", quick(list(HELD), 0, 4, 8))
def test_a_real_pass_has_its_phase_requests_and_tokens(realdata: Path, path: str) -> None:
    assert held(passes_of(realdata / path)) == HELD[path]


@pytest.mark.parametrize("path", quick(ANNOTATED, 0))
def test_the_phase_is_the_same_where_annotations_are_hidden(realdata: Path, tmp_path: Path, path: str) -> None:
    (trace,) = (realdata / path).glob("*.json.gz")
    content = json.loads(gzip.decompress(trace.read_bytes()))
    events = content["traceEvents"]
    content["traceEvents"] = [event for event in events if "user_annotation" not in event.get("cat", "")]
    hidden = tmp_path / trace.name
    hidden.write_bytes(gzip.compress(json.dumps(content).encode(), 1))
    rows = passes_of(hidden)
    assert {row["found_by"] for row in rows} <= {"tokens", "layers"}
    assert {row["phase_from"] for row in rows} == {"kernels"}
    assert [one[:3] for one in held(rows)] == [one[:3] for one in HELD[path]]
    assert all(row["token_count"] in (None, tokens) for row, (*_, tokens) in zip(rows, HELD[path], strict=True))
    # All kernels of the trace are of the one pass, from the first to the last.
    kernels = [event for event in events if event.get("cat") == "kernel"]
    assert max(row["kernel_count"] for row in rows) == sum(
        event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") for event in events
    )
    assert sum(row["computing_ns"] for row in rows) <= round(sum(1000 * event["dur"] for event in kernels))


def test_sums_of_queries_and_keys_are_what_the_engine_wrote(realdata: Path) -> None:
    with open_profile(realdata / "gpu_kineto/mi300_vllm") as profile:
        (one,) = profile.rows("FROM pass.instance")
    sums = {"token_count": 8_155, "key_count": 8_430, "square_count": 7_475_785, "pair_count": 7_671_310}
    assert {name: one[f"prefill_{name}"] for name in sums} == sums
    sums = {"token_count": 37, "key_count": 34_489, "square_count": 37, "pair_count": 34_489}
    assert {name: one[f"decode_{name}"] for name in sums} == sums
    assert one["key_count"] == 8_430 + 34_489


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["alexnet_ddp_910b_mstx", "gpu_kineto/mi300/resnet_act_checkpoint.json.gz", "trace_alone_2023"]
)
def test_a_training_has_no_passes(realdata: Path, path: str) -> None:
    assert passes_of(realdata / path) == []
