"""Experts: rows and time of grouped matmuls by rank, expert and place in the step, and what an uneven load costs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import ProfAnalysisWarning, Profile, open_profile
from prof_analysis.analyses.answer import Sentences
from prof_analysis.analyses.answers.experts import experts
from prof_analysis.engine.rows_of import Row, rows_of
from tests.helpers import kineto
from tests.helpers.asking import build_at_once
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile


def rows(profile: Profile, table: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in profile.rows(f"FROM {table}")]


def grouped(start: int, end: int, inputs: str, outputs: str = "1,1", kind: str = "GroupedMatmul") -> Kernel:
    return Kernel("gmm", start, end, type=kind, inputs=inputs, outputs=outputs)


def exchange(start: int, end: int) -> Kernel:
    return Kernel("hcom_alltoallv_", start, end, "communication", group="ep_group")


def write_rank(folder: Path, rank: int, ops: list[Op], group: tuple[int, ...] = (), label: str = "exp") -> None:
    path = write_profile(folder / f"{rank}_ascend_pt", ops, [Range("MoE", 100, 190)], steps=[(1, 100, 200)], rank=rank)
    if group:
        groups = {"ep_group": {"group_name": label, "group_rank": group.index(rank), "global_ranks": list(group)}}
        value = json.dumps(groups)
        edit(
            path,
            f"CREATE TABLE META_DATA (name TEXT, value TEXT); INSERT INTO META_DATA VALUES ('parallel_group_info', '{value}')",
        )


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks of 4 experts each. Rank 1 gets 300 of 400 rows, works three times as long, and rank 0 waits in the exchange."""
    folder = tmp_path_factory.mktemp("experts") / "job"
    for rank, (row_count, up, down) in enumerate([(100, 100, 50), (300, 300, 150)]):
        first = grouped(1000, 1000 + up, f"{row_count},8;4,8,16;;;;;;4", f"{row_count},16")
        second = grouped(2000, 2000 + down, f"{row_count},16;4,16,8;;;;;;4", f"{row_count},8", "GroupedMatmulSwigluQuantV2")
        other = Kernel("mm", 1500, 1600, type="MatMulV3")
        write_rank(
            folder,
            rank,
            [
                Op("npu::npu_grouped_matmul", 110, 120, (first, other, second)),
                Op("a2a", 130, 140, (exchange(2000 + down, 2500),)),
            ],
            (0, 1),
        )
    return folder


def test_what_an_uneven_load_costs(uneven: Path) -> None:
    with open_profile(uneven) as profile:
        build_at_once(profile, "experts")
        assert rows(profile, "across.expert_call") == [
            ("0,1", 1, 1, "MoE", 2, 200, 300, "1", 100, 1.5, 200.0, 300, 1.5, None),
            ("0,1", 1, 2, "MoE", 2, 100, 150, "1", 50, 1.5, 200.0, 300, 1.5, 50),
        ]
        assert rows(profile, "across.expert_rank") == [
            ("0,1", True, "1_ascend_pt", 1, 2, 450, 150, 1.5, 600, 1.5, 4),
            ("0,1", True, "0_ascend_pt", 0, 2, 150, -150, 0.5, 200, 0.5, 4),
        ]
        assert rows(profile, "across.expert_total") == [("0,1", True, 2, 600, 1.5, 1.5, 2, 150, 50, "different", None)]
        assert rows(profile, "experts.load") == [
            ("0_ascend_pt", 0, 1, "MoE", 2, 150, 200, 4, 100, 100),
            ("1_ascend_pt", 1, 1, "MoE", 2, 450, 600, 4, 300, 300),
        ]
        # Rows of one tensor are those of all experts: which has how many is not recorded.
        assert rows(profile, "experts.expert") == []
        _, (*_, sentences) = experts(profile, 1)
    assert isinstance(sentences, Sentences)
    assert sentences.lines[-1].startswith("rows of each expert are not recorded: they are values of an input")


