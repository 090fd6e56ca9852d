"""What answers say of all ranks together are tables: each is asked here on a few rows of the tables that it reads."""

from collections.abc import Iterable
from typing import Any

import pytest

from prof_analysis.engine.database import connect
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import documented_tables

# Table -> its rows, each a value by column; what a row does not name is NULL.
Tables = dict[str, list[dict[str, Any]]]


def asked(table: str, tables: Tables) -> list[dict[str, Any]]:
    """The rows of a table over ranks, made of tables with these rows and the documented columns."""
    with connect() as connection:
        for name, rows in tables.items():
            types = {"profile": "VARCHAR", "rank_id": "INTEGER"} if documented_tables()[name].grain == "rank" else {}
            types |= {column.shown_name: column.shown_type for column in documented_tables()[name].columns}
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.partition('.')[0]}")
            connection.execute(f"CREATE TABLE {name} ({', '.join(f'{quote(c)} {t}' for c, t in types.items())})")
            for row in rows:
                connection.execute(f"INSERT INTO {name} BY NAME SELECT {_values(row)}", list(row.values()))
        result = connection.sql(documented_tables()[table].body)
        return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]


def _values(row: Iterable[str]) -> str:
    return ", ".join(f"? AS {quote(column)}" for column in row)


def rows_of(columns: str, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    names = columns.split()
    return [dict(zip(names, row, strict=True)) for row in rows]


PARTS = "op_count elapse_ns transit_ns wait_ns synchronization_ns idle_ns longest_plane_wait_ns unknown_ns"
PARTS_OF_ALL = PARTS.replace("unknown_ns", "waiting_ns unknown_ns")
MSTX = (
    "kind producer domain message event_count host_total_ns host_max_ns device_count device_total_ns kernel_count "
    "kernel_duration_ns"
)
STEP = "computing_ns communication_ns communication_not_overlapped_ns overlapped_ns free_ns stage_ns bubble_ns"
LAYER = "alike_ns irregular_ns prologue_ns between_ns epilogue_ns unstructured_ns other_streams_ns"
# The two devices of one database have one host, c has its own.
HOSTS = rows_of("profile host_profile", ("a", "ab"), ("b", "ab"), ("c", "c"))


@pytest.mark.parametrize(
    ("table", "tables", "expected"),
    [
        pytest.param(
            "across.communication_time",
            {
                "communication.rank_time": rows_of(
                    PARTS, (3, 60, 30, 20, 5, 10, 25, 0), (1, 40, None, None, None, None, None, 40)
                ),
                "communication.breakdown": rows_of("waiting_ns", (18,), (7,), (None,)),
            },
            rows_of(PARTS_OF_ALL, (4, 100, 30, 20, 5, 10, 25, 25, 40)),
            id="the split is summed where it is known",
        ),
        pytest.param(
            "across.communication_time",
            {"communication.rank_time": [], "communication.breakdown": []},
            rows_of(PARTS_OF_ALL, (None,) * 9),
            id="no communication at all",
        ),
        pytest.param(
            "across.communication_unknown",
            {"communication.time": rows_of("reason elapse_ns", ("x", 5), (None, 9), ("y", 4), ("y", 4))},
            rows_of("reason op_count elapse_ns", ("y", 2, 8), ("x", 1, 5)),
            id="operators without a split, by reason",
        ),
        pytest.param(
            "across.communication_total",
            {
                "across.communication_statistic": rows_of(
                    "group_name op_count total_ns", ("g", 2, 20), ("g", 1, 5), ("h", 1, 7), (None, 4, 8)
                ),
                "communication.statistic": rows_of(
                    "profile origin op_count", ("a", "kernels", 5), ("b", "profiler", 2), ("b", "profiler", 1)
                ),
            },
            rows_of(
                "op_count total_ns group_count operators_without_group ranks_of_profiler operators_of_profiler",
                (8, 40, 2, 4, 1, 3),
            ),
            id="communication by kernels and by the profiler",
        ),
        pytest.param(
            "across.kernel_kind",
            {
                "kernels.duration": rows_of(
                    "kind type type_from core kernel_count duration_ns total_ns",
                    ("communication", "hcom", "profile", None, 1, 30, None),
                    ("compute", "MatMul", "name", "c", 1, 6, None),
                    ("compute", "MatMul", "name", "c", 1, 4, None),
                    ("compute", None, None, "c", 3, 10, None),
                    ("compute", "Add", "profile", "c", 2, None, 60),  # of op_statistic.csv
                    ("schedule", None, None, None, 1, 0, None),
                )
            },
            rows_of(
                "kind kernel_count total_ns types_from_names_share rows_left_out",
                ("compute", 7, 100, 0.1, 0),
                ("communication", 1, 30, 0.0, 0),
                ("schedule", 1, 0, None, 0),
            ),
            id="kinds of kernels",
        ),
        pytest.param(
            "across.op_total",
            {
                "across.op_by_shape": rows_of(
                    "name calls host_self_ns kernel_count device_self_ns", ("a", 2, 20, 3, 30), (None, 1, 10, 1, 5)
                ),
                "kernels.duration": rows_of("duration_ns kernel_count", (10, 4), (5, 2)),
            },
            rows_of(
                "calls host_self_ns kernel_count device_self_ns all_kernels_ns rows_left_out left_out_ns",
                (3, 30, 4, 35, 50, 0, 0),
            ),
            id="ops and all kernels",
        ),
        pytest.param(
            "across.op_total",
            {
                "across.op_by_shape": rows_of(
                    "name calls host_self_ns kernel_count device_self_ns", ("a", 2, 20, None, 30), ("b", 1, 10, 1, 5)
                ),
                "kernels.duration": [],
            },
            rows_of(
                "calls host_self_ns kernel_count device_self_ns all_kernels_ns rows_left_out left_out_ns",
                (3, 30, None, 35, 0, 0, 0),
            ),
            id="ops of which not all say their kernels",
        ),
        pytest.param(
            "across.graph_total",
            {
                "graph.call": rows_of(
                    "profile is_compiling call_ns front_end_ns torchair_python_ns torchair_cpp_ns ge_to_end_ns",
                    ("a", True, 10, 1, 2, 3, 4),
                    ("a", False, 10, 1, 2, 3, 5),
                    ("a", False, None, None, 2, 3, 4),
                    ("b", True, 10, 1, 2, 3, 4),
                    ("c", False, 7, 1, 1, 1, 4),
                ),
                "op.host": HOSTS,
            },
            rows_of("calls compiling_calls whole_calls adding_up", (4, 1, 3, 2)),
            id="calls of graphs, those of one host once",
        ),
        pytest.param(
            "across.graph_unknown",
            {
                "graph.call": rows_of("profile reason", ("a", "x; y"), ("b", "x; y"), ("c", "y"), ("c", None)),
                "op.host": HOSTS,
            },
            rows_of("reason calls", ("y", 2), ("x", 1)),
            id="reasons in calls of graphs",
        ),
        pytest.param(
            "across.layer_time",
            {"layer.structure": rows_of(LAYER, (1, 2, 3, 4, 5, 0, 7), (10, 0, 0, 0, 0, 60, 0))},
            rows_of(LAYER, (11, 2, 3, 4, 5, 60, 7)),
            id="compute time by layers",
        ),
        pytest.param(
            "across.memory_rank",
            {
                "allocation.component": rows_of(
                    "profile device_id role component peak_allocated_bytes peak_reserved_bytes at_peak_bytes memory_bytes",
                    ("a", 0, "framework", "f", 50, 60, 60, 100),
                    ("a", 0, "operators", "o", 5, 10, 10, 100),
                    ("b", 0, "framework", "f", 40, 70, 70, 100),
                    ("b", 0, "process", "p", None, 95, 90, 100),
                ),
                "allocation.peak_moment": rows_of(
                    "profile device_id role component measure peak_bytes allocated_bytes reserved_bytes",
                    ("a", 0, "framework", "f", "allocated", 50, 50, 55),
                    ("a", 0, "framework", "f", "reserved", 60, 45, 60),
                    ("b", 0, "framework", "f", "allocated", 40, 40, 70),
                ),
                "allocation.peak": rows_of(
                    "profile device_id role measure part live_bytes", ("a", 0, "framework", "allocated", "allocated before", 30)
                ),
            },
            rows_of(
                "profile rank_id device_id component memory_bytes used_bytes used_by left_bytes left_share "
                "peak_allocated_bytes peak_active_bytes peak_reserved_bytes fragmentation_bytes before_bytes beside_bytes",
                ("b", None, 0, "f", 100, 95, "process", 5, 0.05, 40, None, None, 30, 0, 20),
                ("a", None, 0, "f", 100, 70, "allocators", 30, 0.3, 50, None, 60, 5, 30, None),
            ),
            id="how full devices were, the fullest first",
        ),
        pytest.param(
            "across.mfu_peak",
            {"mfu.rank": rows_of("peaks", ("bf16 1, fp16 2",), ("fp16 2",), (None,))},
            rows_of("peak ranks", ("bf16 1", 1), ("fp16 2", 2)),
            id="peaks",
        ),
        pytest.param(
            "across.mfu_left_out",
            {
                "mfu.kernel_efficiency": rows_of(
                    "reason duration_ns mac_ratio", ("x", 5, None), (None, 90, None), ("y", 3, 0.2), ("y", 3, 0.4)
                )
            },
            rows_of("reason kernel_count duration_ns mac_ratio", ("y", 2, 6, 0.3), ("x", 1, 5, None)),
            id="kernels out of the MFU",
        ),
        pytest.param(
            "across.mfu_finding",
            {"mfu.audit": rows_of("finding", ("y",), ("x",), ("y",))},
            rows_of("finding rows", ("x", 1), ("y", 2)),
            id="findings in MFU",
        ),
        pytest.param(
            "across.module_time",
            {
                "module.tree": rows_of(
                    "profile parent_module module calls own_kernel_duration_ns",
                    ("a", "", "Net", 1, 10),
                    ("a", "Net", "Layer", 2, 20),
                    ("b", "Net", "Layer", 2, 30),
                ),
                "module.time": rows_of(
                    "parent_module module own_computing_ns computing_ns communication_ns",
                    ("", "Net", 10, 30, 0),
                    ("Net", "Layer", 20, 20, 0),
                    ("Net", "Layer", 25, 25, 5),
                ),
                "module.coverage": rows_of("kind kernel_duration_ns", ("compute", 60), ("communication", 70), ("compute", 40)),
                "module.step_count": rows_of("profile step_count", ("a", 5), ("b", 5)),
            },
            rows_of(
                "parent_module module calls own_kernel_duration_ns own_computing_ns computing_ns communication_ns"
                " computing_share computing_per_step_ns",
                ("Net", "Layer", 4, 50, 45, 45, 5, 0.45, 4.5),
                ("", "Net", 1, 10, 10, 30, 0, 0.3, 6.0),
            ),
            id="modules",
        ),
        pytest.param(
            "across.module_cost",
            {
                "module.cost": rows_of(
                    "parent_module module op_name kind type kernel_count duration_ns",
                    ("Net", "Layer", "mm", "compute", "MatMul", 2, 20),
                    ("Net", "Layer", "mm", "compute", "MatMul", 3, 30),
                    ("", "Net", None, "communication", None, 1, 7),
                ),
                "module.coverage": rows_of("kind kernel_duration_ns", ("compute", 60), ("communication", 70), ("compute", 40)),
            },
            rows_of(
                "parent_module module op_name kind type kernel_count duration_ns share",
                ("Net", "Layer", "mm", "compute", "MatMul", 5, 50, 0.5),
                ("", "Net", None, "communication", None, 1, 7, 0.1),
            ),
            id="what costs the modules",
        ),
        pytest.param(
            "across.step_duration",
            {
                "step.time": rows_of(
                    "profile step_id stage_ns bubble_ns",
                    *(("a", step, 90 + step, 10 if step == 3 else None) for step in range(1, 8)),
                    ("b", 7, 500, None),
                    ("b", 9, None, None),
                    ("b", None, 7, None),
                )
            },
            # 91, 92, 94, 95, 96, 97, 103, 500
            rows_of(
                "step_count rank_count rank_step_count median_ns p95_ns max_ns outlier_above_ns outlier_count",
                (7, 2, 8, 95, 500, 500, 104.5, 1),
            ),
            id="how long steps took",
        ),
        pytest.param(
            "across.coverage",
            {
                "module.coverage": rows_of(
                    "kind location kernel_count kernel_duration_ns",
                    ("communication", "inside modules", 1, 0),
                    ("compute", "outside modules", 1, 10),
                    ("compute", "inside modules", 2, 20),
                    ("compute", "inside modules", 1, 10),
                )
            },
            rows_of(
                "kind location kernel_count kernel_duration_ns share",
                ("compute", "inside modules", 3, 30, 0.75),
                ("compute", "outside modules", 1, 10, 0.25),
                ("communication", "inside modules", 1, 0, None),
            ),
            id="where kernel time went",
        ),
        pytest.param(
            "across.mstx",
            {
                "mstx.statistic": rows_of(
                    f"profile {MSTX}",
                    ("a", "range", "user", "d", "m", 3, 30, 20, 1, 5, 2, 8),
                    ("b", "range", "user", "d", "m", 3, 30, 20, 2, 6, 1, 4),
                    ("c", "range", "user", "d", "m", 1, 50, 50, 0, None, 0, 0),
                    ("c", "mark", None, None, "n", 4, None, None, 0, None, None, None),
                ),
                "op.host": HOSTS,
            },
            rows_of(
                MSTX,
                ("range", "user", "d", "m", 4, 80, 50, 3, 11, 3, 12),
                ("mark", None, None, "n", 4, None, None, 0, None, None, None),
            ),
            id="marks and ranges, those of one host once",
        ),
        pytest.param(
            "across.mstx_producer",
            {
                "across.mstx": rows_of(
                    "producer kind event_count", ("user", "range", 1), (None, "mark", 5), ("user", "range", 2)
                )
            },
            rows_of("producer kind event_count", (None, "mark", 5), ("user", "range", 3)),
            id="producers of marks",
        ),
        pytest.param(
            "across.step_total",
            {
                "step.time": rows_of(
                    f"profile origin {STEP} copying_not_overlapped_ns kernel_count",
                    ("a", "kernels", 10, 6, 4, 2, 3, 17, 0, 3, 7),
                    ("a", "kernels", 5, 0, 0, 0, None, None, 0, 8, 2),
                    ("b", "profiler", 20, 1, 1, 0, 1, 20, 2, None, None),
                    ("b", "profiler", 9, None, None, None, None, None, None, None, None),
                )
            },
            rows_of(
                f"{STEP} ranks_of_profiler computing_of_no_step_ns steps_known_in_part copying_not_overlapped_ns "
                "kernels_of_no_step",
                (30, 7, 5, 2, 4, 37, 2, 1, 5, 1, 3, 2),
            ),
            id="steps, kernels of none, and steps known in part",
        ),
        pytest.param(
            "across.free_cause",
            {"free.cause": rows_of("cause gap_count total_ns", ("x", 1, 10), ("y", 2, 20), ("x", 3, 30), ("other", None, 20))},
            rows_of("cause gap_count total_ns share", ("x", 4, 40, 0.5), ("other", None, 20, 0.25), ("y", 2, 20, 0.25)),
            id="causes of free time",
        ),
        pytest.param(
            "across.free_unknown_cause",
            {"free.unknown_cause": rows_of("profile cause reason", ("a", "x", "r"), ("b", "x", "r"), ("b", "x", "q"))},
            rows_of("cause reason ranks", ("x", "q", 1), ("x", "r", 2)),
            id="causes that are not known",
        ),
        pytest.param(
            "vllm.total",
            {"vllm.log": rows_of("line_count announcement_count other_line_count process_count", (10, 4, 6, 2), (5, 0, 5, 0))},
            rows_of("logs lines announcements other_lines processes", (2, 15, 4, 11, 2)),
            id="logs",
        ),
    ],
)
def test_all_ranks_together(table: str, tables: Tables, expected: list[dict[str, Any]]) -> None:
    assert asked(table, tables) == expected


def test_phases_of_graphs_come_with_the_graph_of_most_time_first() -> None:
    graph = "profile name region is_compiling"
    tables = {
        "graph.call": rows_of(
            f"{graph} inference_ns", ("a", "n", None, False, 5), ("a", "n", None, False, 6), ("a", "n", "r", True, 10)
        ),
        "graph.statistic": rows_of(
            f"{graph} phase max_ns",
            ("a", "n", "r", True, "call", 10),
            ("a", "n", None, False, "torchair", 6),
            ("a", "n", None, False, "call", 6),
            ("a", "n", None, False, "clone", 0),
        ),
    }
    found = [(row["graph_number"], row["region"], row["phase"]) for row in asked("across.graph_phase", tables)]
    assert found == [(1, None, "call"), (1, None, "torchair"), (2, "r", "call")]
