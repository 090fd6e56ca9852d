"""Real traces on H100 and MI300X: FLOPs, counts and mean times of matrix products are those of TraceLens, row by row."""

import ast
import csv
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of

SLOW = pytest.mark.slow
TRACES = [
    pytest.param("h100/gaunernst_bert-small-uncased__1016001", "h100_bert", id="bert on H100"),
    pytest.param("h100/Qwen_Qwen1.5-0.5B-Chat__1016005", "h100_qwen1.5", id="Qwen on H100", marks=SLOW),
    pytest.param("mi300/gaunernst_bert-small-uncased__1016001", "mi300_bert", id="bert on MI300X", marks=SLOW),
    pytest.param("mi300/Qwen_Qwen1.5-0.5B-Chat__1016005", "mi300_qwen1.5", id="Qwen on MI300X", marks=SLOW),
    pytest.param("mi300/resnet_act_checkpoint", "mi300_resnet_act_checkpoint", id="ResNet on MI300X", marks=SLOW),
    pytest.param("mi300_vllm/piecewise_graph_execution", "mi300_vllm_piecewise", id="vLLM on MI300X", marks=SLOW),
]
# Op and shapes -> FLOPs of one op, by the kernels that share them.
FLOPS = """
    WITH of_op AS (
        SELECT op_id, input_shapes, sum(flops)::BIGINT AS flops FROM mfu.kernel_efficiency WHERE flops > 0 GROUP BY ALL
    )
    SELECT DISTINCT input_shapes, flops FROM of_op
"""
# Memsets have no flow in traces of AMD, so TraceLens finds no op for them.
SETS = """
    SELECT input.input_shapes, sum(kernel.duration_ns)::BIGINT AS set_ns
    FROM module.kernel
    JOIN trace.op_input AS input USING (op_id)
    WHERE starts_with(kernel.name, 'Memset')
    GROUP BY ALL
"""
TIMES = "SELECT name, input_shapes, calls, device_total_ns FROM op.statistic"


def of_tracelens(folder: Path, sheet: str) -> list[dict[str, Any]]:
    """The rows of a sheet by op and shapes, recomputation with the rest; FLOPs without what is not a matrix product."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    file = folder / f"{sheet}.csv"
    for row in csv.DictReader(file.read_text().splitlines()) if file.exists() else []:
        dims = ast.literal_eval(row["Input Dims_first"])
        shapes = ";".join(",".join(map(str, one)) for one in dims)
        one = rows.setdefault(
            (row["name"], shapes), {"name": row["name"], "dims": dims, "shapes": shapes, "count": 0, "us": 0.0}
        )
        one["count"] += int(row["name_count"])
        one["us"] += float(row["Kernel Time (µs)_mean"]) * int(row["name_count"])
        one["flops"] = round(float(row["GFLOPS_first"]) * 1e9)
        if sheet == "GEMM" and row["param: bias"] == "True":
            # It adds the bias to its FLOPs.
            one["flops"] -= int(row["param: M"]) * int(row["param: N"])
        if row.get("param: causal") == "True":
            # It halves the square; the diagonal counts whole here.
            one["flops"] = one["flops"] * (dims[0][2] + 1) // dims[0][2]
    return list(rows.values())


REPLAYED_PRODUCTS = """
    WITH product AS (
        SELECT op_kernel.name, op_flops.flops, duration_ns, op_id,
               list_filter(string_split(op_kernel.input_shapes, ';'), lambda shape: contains(shape, ',')) AS shapes
        FROM mfu.op_kernel JOIN mfu.op_flops USING (profile, rank_id, shape_id)
        JOIN trace.kernel USING (profile, rank_id, kernel_id)
        WHERE op_kernel.name IN ('aten::mm', 'aten::addmm')
    )
    SELECT name, flops, count(DISTINCT op_id) AS calls, sum(duration_ns)::BIGINT AS ns,
           [split_part(shapes[1], ',', 1)::INT, split_part(shapes[2], ',', 2)::INT, split_part(shapes[1], ',', 2)::INT] AS sizes
    FROM product GROUP BY ALL