@pytest.mark.slow
def test_the_command_says_what_it_costs_and_what_is_not_known(
    uneven: Path, tmp_path: Path, command: Callable[..., Result]
) -> None:
    result = command("experts", uneven, "-o", tmp_path, "--export_type", "csv")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[1] == ["1", "450", "ns", "1.50", "600", "1.50", "4", "2", "0,1"]
    shown = result.stdout.splitlines()
    assert says("uneven load costs each rank 150 ns", "2 grouped matmuls", "waited 50 ns on average") in shown
    assert says("rows of each expert are not recorded", "values of an input") in shown
    written = (tmp_path / "cluster_analysis_output" / "expert_group.csv").read_text().splitlines()
    assert written[0].split(",")[:3] == ["expert_group", "is_recorded", "rank_count"]


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [
        pytest.param("100,8;4,8,16;;;;;;4", "100,16", (100, 4, None), id="one tensor of rows, one of weights"),
        pytest.param("100,8;4,16,8;4,1;100;4", "100,8", (100, 4, None), id="quantised, with scales"),
        pytest.param("100,8;8,16;8,16;8,16;3", "100,16", (100, 3, None), id="one tensor of rows, a weight for each expert"),
        pytest.param("30,8;70,8;8,16;8,16;2", "30,16;70,16", (100, 2, [30, 70]), id="a tensor for each expert"),
        pytest.param("30,8;70,8;16,8;16,8;2", "30,16;70,16", (100, 2, [30, 70]), id="whose weights are turned"),
        pytest.param("0,8;70,8;8,16;8,16;2", "0,16;70,16", (70, 2, [0, 70]), id="an expert without rows"),
        pytest.param("0,8;4,8,16;;;;;;4", "0,16", (0, 4, None), id="a rank without rows"),
        pytest.param("8,100;100,16;4", "4,8,16", (100, 4, None), id="gradient of the weights"),
        pytest.param("1,4,16,16,32;4,8,16", "1,1", (None, None, None), id="a layout that is not known"),
        pytest.param("x;y", "", (None, None, None), id="no shapes at all"),
        pytest.param("99999999999999999999,8;4,8,16", "1,1", (None, None, None), id="a length that no tensor has"),
        pytest.param(None, None, None, id="Level0"),
    ],
)
def test_rows_and_experts_by_shapes(inputs: str | None, outputs: str | None, expected: tuple[Any, ...] | None) -> None:
    kernel = {"kernel_id": 1, "input_shapes": inputs, "output_shapes": outputs}
    found = rows_of("experts.shape", {"trace.grouped_matmul": [{"kernel_id": 1}], "trace.kernel": [kernel]})
    assert [tuple(row.values())[2:] for row in found] == ([] if expected is None else [expected])


def test_a_kernel_without_shapes_has_those_of_its_op_where_that_lists_them_as_kernels_do() -> None:
    given: dict[str, list[Row]] = {
        "trace.grouped_matmul": [{"kernel_id": 1}, {"kernel_id": 2}],
        "trace.kernel": [{"kernel_id": 1}, {"kernel_id": 2}],
        "module.kernel_op": [{"kernel_id": 1, "op_id": 1}, {"kernel_id": 2, "op_id": 2}],
        "trace.op": [
            {"op_id": 1, "name": "aten::_grouped_mm", "input_shapes": "100,8;4,8,16;4"},
            {"op_id": 2, "name": "other", "input_shapes": "7,8;4,8,16;4"},
        ],
        "mfu.op_form": [
            {"name": "aten::_grouped_mm", "form": "grouped product", "first_at": 1},
            {"name": "other", "form": "product", "first_at": 1},
        ],
    }
    assert rows_of("experts.shape", given) == [
        {"input_shapes": "100,8;4,8,16;4", "output_shapes": None, "row_count": 100, "expert_count": 4, "expert_rows": None}
    ]


@pytest.mark.slow
def test_rows_of_each_expert_where_each_has_a_tensor(tmp_path: Path) -> None:
    calls = [grouped(1000, 1100, "30,8;70,8;8,16;8,16;2"), grouped(1200, 1300, "10,8;90,8;8,16;8,16;2")]
    write_rank(tmp_path, 0, [Op("gmm", 110, 120, tuple(calls))])
    with open_profile(tmp_path) as profile:
        assert rows(profile, "experts.expert") == [
            ("0_ascend_pt", 0, 1, "MoE", 0, 2, 40),
            ("0_ascend_pt", 0, 1, "MoE", 1, 2, 160),
        ]
        assert rows(profile, "across.expert_rows") == [("0_ascend_pt", 0, 1, 160, 1.6), ("0_ascend_pt", 0, 0, 40, 0.4)]
        assert rows(profile, "across.expert_total")[0][-1] == says("only one rank of the group")


@pytest.mark.slow
def test_ranks_with_different_numbers_of_calls_do_not_pair(tmp_path: Path) -> None:
    for rank in (0, 1):
        calls = tuple(grouped(1000 + 200 * n, 1100 + 200 * n, "64,8;4,8,16") for n in range(2 - rank))
        write_rank(tmp_path, rank, [Op("gmm", 110, 120, calls)])
    with open_profile(tmp_path) as profile:
        assert rows(profile, "across.expert_call") == []
        (total,) = profile.rows("FROM across.expert_total")
    assert (total["expert_group"], total["is_recorded"], total["cost_ns"], total["row_range"]) == (
        "all ranks",
        False,
        None,
        "all equal",
    )
    assert total["reason"] == says("different numbers of grouped matmuls", "none pair")
    assert (total["time_imbalance"], total["row_imbalance"]) == (200 / 150, 128 / 96)


