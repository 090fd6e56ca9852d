"""Layers of real models: as many as the models have, in whole passes and in those that the recording cuts."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.slow import quick

# Path -> the layers of the model, those that predict further tokens behind them, layers found, passes, whole ones, and the
# kernels of each kind. The layers are those of the published configurations.
MODELS: dict[str, tuple[int, int, int, int, int, str]] = {
    "glm5_1_vllm_a3": (78, 2, 80, 1, 1, "22 x 3, 27 x 75"),
    "gpu_kineto/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": (24, 0, 34, 2, 1, "42 x 34"),
    "gpu_kineto/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": (24, 0, 35, 2, 1, "43 x 35"),
    "gpu_kineto/h100/gaunernst_bert-small-uncased__1016001.json.gz": (4, 0, 4, 1, 1, "12 x 4"),
    "gpu_kineto/mi300/gaunernst_bert-small-uncased__1016001.json.gz": (4, 0, 4, 1, 1, "12 x 4"),
    "gpu_kineto/mi300_vllm": (24, 0, 24, 1, 1, "17 x 23"),
    "dsv3_vllm_a3/dsv3_dc_1tok.csv": (61, 0, 61, 1, 1, "22 x 3, 32 x 58"),
    "dsv3_vllm_a3/dsv3_pf_4099tok.csv": (61, 0, 61, 1, 1, "28 x 3, 46 x 58"),
    "qwen3_32b_vllm_a3/qwen3-32b_dc_16tok.csv": (64, 0, 64, 1, 1, "10 x 63"),
    "qwen3_32b_vllm_a3/qwen3-32b_pf_4112tok.csv": (64, 0, 64, 1, 1, "12 x 63"),
    "serving/sglang_decode": (36, 0, 36, 1, 1, "15 x 35"),
    "serving/sglang_prefilldecode": (36, 0, 36, 1, 1, "14 x 35"),
    "serving/vllm_prefilldecode_piecewise": (24, 0, 24, 1, 1, "17 x 23"),
}


@pytest.mark.parametrize("path", quick(list(MODELS), 2))
@pytest.mark.slow
def test_a_pass_has_the_layers_of_the_model(realdata: Path, path: str) -> None:
    with open_profile(realdata / path) as profile:
        (found,) = arrow_of(profile.layer_stats("rank")).to_pylist()
        columns = ("pass_layer_count", "draft_count", "layer_count", "pass_count", "whole_pass_count", "kernels_of_layers")
        assert tuple(found[column] for column in columns) == MODELS[path]
        # The last layer of each pass is the last of the model, or of what follows it, wherever the recording begins.
        rows = profile.rows("SELECT pass, max(layer) AS last FROM layer.pass_layer GROUP BY pass")
        assert {row["last"] for row in rows} == {found["pass_layer_count"] + found["draft_count"] - 1}