"""


@pytest.mark.parametrize(("name", "expected"), TRACES)
def test_products_are_those_of_tracelens_row_by_row(name: str, expected: str, realdata: Path) -> None:
    with open_profile(realdata / "gpu_kineto" / f"{name}.json.gz") as profile:
        flops = {row["input_shapes"]: row["flops"] for row in profile.sql(FLOPS, arrow=True).to_pylist()}
        ops = {(row["name"], row["input_shapes"]): row for row in profile.sql(TIMES, arrow=True).to_pylist()}
        sets = profile.sql(SETS, arrow=True).to_pylist() if name.startswith("mi300") else []
    folder = realdata / "gpu_kineto" / "expected" / expected
    compared = 0
    for row in (row for sheet in ("GEMM", "SDPA_fwd", "CONV_fwd") for row in of_tracelens(folder, sheet)):
        if (row["name"], row["shapes"]) not in ops:
            # TraceLens merges the capture of graphs into their replay; such ops are not in the trace.
            assert expected == "mi300_vllm_piecewise"
            continue
        one = ops[row["name"], row["shapes"]]
        assert (row["name"], one["calls"]) == (row["name"], row["count"])
        set_ns = sum(one["set_ns"] for one in sets if one["input_shapes"].startswith(row["shapes"]))
        assert (one["device_total_ns"] - set_ns) / 1000 == pytest.approx(row["us"], rel=5e-5), row["name"]
        # The FLOPs are those of the innermost op, which can have other dims.
        inner = row["shapes"]
        if "attention" in row["name"]:
            inner = next(
                shapes for shapes in flops if shapes.startswith(",".join(str(row["dims"][0][at]) for at in (0, 2, 1, 3)))
            )
        elif "convolution" in row["name"]:
            inner = next(shapes for shapes in flops if shapes.startswith(row["shapes"]))
        elif row["name"].startswith("vllm::"):
            inner = next(shapes for shapes in flops if shapes.startswith(row["shapes"].split(";")[0]))
        assert flops[inner] == row["flops"], row["name"]
        compared += 1
    assert compared > 0


def test_products_of_replayed_graphs_are_those_of_tracelens_with_the_capture_beside_them(realdata: Path) -> None:
    """Which adds the bias to their FLOPs."""
    folder = realdata / "serving" / "vllm_prefilldecode_piecewise"
    with open_profile(folder) as profile:
        rows = profile.sql(REPLAYED_PRODUCTS, arrow=True).to_pylist()
    with (folder / "perf_csvs" / "GEMM.csv").open(encoding="utf-8") as file:
        expected = {
            (row["name"], *(int(row[f"param: {one}"]) for one in "MNK")): (
                round(float(row["GFLOPS_first"]) * 1e9)
                - (int(row["param: M"]) * int(row["param: N"]) if row["param: bias"] == "True" else 0),
                int(row["name_count"]),
                float(row["Kernel Time (µs)_sum"]),
            )
            for row in csv.DictReader(file)
            if row["name"].startswith("aten::")
        }
    found = {(row["name"], *row["sizes"]): (row["flops"], row["calls"], row["ns"] / 1000) for row in rows}
    assert found == {key: (flops, calls, pytest.approx(us, abs=0.01)) for key, (flops, calls, us) in expected.items()}
    assert len(found) == 4


@pytest.mark.slow
def test_the_efficiency_of_a_product_is_its_flops_by_its_time_and_the_peak_of_the_data_sheet(realdata: Path) -> None:
    """Without the memset before it, which TraceLens counts: it has 610.7 TFLOPS."""
    with open_profile(realdata / "gpu_kineto" / "h100" / "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz") as profile:
        ops = arrow_of(profile.mfu("op")).to_pylist()
        (rank,) = arrow_of(profile.mfu("rank")).to_pylist()
    (row,) = [row for row in ops if row["input_shapes"] == "8944,1024;1024,2816"]
    assert (row["kernel_count"], row["flops"]) == (48, 48 * 51_581_550_592)
    assert row["achieved_tflops"] == pytest.approx(616.6, abs=0.05)
    assert row["efficiency"] == pytest.approx(616.6 / 989.4, abs=0.0001)
    assert rank["peaks"] == (
        "bf16 989.4 TFLOPS (data sheet of NVIDIA H100 SXM), fp32 66.9 TFLOPS (data sheet of NVIDIA H100 SXM)"
    )
    # Each op once: 48 + 24 products of 8944 x 2816 x 1024, 96 of 8944 x 1024 x 1024, 24 attentions, and one of position codes.
    assert rank["flops"] == 72 * 51_581_550_592 + 96 * 18_756_927_488 + 24 * 10_257_694_720 + 35_776