@pytest.mark.slow
def test_groups_are_compared_each_by_itself(tmp_path: Path) -> None:
    times = {0: 100, 1: 300, 2: 1000, 3: 1000}
    for rank, time in times.items():
        group = (0, 1) if rank < 2 else (2, 3)
        write_rank(tmp_path, rank, [Op("gmm", 110, 120, (grouped(1000, 1000 + time, "64,8;4,8,16"),))], group, "ep")
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT expert_group, cost_ns, time_imbalance FROM across.expert_total ORDER BY expert_group")
    assert [tuple(row.values()) for row in found] == [("0,1", 100, 1.5), ("2,3", 0, 1.0)]


@pytest.mark.slow
def test_grouped_kernels_of_a_gpu(tmp_path: Path) -> None:
    """By name; rows by the op where its inputs say it."""
    names = [
        "fused_moe_kernel",
        "void cutlass::device_kernel<at::cuda::detail::GroupProblemShape<int>>(int)",
        "moe_align_block_size_kernel",
    ]
    events = [kineto.event("user_annotation", "ProfilerStep#3", 0, 9000)]
    arguments = {
        "Input Dims": [[100, 8], [4, 8, 16], [4]],
        "Input type": ["c10::BFloat16"] * 3,
        "Concrete Inputs": ["", "", ""],
    }
    events += [
        kineto.op("vllm::fused_experts", 100, 1900, 1),
        kineto.op("aten::_grouped_mm", 2000, 2900, 2, arguments=arguments),
    ]
    for number, name in enumerate(names):
        events += [kineto.launch(1000 + 1000 * number, 1010 + 1000 * number, number + 1, min(number + 1, 2))]
        events += [kineto.kernel(name, 20_000 + 1000 * number, 20_500 + 1000 * number, number + 1)]
    trace = kineto.write_trace(tmp_path / "trace.json", events)
    with open_profile(trace) as profile:
        found = profile.rows("SELECT step_id, position, duration_ns, row_count, expert_count FROM experts.call")
    assert [tuple(row.values()) for row in found] == [(3, 1, 500, None, None), (3, 2, 500, 100, 4)]


def test_a_model_without_experts_is_said_to_have_none(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, [Op("mm", 110, 120, (Kernel("mm", 1000, 1100, type="MatMulV3"),))])
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match="no grouped matmuls"):
        assert len(profile.experts()) == 0


@pytest.mark.slow
def test_kernels_of_experts_that_are_no_grouped_matmuls_are_counted_with_their_time(
    tmp_path: Path, command: Callable[..., Result]
) -> None:
    fused = "1,8;4,8,32;4,16,8;1,2;64"
    kernels = (
        *(grouped(1000 * n, 1000 * n + 300 + n, fused, "1,8;4", "DispatchFFNCombine") for n in range(1, 4)),
        Kernel("send", 5000, 5040, type="MoeDistributeDispatchV2"),
        grouped(6000, 6100, "96,8;4,8,16;;;;;;4", "96,16"),
        Kernel("gather", 7000, 7030, type="MoeDistributeCombineV2"),
    )
    write_rank(tmp_path, 0, [Op("moe", 110, 120, kernels)])
    with open_profile(tmp_path) as profile:
        profile.experts()
        rows = profile.rows("SELECT role, kernel_type, kernel_count, duration_ns, expert_count FROM across.expert_kernel")
    assert [tuple(row.values()) for row in rows] == [
        ("fused", "DispatchFFNCombine", 3, 906, 4),
        ("grouped matmul", "GroupedMatmul", 1, 100, None),
        ("dispatch", "MoeDistributeDispatchV2", 1, 40, None),
        ("combine", "MoeDistributeCombineV2", 1, 30, None),
    ]
    said = command("experts", "-d", tmp_path).stdout.splitlines()
    assert says("not counted above", "3 x DispatchFFNCombine", "4 experts", "906 ns") in said
    assert says("not counted above", "1 x MoeDistributeDispatchV2", "40 ns") in said


@pytest.mark.slow
def test_a_model_with_fused_kernels_alone_is_answered_with_what_they_have(
    realdata: Path, command: Callable[..., Result]
) -> None:
    said = command("experts", "-d", realdata / "dsv3_vllm_a3" / "dsv3_dc_1tok.csv").stdout.splitlines()
    assert says("58 x DispatchFFNCombine", "16 experts", "19.17 ms") in said
    said = command("experts", "-d", realdata / "glm5_1_vllm_a3").stdout.splitlines()
    assert says("75 x DispatchFFNCombine", "8 experts", "20.45 ms") in said
