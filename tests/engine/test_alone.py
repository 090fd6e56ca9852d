"""The tables: built alone they are those built with all others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from prof_analysis.analyses import ANALYSES
from prof_analysis.engine import dropping
from prof_analysis.engine.planning import Plan, make_plan, split_across_ranks
from prof_analysis.engine.tables import documented_tables, shown_select, source_tables
from tests.helpers.layers import BEGIN, DENSE, END, EXPERTS, NS
from tests.helpers.small_profile import (
    DATABASE,
    Frame,
    HostCall,
    Kernel,
    Launch,
    Matmul,
    Op,
    Queue,
    Range,
    edit,
    write_profile,
)
from tests.helpers.tables import TABLES, built, raw_columns, shown, without_cases
from tests.peer.record_mfu import write_mfu_profile

# What no other table needs, and so somebody asks for: building these builds all.
ASKED = sorted(set(TABLES) - {need for name in TABLES for need in source_tables("ascend_db")[name].needs})


def whole_plan() -> Plan:
    """Return the plan for every table with every column."""
    order = make_plan("ascend_db", raw_columns("ascend_db"), TABLES).order
    columns = {name: frozenset(column.name for column in documented_tables()[name].columns) for name in order}
    raw = {name: frozenset(columns) for name, columns in raw_columns("ascend_db").items()}
    return Plan(order, columns | raw, frozenset())


@pytest.fixture(scope="module")
def everything(audit_links: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """Every table with every column, from the committed sample."""
    with built(whole_plan(), audit_links=audit_links) as connection:
        yield connection


def test_users_see_texts_and_the_columns_that_the_head_promises(everything: duckdb.DuckDBPyConnection) -> None:
    for name in TABLES:
        table = source_tables("ascend_db")[name]
        described = [column[:2] for column in everything.execute(f"{shown_select(table)} LIMIT 0").description or ()]
        assert [(name, str(type_)) for name, type_ in described] == [
            (column.shown_name, column.shown_type) for column in table.columns
        ], name
        assert not [column for column, type_ in described if str(type_) == "TEXT_ID"], name


def test_the_sample_has_rows_of_each_table_or_cases_have(everything: duckdb.DuckDBPyConnection) -> None:
    assert without_cases(empty(everything)) == [], "write a page of cases with rows of these"


def empty(connection: duckdb.DuckDBPyConnection) -> set[str]:
    return {name for name in TABLES if not connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchall()}


ALONE = {command: split_across_ranks(analysis.tables)[0] for command, analysis in ANALYSES.items()} | {
    name: (name,) for name in ASKED
}


QUICK = ("module-stats", "mstx-stats")


@pytest.mark.parametrize(
    "names", [pytest.param(ALONE[name], id=name, marks=() if name in QUICK else pytest.mark.slow) for name in ALONE]
)
def test_tables_built_alone_are_the_tables_built_with_all_others(
    everything: duckdb.DuckDBPyConnection, audit_links: bool, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropping, "MANY_ROWS", 0)  # So columns are dropped of all tables, as soon as nothing is made of them.
    plan = make_plan("ascend_db", raw_columns("ascend_db"), names)
    with built(plan, audit_links=audit_links, kept=names) as connection:
        alone = {name: shown(connection, name) for name in names}
    assert alone == {name: shown(everything, name) for name in names}


def write_rich_profiles(folder: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Write profiles with what the sample lacks: layers, graphs and a low clock; attention; lost links. With options."""
    types = (BEGIN + DENSE * 3 + EXPERTS * 6 + END) * 3
    kernels = [Kernel(f"{type_}_{n}", 12 * n, 12 * n + NS, type=type_) for n, type_ in enumerate(types, 1)]
    beside = [Kernel("Side", 12 * n + 5, 12 * n + 15, type="Side", stream=3) for n in range(20, 40)]
    graph_call = [
        Op("TorchDynamo Cache Lookup", 150, 200),
        Op("Torch-Compiled Region: 0/0", 210, 980),
        Op("npu_fx_compiler inference", 300, 900),
        Op("TorchNpuGraphBase::Compile", 310, 350),
        Op("aten::clone", 360, 365),
        Op("TorchNpuGraphBase::Run", 500, 880),
        Op("ExecuteGraph", 600, 860),
    ]
    of_layers = write_profile(
        folder / "layers_ascend_pt",
        graph_call,
        [Range("Net", 1000, 1100)],
        launches=[Launch(620, 630, (Kernel("first", 9000, 9010),)), Launch(1010, 1020, (Kernel("of no op", 9020, 9030),))],
        frames=[Frame("serve.py(3): loop", 10, 9000)],
        collections=[(20, 30, 1)],
        unlinked=[*kernels, *beside, Kernel("replayed", 9030, 9040, model=7, stream=3)],
    )
    edit(
        of_layers,
        "CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER); "
        "INSERT INTO AICORE_FREQ VALUES (0, 1, 1800), (0, 200, 900), (0, 9000, 1800)",
    )
    write_mfu_profile(folder / "mfu_ascend_pt")
    matmuls = (
        Matmul("conv", 1000, 1010, type="Conv2D", inputs="8,12,32,32;16,3,5,5", outputs="8,16,28,28", formats="NCHW;NCHW"),
        Matmul("fused", 1020, 1030, type="MatmulAllReduce", inputs="64,128;128,96", outputs="64,96"),
        Kernel("plain", 1040, 1050, type="TransData", inputs="96,128", outputs="8,6,16,16", output_formats="FRACTAL_NZ"),
    )
    grouped = Matmul(
        "grouped", 1060, 1070, type="GroupedMatmul", inputs="4096,128;4,128,96", outputs="4096,96",
        pmu={"aic_total_cycles": 9000, "aic_mac_ratio": 0.5},
    )  # fmt: skip
    of_experts = Matmul("each", 1080, 1090, type="GroupedMatmul", inputs="10,8;20,8;8,16;8,16", outputs="10,16;20,16")
    send = Kernel("hcom_send_", 1195, 1199, "communication", group="pipeline")
    task = "autograd::engine::evaluate_function: "
    of_links = write_profile(
        folder / "links_ascend_pt",
        [
            Op("aten::mm", 100, 120, (*matmuls, grouped, of_experts, send), sequence_number=5),
            Op("MmBackward0", 300, 320, (Kernel("b", 1100, 1110),), tid=2, backward_of=0, forward_thread_id=1),
            Op(f"{task}LostBackward0", 340, 360, (Kernel("c", 1120, 1130),), tid=2, sequence_number=77, forward_thread_id=9),
            # In an op of the same name, and one that starts before the one before it has ended.
            *(Op(name, start, end, tid=3) for name, start, end in (("a", 200, 300), ("a", 210, 250), ("b", 240, 260))),
            Op("aten::copy_", 116, 118, (Kernel("large", 1160, 1190, type="TensorMove", inputs="999999", outputs="999999"),)),
            Op("aten::gather", 110, 115, (Kernel("cpu", 1140, 1150, type="Gather", core="AI_CPU"),)),
            Op("SyncBatchNorm", 160, 170, (Kernel("norm", 1152, 1154),)),
            Op("aten::mul", 306, 310, (Kernel("again", 1155, 1158),), tid=2),
        ],
        [Range("Net", 90, 150), Range("Again", 305, 318, tid=2), Range("copy", 100, 110, domain="d", device=(900, 990))],
        unlinked=[Kernel("ends before it starts", 50, 40)],
        steps=[(7, 0, 500)],
        queues=[Queue(1, (130, 131), (400, 410))],
        launches=[
            Launch(405, 406, (Kernel("d", 1200, 1210),), tid=5, recorded_op=0),
            Launch(407, 408, (Kernel("e", 1220, 1230),), tid=5),
            Launch(700, 701, (Kernel("f", 1240, 1250),), tid=5),
        ],
        calls=[HostCall("ends before it starts", 30, 20)],
    )
    edit(
        of_links,
        "CREATE TABLE META_DATA (name TEXT, value TEXT); INSERT INTO META_DATA VALUES ('parallel_group_info', "
        """'{"ep": {"group_name": "exp", "group_rank": 0, "global_ranks": [0, 1]}}'); """
        "CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER); "
        "INSERT INTO PYTORCH_CALLCHAINS VALUES (1, 10001, 0), (1, 10002, 1); "
        "INSERT INTO STRING_IDS VALUES (10001, 'model.py(3): forward'), (10002, 'train.py(4): step'); "
        "UPDATE PYTORCH_API SET callchainId = 1 WHERE startNs = '100'",
    )
    of_attention = folder / "mfu_ascend_pt" / DATABASE.format(rank=0)
    return {
        "layers": (of_layers, {}),
        "attention": (of_attention, {}),
        "links": (of_links, {"audit_links": True, "step_id": 7, "module": "Net"}),
    }


