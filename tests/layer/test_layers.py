"""Layers found in sequences of kernels whose layers are known, in real ones, and none where there are none."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, ProfAnalysisWarning, Profile, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.layers import ATTENTION, BEGIN, DENSE, END, EXPERTS, HEAD, NS, passes
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, write_profile

UNFUSED = ["MatMul", "Slice", "RmsNorm", "Slice", "Rope", "Cache", *ATTENTION, "MatMul", "SwiGlu", "MatMul", "AddNorm"]
LETTERS = random.Random(5).choices("ABCDEFGHIJ", k=400)


def write(folder: Path, sequences: Mapping[str, Sequence[str]]) -> Path:
    """A rank for each sequence of types; each kernel takes 10 ns, the next starts 2 ns later."""
    for name, types in sequences.items():
        kernels = [
            Kernel(f"{type_}_{n}", 12 * n, 12 * n + NS, type=type_, core="AI_CORE" if "MatMul" in type_ else "AI_VECTOR_CORE")
            for n, type_ in enumerate(types, 1)
        ]
        write_profile(folder / f"{name}_ascend_pt", unlinked=kernels, rank=None)
    return folder


def noisy(types: Sequence[str], rate: float) -> list[str]:
    """With kernels of two more types strewn in."""
    chance = random.Random(7)
    return [one for type_ in types for one in (*chance.choices(["Set", "Copy"], k=chance.random() < rate), type_)]


# What predicts a further token with the last layer of the model.
DRAFT = ["Gather", "RmsNorm", "RmsNorm", "Concat", "MatMul", "RmsNorm", *EXPERTS, "MatMul", "ArgMax"]
# No name of these says attention or norm.
PLAIN = list("ABCDEFGH")

# A matmul that takes in the residual and norms it; norms behind an addition; layers that have something in place of attention.
CLOSING = ["MatMul", "Rope", "Attention", "MatmulAllReduceAddRmsNorm", "MatMul", "SwiGlu", "MatmulAllReduceAddRmsNorm"]
ADDING = [*HEAD, "Attention", "MatMul", "Add", "LayerNorm", "MatMul", "Gelu", "MatMul", "Add", "LayerNorm"]
LINEAR = ["MatMul", "Conv1d", "GatedDeltaRule", "MatMul", "AddNorm", *EXPERTS[len(HEAD + ATTENTION) :]]

# Attention of two kernels, with one between them; a draft model whose end nothing shows.
INDEXED = [
    "MlaPreprocess",
    "Cache",
    "Indexer",
    "Rope",
    "SparseAttention",
    "MatMul",
    "AddNorm",
    "MatMul",
    "SwiGlu",
    "MatMul",
    "AddNorm",
]
SAMPLING = ["Index", "Softmax", "ArgMax"]
PREDICTING = ["Gather", "RmsNorm", "RmsNorm", "Concat", "MatMul", "RmsNorm", *INDEXED[:-4], *SAMPLING]

# Name -> the kernels, the layers of each pass, and how many kernels are before, between and behind.
FOUND: dict[str, tuple[list[str], list[str], tuple[int, int, int]]] = {
    "dense_before_experts": ((BEGIN + DENSE * 3 + EXPERTS * 6 + END) * 3, ["111222222"] * 3, (2, 14, 5)),
    "one_dense": ((BEGIN + DENSE + EXPERTS * 6 + END) * 3, ["1222222"] * 3, (2, 14, 5)),
    "one_dense_once": (BEGIN + DENSE + EXPERTS * 6 + END, ["x111111"], (2, 0, 5)),
    # Other kernels in the first layer of each later pass.
    "prefill_and_decode": (
        BEGIN + EXPERTS * 6 + END + (BEGIN + UNFUSED + DENSE * 6 + END) * 4,
        ["111111", *["2333333"] * 4],
        (2, 28, 5),
    ),
    "unfused_once": (BEGIN + UNFUSED + DENSE * 6 + END, ["x111111"], (2, 0, 5)),
    "drafts": ((BEGIN + DENSE * 3 + EXPERTS * 6 + END + DRAFT) * 3, ["1112222222"] * 3, (2, 3 * 10 + 2 * 5, 3)),
    "in_turn": ((BEGIN + (DENSE + EXPERTS) * 6 + END) * 3, ["121212121212"] * 3, (2, 14, 5)),
    "hybrid": ((BEGIN + (LINEAR * 3 + EXPERTS) * 4 + END) * 2, ["1112" * 4] * 2, (2, 7, 5)),
    "closing": ((BEGIN + CLOSING * 9 + END) * 2, ["1" * 9] * 2, (3, 7, 4)),
    "adding": ((BEGIN[:2] + ["LayerNorm"] + ADDING * 9 + END) * 2, ["1" * 9] * 2, (2, 7, 5)),
    "noise": (noisy(BEGIN + DENSE * 60 + END, 0.04), ["1" * 60], (2, 0, 5)),
    # The profile begins and ends within a layer.
    "cut": ((DENSE * 8)[4:-3], ["111111x"], (5, 0, 0)),
    # Nothing says where layers begin but the end.
    "plain": ((["Q", "R"] + PLAIN * 9 + ["S", "T", "U"]) * 2, ["1" * 9] * 2, (2, 5, 3)),
    "plain_cut": ((PLAIN * 8)[4:-3], ["x1111111"], (0, 0, 0)),
    # From within the attention of the first layer of a pass to the same place of the next one.
    "begins_in_a_layer": ((INDEXED * 8)[4:] + END + BEGIN + INDEXED[:4], ["x1111111"], (0, 0, 5 + 3 + 4)),
    # What predicts a further token at the end: its layer has other kernels behind attention, up to the end of the profile.
    "drafts_once": (BEGIN + INDEXED * 8 + END + PREDICTING, ["11111111x"], (2, 10, 0)),
    # The last four of nine layers, then all nine.
    "last_four": (DENSE * 4 + END + BEGIN + DENSE * 9 + END, ["1111", "1" * 9], (0, 7, 5)),
}
NOT_FOUND = {
    "letters": (LETTERS[:50], says("no kind of kernel comes back", "the same kernels in between")),
    "mostly_letters": (LETTERS + DENSE * 20, says("only 32% of the kernels", "repeat")),
}


QUICK = ["one_dense", "drafts_once", "last_four", "noise", "mostly_letters"]


@pytest.fixture(scope="module", params=quick([QUICK, [*FOUND, *NOT_FOUND]], 0), ids=["some", "all"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    sequences = {name: case[0] for name, case in (FOUND | NOT_FOUND).items() if name in request.param}
    ranks = write(tmp_path_factory.mktemp("layers"), sequences)
    with pytest.warns(ProfAnalysisWarning, match="no layers were found"), open_profile(ranks, workers=1) as profile:
        build_at_once(profile, "layer-stats", "layer.kernel_layer")
        profile.layer_stats()
        yield profile


def test_layers_passes_and_what_is_outside_are_those_of_the_sequence(found: Profile) -> None:
    structures = {row["profile"]: row for row in arrow_of(found.layer_stats("rank")).to_pylist()}
    names = {name.removesuffix("_ascend_pt") for name in structures}
    assert names in ({*QUICK}, {*FOUND, *NOT_FOUND})
    for name, (types, expected, outside) in FOUND.items():
        if name not in names:
            continue
        structure = structures[f"{name}_ascend_pt"]
        assert (passes(found, name), structure["reason"]) == (expected, None), name
        assert tuple(structure[f"{part}_ns"] / NS for part in ("prologue", "between", "epilogue")) == outside, name
        assert sum(value for part, value in structure.items() if part.endswith("_ns")) == len(types) * NS, name
        assert (structure["streams"], structure["beside_streams"]) == ("2", None)
        assert structure["pass_count"] == len(expected), name
        assert structure["layer_count"] - structure["alike_count"] == "".join(expected).count("x"), name
    for name, (types, reason) in NOT_FOUND.items():
        if name not in names:
            continue
        structure = structures[f"{name}_ascend_pt"]
        assert structure["reason"] == reason, name
        assert (structure["layer_count"], structure["unstructured_ns"]) == (None, len(types) * NS)
        assert says(f"{name}_ascend_pt: ", "no layers were found", structure["reason"]) in found.warnings
    assert len(structures["noise_ascend_pt"]["kernels_of_layers"]) == len("10 x 60")


def test_a_pass_has_as_many_layers_as_the_model_and_layers_keep_their_numbers_where_the_profile_is_cut(found: Profile) -> None:
    structures = {row["profile"].removesuffix("_ascend_pt"): row for row in arrow_of(found.layer_stats("rank")).to_pylist()}
    columns = ("layer_count", "pass_count", "whole_pass_count", "pass_layer_count", "draft_count")
    assert {name: tuple(structures[name][column] for column in columns) for name in ("drafts_once", "last_four")} == {
        "drafts_once": (9, 1, 1, 8, 1),
        "last_four": (13, 2, 1, 9, 0),
    }
    numbers = found.sql(
        "SELECT pass, layer FROM layer.pass_layer WHERE profile = 'last_four_ascend_pt'", arrow=True
    ).to_pylist()
    assert [row["layer"] for row in numbers] == [5, 6, 7, 8, *range(9)]
    if "drafts" in structures:
        assert tuple(structures["drafts"][column] for column in columns) == (30, 3, 3, 9, 3)
        assert structures["begins_in_a_layer"]["kernels_of_layers"] == "11 x 8"


def test_every_column_of_positions_layers_and_passes(found: Profile) -> None:
    positions = found.sql("FROM layer.statistic WHERE profile = 'one_dense_ascend_pt' AND kind = 2", arrow=True).to_pylist()
    assert [row["type"] for row in positions] == ["AddNorm", *EXPERTS[:-1]]
    assert positions[2] == {
        **{"profile": "one_dense_ascend_pt", "rank_id": None, "kind": 2, "layer_count": 18, "position": 3, "type": "Rope"},
        **{"core": "AI_VECTOR_CORE", "name": "Rope_110", "kernel_count": 18, "total_ns": 180, "mean_ns": 10.0},
        **{"median_ns": 10, "p95_ns": 10, "min_ns": 10, "max_ns": 10, "mean_gap_ns": 2.0, "share": 1 / 13},
    }
    layers = found.sql("FROM layer.by_index WHERE profile = 'one_dense_ascend_pt'", arrow=True).to_pylist()
    assert [(row["layer"], row["kind"], row["pass_count"], row["total_ns"]) for row in layers] == [
        (0, 1, 3, 300),
        *((layer, 2, 3, 390) for layer in range(1, 7)),
    ]
    assert layers[1] == {
        **{"profile": "one_dense_ascend_pt", "rank_id": None, "layer": 1, "kind": 2, "pass_count": 3, "kernel_count": 13.0},
        **{"total_ns": 390, "mean_ns": 130.0, "median_ns": 130, "p95_ns": 130, "min_ns": 130, "max_ns": 130},
        **{"mean_span_ns": 154.0, "share": 390 / 2640},
    }
    of_passes = found.sql("FROM layer.pass_layer WHERE profile = 'one_dense_ascend_pt' AND pass = 1", arrow=True).to_pylist()
    assert of_passes[0] == {
        **{"profile": "one_dense_ascend_pt", "rank_id": None, "pass": 1, "layer": 0, "kind": 1, "reason": None},
        **{"kernel_count": 10, "extra_kernel_count": 0, "duration_ns": 100},
        **{"span_ns": 118, "start_ns": 12 * (95 + 3), "types": None},
    }
    irregular = {
        row["profile"].removesuffix("_ascend_pt"): (row["layer"], row["reason"], row["types"])
        for row in found.sql("FROM layer.pass_layer WHERE kind IS NULL", arrow=True).to_pylist()
    }
    expected = {
        "one_dense_once": (0, says("goes on with other kernels"), ", ".join(["RmsNorm", *DENSE[:-1]])),
        "unfused_once": (0, says("begins with other kernels"), ", ".join(["RmsNorm", *UNFUSED[:-1]])),
        "cut": (6, says("cut by the end"), ", ".join(["AddNorm", *DENSE[:7]])),
        "plain_cut": (0, says("cut by the beginning"), "E"),
        "begins_in_a_layer": (0, says("cut by the beginning"), ", ".join(INDEXED[4:-1])),
        "drafts_once": (8, says("goes on with other kernels"), ", ".join(["RmsNorm", *INDEXED[:-4], *SAMPLING])),
    }
    ranks = {row["profile"].removesuffix("_ascend_pt") for row in found.rows("SELECT profile FROM layer.structure")}
    assert irregular == {name: row for name, row in expected.items() if name in ranks}


def test_strewn_kernels_are_extra_and_stay_in_their_layers(found: Profile) -> None:
    rows = found.sql("FROM layer.pass_layer WHERE profile = 'noise_ascend_pt'", arrow=True).to_pylist()
    types = FOUND["noise"][0]
    assert {row["kernel_count"] - row["extra_kernel_count"] for row in rows} == {10}
    outside = found.sql(
        "SELECT count(*) AS count FROM layer.kernel_layer WHERE profile = 'noise_ascend_pt' AND part != 'layer'", arrow=True
    ).to_pylist()[0]["count"]
    assert sum(row["kernel_count"] for row in rows) == len(types) - outside


@pytest.mark.parametrize(
    ("name", "kernels", "irregular", "down"),
    [("pf_4112tok", 12, 18, "MatMulV3"), pytest.param("dc_16tok", 10, 15, "MatMulV2", marks=pytest.mark.slow)],
)
def test_a_real_forward_pass_has_64_layers(realdata: Path, name: str, kernels: int, irregular: int, down: str) -> None:
    with open_profile(realdata / "qwen3_32b_vllm_a3" / f"qwen3-32b_{name}.csv") as profile:
        (structure,) = arrow_of(profile.layer_stats("rank")).to_pylist()
        layers = arrow_of(profile.layer_stats("pass")).to_pylist()
        positions = arrow_of(profile.layer_stats()).to_pylist()
    assert (structure["layer_count"], structure["alike_count"], structure["pass_count"]) == (64, 63, 1)
    assert structure["kernels_of_layers"] == f"{kernels} x 63"
    assert [row["layer"] for row in layers if row["kind"] is None] == [0]
    assert [row["kernel_count"] for row in layers] == [irregular, *[kernels] * 63]
    assert (positions[0]["type"], positions[-1]["type"], len(positions)) == ("AddRmsNormBias", down, kernels)
    assert "FusedInferAttentionScore" in layers[0]["types"]


@pytest.mark.slow
def test_level0_text_other_streams_and_steps(tmp_path: Path, command: Callable[..., Result]) -> None:
    """Names that end in numbers stand for types; a csv tells streams and steps."""
    lines = ["Step Id,Name,Accelerator Core,Stream ID,Start Time(us),Duration(us)"]
    for step in (1, 2):
        for n, type_ in enumerate(BEGIN + DENSE * (3 + step) + END):
            core = "AI_CORE" if type_ == "MatMul" else "AI_VECTOR_CORE"
            lines.append(f"{step},{type_}_{n}_2,{core},7,{step * 10**9 + 10 * n}.000,2.5")
            lines.append(f"{step},Side,AI_CORE,8,{step * 10**9 + 10 * n + 1}.000,0.5")
    (tmp_path / "kernel_details.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open_profile(tmp_path, step_id=2) as profile:
        (structure,) = arrow_of(profile.layer_stats("rank")).to_pylist()
        assert [structure[key] for key in ("streams", "beside_streams", "kernels_of_layers")] == ["7", "8", "10 x 5"]
        assert structure["other_streams_ns"] == 57 * 500
        with pytest.raises(InputError, match="by='step': give position, layer, pass or rank"):
            profile.layer_stats("step")
    result = command("layer-stats", "-d", tmp_path, "--top", "1", "--export_type", "csv")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [" ".join(line.split()) for line in result.stdout.splitlines() if "wrote" not in line and line.strip()] == [
        "profile layers alike passes kernels kernels x layers streams streams beside why no layers",
        f"{tmp_path.name} 9 9 2 104 10 x 9 7 8 -",
        says("alike 72.1%", "prologue 1.6%", "between 5.6%", "epilogue 4.0%", "other streams 16.7%", "1 rank"),
        says(f"{tmp_path.name}: 5 layers a pass", "1 of 2 passes whole"),
        "type position mean share of layer gap before median p95 kind name",
        "- 2 2.50 us 10.0% 7.50 us 2.50 us 2.50 us 1 MatMul_13_2",
    ]
    folder = tmp_path / "cluster_analysis_output"
    assert {file.name for file in folder.iterdir()} == {
        "layer_structure.csv", "layer_position.csv", "layer_by_index.csv", "layer.csv"
    }  # fmt: skip
