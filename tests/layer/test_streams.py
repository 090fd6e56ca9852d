"""A model is followed over the streams that take turns; what runs beside it is counted, not mixed in."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import Profile, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.layers import BEGIN, DENSE, END, EXPERTS, NS, passes
from tests.helpers.small_profile import Kernel, write_profile

LAYERS = DENSE * 3 + EXPERTS * 6
SIDE_NS = 40


def in_turn(pieces: Iterable[tuple[int, Sequence[str]]]) -> list[Kernel]:
    """The types of each piece on its stream, one kernel behind the other; each takes 10 ns, the next starts 2 ns later."""
    types = [(stream, type_) for stream, piece in pieces for type_ in piece]
    return [
        Kernel(f"{type_}_{n}", 12 * n, 12 * n + NS, type=type_, stream=stream) for n, (stream, type_) in enumerate(types, 1)
    ]


def beside(kernels: Sequence[Kernel], type_: str, delay: int, stream: int, device: int = 0) -> list[Kernel]:
    """For each kernel of a type one on another stream, which starts some ns after it."""
    starts = [kernel.start + delay + n % 5 for n, kernel in enumerate(kernels) if kernel.type == type_]
    return [Kernel("Side", start, start + SIDE_NS, type="Side", stream=stream, device=device) for start in starts]


def on_streams(*streams: int) -> list[Kernel]:
    """Three passes whose layers are on these streams, each with about as many kernels, and the rest on stream 2."""
    length = len(LAYERS) // len(streams) + 1
    pieces = [(stream, LAYERS[n * length : (n + 1) * length]) for n, stream in enumerate(streams)]
    return in_turn([(2, BEGIN), *pieces, (2, END)] * 3)


def late(kernels: list[Kernel]) -> list[Kernel]:
    """One kernel more of stream 2, that is still at work when the model goes on."""
    return [*kernels, Kernel("Copy", kernels[40].start + 1, kernels[40].end, type="Copy", stream=2)]


def first_launches(kernels: list[Kernel]) -> list[Kernel]:
    """Names without numbers; the first kernel of each name has its call for a type, as in a captured graph."""
    seen: set[str] = set()
    renamed = []
    for kernel in kernels:
        type_ = kernel.type if kernel.type in seen else f"{kernel.type}AiCore"
        seen.add(str(kernel.type))
        renamed.append(replace(kernel, name=f"{kernel.type}_0a1b", type=type_))
    return renamed


# Name -> kernels, streams of the model, streams beside it, kernels between passes, time beside it.
CASES: dict[str, tuple[list[Kernel], str, str | None, int]] = {
    "two_streams": (on_streams(139, 141), "2, 139, 141", None, 0),
    "three_streams": (on_streams(7, 5, 9), "2, 7, 5, 9", None, 0),
    "shared_experts": ((one := on_streams(139, 141)) + beside(one, "Dispatch", 3, 8), "2, 139, 141", "8", 18 * SIDE_NS),
    "late_kernel": (late(on_streams(139, 141)), "2, 139, 141", None, NS - 1),
    "first_launches": (first_launches(on_streams(139, 141)), "2, 139, 141", None, 0),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("streams")
    for name, case in CASES.items():
        write_profile(folder / f"{name}_ascend_pt", unlinked=case[0], rank=None)
    with open_profile(folder, workers=1) as profile:
        yield profile


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_a_model_that_goes_on_in_another_stream_keeps_all_its_layers(found: Profile, name: str) -> None:
    kernels, streams, streams_beside, ns_beside = CASES[name]
    structures = {row["profile"]: row for row in arrow_of(found.layer_stats("rank")).to_pylist()}
    structure = structures[f"{name}_ascend_pt"]
    assert structure == {
        **{"profile": f"{name}_ascend_pt", "rank_id": None, "streams": streams, "beside_streams": streams_beside},
        **{"kernel_count": 3 * 115, "layer_count": 27, "alike_count": 27, "kind_count": 2, "pass_count": 3},
        **{"whole_pass_count": 3, "pass_layer_count": 9, "draft_count": 0},
        **{"kernels_of_layers": "10 x 9, 13 x 18", "alike_ns": 3 * 108 * NS, "irregular_ns": 0, "prologue_ns": 2 * NS},
        **{"between_ns": 14 * NS, "epilogue_ns": 5 * NS, "unstructured_ns": 0, "other_streams_ns": ns_beside, "reason": None},
    }
    assert passes(found, name) == ["111222222"] * 3
    assert sum(ns for part, ns in structure.items() if part.endswith("_ns")) == sum(one.end - one.start for one in kernels)


def test_every_column_of_streams_and_of_what_overlaps(found: Profile) -> None:
    streams = found.sql("FROM layer.stream WHERE profile = 'shared_experts_ascend_pt'", arrow=True).to_pylist()
    assert [
        [row[key] for key in ("device_id", "stream_id", "busy_rank", "kernel_count", "total_ns", "first_ns", "overlap_ns")]
        for row in streams
    ] == [
        [0, 139, 1, 165, 1650, 48, 0],
        [0, 141, 2, 159, 1590, 708, 0],
        # 34 ns of each beside what follows Dispatch; of those that start 7 ns behind it, 33.
        [0, 8, 3, 18, 720, 12 * (3 + 30 + 8) + 3, 18 * 34 - 3],
        [0, 2, 4, 21, 210, 12, 0],
    ]
    assert [row["is_of_model"] for row in streams] == [True, True, False, True]


@pytest.mark.slow
def test_another_device_is_beside(tmp_path: Path) -> None:
    lines = ["Device_id,Name,Type,Accelerator Core,Stream ID,Start Time(us),Duration(us)"]
    for device in (0, 1):
        for n, type_ in enumerate(BEGIN + DENSE * 8 + END):
            lines.append(f"{device},{type_}_{n},{type_},AI_CORE,7,{10**9 + 10 * n + 3 * device}.000,{device + 2}")
    (tmp_path / "kernel_details.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open_profile(tmp_path) as profile:
        (structure,) = arrow_of(profile.layer_stats("rank")).to_pylist()
    assert [structure[key] for key in ("streams", "beside_streams", "kernels_of_layers")] == ["7", "0:7", "10 x 8"]
    assert (structure["alike_ns"], structure["other_streams_ns"]) == (80 * 3000, 87 * 2000)


@pytest.mark.parametrize(
    ("name", "kernels", "streams", "prologue", "kernels_of_layers"),
    [
        pytest.param("dc_1tok", 1960, "2, 139, 141", 27, "22 x 3, 32 x 58", marks=pytest.mark.slow),
        ("pf_4099tok", 2785, "2, 9", 22, "28 x 3, 46 x 58"),
    ],
)
@pytest.mark.slow
def test_deepseek_has_61_layers_in_one_pass(
    realdata: Path, name: str, kernels: int, streams: str, prologue: int, kernels_of_layers: str
) -> None:
    """None is cut within attention and the block behind it, and what sets up and embeds is in front of the first."""
    with open_profile(realdata / "dsv3_vllm_a3" / f"dsv3_{name}.csv") as profile:
        (structure,) = arrow_of(profile.layer_stats("rank")).to_pylist()
        layers = arrow_of(profile.layer_stats("pass")).to_pylist()
        in_layers = profile.sql("FROM layer.kernel_layer ORDER BY sequence_position", arrow=True).to_pylist()
        compute_ns = profile.sql(
            "SELECT sum(duration_ns)::BIGINT AS ns FROM kernels.selected WHERE kind = 'compute'", arrow=True
        )
    assert [structure[key] for key in ("layer_count", "alike_count", "pass_count")] == [61, 61, 1]
    assert [structure[key] for key in ("kernel_count", "streams", "beside_streams")] == [kernels, streams, "14"]
    assert structure["kernels_of_layers"] == kernels_of_layers
    assert [(row["layer"], row["kind"]) for row in layers] == [(layer, 1 if layer < 3 else 2) for layer in range(61)]
    assert sum(ns for part, ns in structure.items() if part.endswith("_ns")) == compute_ns.to_pylist()[0]["ns"]
    assert [row["part"] for row in in_layers[: prologue + 1]] == ["prologue"] * prologue + ["layer"]
    for layer in range(61):
        types = [row["type"] for row in in_layers if row["layer"] == layer]
        attention = types.index("FusedInferAttentionScore")
        assert types.count("FusedInferAttentionScore") == 1
        assert types[0] == ("AddRmsNormBias" if layer else "RmsNorm")
        assert ("MoeGatingTopK" in types[attention:]) == (layer >= 3)
        assert types[-1] == ("QuantBatchMatmulV3" if layer < 3 else "muls_add_kernel" + "_1" * (name == "dc_1tok"))