@pytest.mark.parametrize("one_by_one", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_tables_that_the_sample_has_no_rows_of_are_the_same_without_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_by_one: bool
) -> None:
    monkeypatch.setattr(dropping, "MANY_ROWS", 0)
    with built(whole_plan()) as connection:
        to_fill = empty(connection)
    for name, (database, options) in write_rich_profiles(tmp_path).items():
        with built(whole_plan(), database, **options) as connection:
            rows = {table: shown(connection, table) for table in to_fill}
        filled = sorted(table for table in to_fill if rows[table])
        assert filled, f"the profile {name} has rows of no table that has none before"
        for names in [(table,) for table in filled] if one_by_one else [tuple(filled)]:
            plan = make_plan("ascend_db", raw_columns("ascend_db"), names)
            with built(plan, database, **options, kept=names) as connection:
                assert {table: shown(connection, table) for table in names} == {table: rows[table] for table in names}, name
        to_fill -= set(filled)


def test_of_what_is_built_only_what_is_asked_for_is_left(everything: duckdb.DuckDBPyConnection, audit_links: bool) -> None:
    kept = ("module.statistic", "trace.op")
    plan = make_plan("ascend_db", raw_columns("ascend_db"), kept)
    with built(plan, audit_links=audit_links, kept=kept) as connection:
        left = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert {name: shown(connection, name) for name in kept} == {name: shown(everything, name) for name in kept}
    assert left - {"other_id"} == {*kept, "trace.string"}
