"""The table registry: a table is a file whose head tells the truth, and building only what is asked for changes no answer."""

import importlib
import random
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from prof_analysis import Profile, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.engine import building
from prof_analysis.engine.building import Plan, build, make_plan, split_across_ranks
from prof_analysis.engine.database import connect
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.tables import (
    Table,
    documented_tables,
    in_building_order,
    log_tables,
    read_table,
    referenced_tables,
    shown_select,
    source_tables,
)
from prof_analysis.errors import QueryError
from tests.helpers.asking import build_at_once
from tests.helpers.layers import BEGIN, DENSE, END, EXPERTS, NS
from tests.helpers.places import SAMPLE
from tests.helpers.slow import quick
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
    write_profile,
)
from tests.peer.record_mfu import write_mfu_profile

SAMPLE_FOLDER = "decoder_training/node0_4242_20260101000000000_ascend_pt"
SAMPLE_DATABASE = SAMPLE / SAMPLE_FOLDER / DATABASE.format(rank=0)
SOURCES = sorted(folder.name for folder in (sql_folder() / "sources").iterdir())
TABLES = sorted(name for name, table in documented_tables().items() if table.grain == "rank")
ACROSS_RANKS = sorted(name for name, table in documented_tables().items() if table.grain == "job")
OF_LOGS = sorted(table.name for table in log_tables())
# What profiles of all sources have in the same files, so that one body makes it.
SHARED = {
    "trace.parallel_group", "trace.parallelism", "trace.reported_communication", "trace.reported_link", "trace.reported_step",
    "trace.reported_transfer", "trace.reported_kernel_type",
}  # fmt: skip
# What no other table needs, and so somebody asks for: building these builds all.
ASKED = sorted(set(TABLES) - {need for name in TABLES for need in source_tables("ascend_db")[name].needs})
# What the sample has no row of, and what it has only where its links are audited.
EMPTY = {
    "trace.set_aside", "trace.set_aside_call", "trace.mark", "trace.reported_cost", "trace.frame", "trace.gc", "trace.overlap",
    "module.link_audit", "module.doubtful_pair", "module.undecided_backward_op",
    "module.lost_launch", "module.unpaired_task", "module.lost_backward",
    "module.recorded_pair", "module.misplaced_launch", "module.direct_launching", "step.selected", "kernels.in_step",
    "step.overlap_audit", "step.reported_audit", "step.reported_total", "kernels.statistic_audit", "kernels.step_audit",
    "trace.reported_kernel_type",
    "trace.reported_communication", "trace.reported_transfer", "trace.reported_link", "trace.reported_step",
    "trace.parallelism", "communication.reported",
    "layer.overlap", "layer.boundary", "layer.core", "layer.kind", "layer.period", "layer.instance", "layer.statistic",
    "layer.by_index", "layer.pass_layer",
    "graph.event", "graph.inference", "graph.entry", "graph.execution", "graph.preparation", "graph.call", "graph.statistic",
    "mfu.attention", "mfu.attention_mark", "mfu.audit", "mfu.convolution", "mfu.fused_matmul", "mfu.marked_flops",
    "mfu.marked_kernel", "mfu.plain_shape", "mfu.recorded", "mfu.recorded_range", "trace.mstx_task",
    "mfu.grouped_matmul", "mfu.counted", "mfu.unsure_shape", "mfu.vector_shape",
}  # fmt: skip
# What all ranks of the sample together have no row of.
EMPTY_OVER_RANKS = {
    "across.slow_rank_module", "across.graph_phase", "across.graph_unknown", "across.mfu_finding",
    "across.communication_unknown",
}  # fmt: skip
BEHIND_THE_AUDIT = {"module.doubtful_launch", "module.derived_link"}
EXPORTED = sorted({name for analysis in ANALYSES.values() for name in analysis.exports if name in TABLES})


def raw_columns(source: str) -> Mapping[str, Mapping[str, str]]:
    columns: Mapping[str, Mapping[str, str]] = importlib.import_module(f"prof_analysis.sources.{source}").RAW_COLUMNS
    return columns


@contextmanager
def built(
    plan: Plan,
    database: Path = SAMPLE_DATABASE,
    threads: int = 2,
    audit_links: bool = False,
    step_id: int | None = None,
    staged: list[set[str]] | None = None,
    kept: tuple[str, ...] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    from prof_analysis.sources import ascend_db

    device_infos = sorted(database.parent.parent.glob("PROF_*/device_*/info.json.*"))
    with connect({"audit_links": audit_links, "step_id": step_id}, threads) as connection:
        sizes: list[int] = []

        def stage(columns: Mapping[str, frozenset[str]]) -> None:
            assert ascend_db.stage(connection, (database, *device_infos), columns, threads, sizes.append) == []
            if staged is not None:
                staged.append(set(columns))

        stage(plan.raw_columns)
        build(connection, "ascend_db", plan, stage, kept)
        yield connection


def shown(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[Any, ...]]:
    return connection.execute(shown_select(source_tables("ascend_db")[table])).fetchall()


def whole_plan() -> Plan:
    """Return the plan for every table with every column."""
    order = make_plan("ascend_db", raw_columns("ascend_db"), TABLES).order
    columns = {name: frozenset(column.name for column in documented_tables()[name].columns) for name in order}
    raw = {name: frozenset(columns) for name, columns in raw_columns("ascend_db").items()}
    return Plan(order, columns | raw, frozenset())


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["guards shut", "guards open"])
def audit_links(request: pytest.FixtureRequest) -> bool:
    """With all links audited, every launch is doubtful, and the tables behind that guard are built."""
    return bool(request.param)


@pytest.fixture(scope="module")
def everything(audit_links: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """Every table with every column, from the committed sample."""
    with built(whole_plan(), audit_links=audit_links) as connection:
        yield connection


def test_the_sql_folder_holds_one_documented_table_a_file() -> None:
    folder = sql_folder()
    files = {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}
    assert {file for file in files if file.suffix != ".sql"} == set()
    of_sources = {file for file in files if file.parts[0] == "sources"}
    macros = {file for file in files if file.parts[0] == "macros"}
    warnings = {file for file in files if file.name.endswith(".warning.sql")}
    assert sorted(f"{file.parent.as_posix()}.{file.stem}" for file in files - of_sources - macros - warnings) == sorted(
        TABLES + ACROSS_RANKS + OF_LOGS
    )
    assert {file.parts[1] for file in of_sources} == set(SOURCES)
    for table in documented_tables().values():
        assert table.summary.startswith(("One row is", "A row is")), table.name
        assert table.columns, table.name
        assert all(column.meaning for column in table.columns), table.name
        assert len({column.name for column in table.columns}) == len(table.columns), table.name


def test_a_head_takes_over_columns_that_another_documents() -> None:
    def documented(name: str) -> dict[str, tuple[str, str]]:
        return {column.name: (column.type, column.meaning) for column in documented_tables()[name].columns}

    by_level, across = documented("mfu.by_level"), documented("across.mfu")
    assert documented("mfu.rank")["reasons"] == by_level["reasons"]
    assert across["peak_tflops"] == by_level["peak_tflops"]
    assert by_level["type_id"][0] == "TEXT_ID"
    assert across["type"] == ("VARCHAR", by_level["type_id"][1])
    assert documented("pmu.op")["reason"] == documented("pmu.by_level")["reason"], "taken over of what took it over"


@pytest.mark.parametrize("line", ["mfu to nothing as in mfu.rank", "reasons to mfu as in mfu.rank", "mfu to mfu as in mfu.op"])
def test_a_head_that_takes_over_columns_that_are_not_there_is_an_error(tmp_path: Path, line: str) -> None:
    file = tmp_path / "ours" / "table.sql"
    file.parent.mkdir()
    file.write_text(f"-- One row is a rank.\n--\n-- {line}\nSELECT 1", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"table\.sql: the head inherits .* of mfu\.(rank|op), which does not have these columns"
    ):
        read_table(file)


WARNINGS = {name: table.warning for name, table in documented_tables().items() if table.warning}


def test_each_file_of_warnings_lies_beside_its_table() -> None:
    files = sql_folder().rglob("*.warning.sql")
    assert sorted(f"{file.parent.name}.{file.name.partition('.')[0]}" for file in files) == sorted(WARNINGS)


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings_are_an_ordered_select_on_their_table_alone(name: str) -> None:
    table = documented_tables()[name]
    assert referenced_tables(WARNINGS[name]) == {name}
    columns = [] if table.grain == "job" else ["profile VARCHAR", "rank_id BIGINT"]
    columns += [f"{column.shown_name} {column.shown_type}" for column in table.columns]
    with connect() as connection:
        connection.execute(f"CREATE SCHEMA {name.partition('.')[0]}; CREATE TABLE {name} ({', '.join(columns)})")
        described = connection.execute(f"DESCRIBE {WARNINGS[name]}").fetchall()
        assert [row[:2] for row in described] == [(name, "VARCHAR") for name in ("profile", "severity", "sentence")]
        modifiers = connection.execute("SELECT json_serialize_sql($query)", {"query": WARNINGS[name]}).fetchall()
    assert "ORDER_MODIFIER" in modifiers[0][0]
    assert re.findall(r"'(\w+)' AS severity", WARNINGS[name]) in (["warning"], ["note"])


def test_guards_are_tables_that_the_head_names() -> None:
    guards = {name: table.guard for name, table in documented_tables().items() if table.guard}
    assert guards["module.derived_link"] == "module.doubtful_launch"
    assert set(guards.values()) <= set(TABLES)


def test_trace_tables_are_contracts_without_a_body_but_for_what_all_sources_share_and_all_others_have_one() -> None:
    assert {name for name, table in documented_tables().items() if not table.body} == {
        name for name in TABLES if name.startswith("trace.")
    } - SHARED
    beside = {f"trace.{file.stem}" for source in SOURCES for file in (sql_folder() / "sources" / source).iterdir()}
    assert not SHARED & beside, "one body, in one place"


@pytest.fixture(scope="module")
def sample() -> Iterator[Profile]:
    with open_profile(SAMPLE / "decoder_training") as profile:
        build_at_once(profile, *ACROSS_RANKS)
        yield profile


@pytest.mark.parametrize("name", ACROSS_RANKS)
def test_a_table_over_all_ranks_is_what_its_head_says_and_has_rows(sample: Profile, name: str) -> None:
    columns = documented_tables()[name].columns
    described = sample.sql(f"SELECT column_name, column_type FROM (DESCRIBE {name})", arrow=True)
    assert [tuple(row.values()) for row in described.to_pylist()] == [(column.name, column.type) for column in columns]
    assert "TEXT_ID" not in {column.type for column in columns}
    has_rows = sample.table(name, arrow=True).num_rows > 0
    assert has_rows is (name not in EMPTY_OVER_RANKS)


@pytest.mark.parametrize("source", SOURCES)
def test_the_files_of_a_source_are_trace_tables(source: str) -> None:
    files = {f"trace.{file.stem}" for file in (sql_folder() / "sources" / source).iterdir()}
    assert files <= set(TABLES)
    assert all(table.body for table in source_tables(source).values())


def test_the_profiler_database_makes_every_trace_table() -> None:
    files = {f"trace.{file.stem}" for file in (sql_folder() / "sources" / "ascend_db").iterdir()}
    assert files == {name for name in TABLES if name.startswith("trace.")} - {"trace.reported_cost"} - SHARED


@pytest.mark.parametrize("source", SOURCES)
def test_the_head_is_what_the_body_makes(source: str) -> None:
    """Names, types and order, from the body itself: what is built is brought to the head's order first."""
    tables = source_tables(source, raw_tables=frozenset(raw_columns(source)))
    with connect() as connection:
        for raw, columns in raw_columns(source).items():
            definition = ", ".join(f"{column} {type_}" for column, type_ in columns.items())
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS raw; CREATE TABLE {raw} ({definition})")
        for name in make_plan(source, raw_columns(source), TABLES).order:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.partition('.')[0]}")
            connection.execute(f"CREATE TABLE {name} AS {tables[name].body}")
            described = [row[:2] for row in connection.execute(f"DESCRIBE {name}").fetchall()]
            assert described == [(column.name, column.stored_type) for column in tables[name].columns], name


def test_users_see_texts_and_the_columns_that_the_head_promises(everything: duckdb.DuckDBPyConnection) -> None:
    for name in TABLES:
        table = source_tables("ascend_db")[name]
        described = [row[:2] for row in everything.execute(f"DESCRIBE {shown_select(table)}").fetchall()]
        assert described == [(column.shown_name, column.shown_type) for column in table.columns], name
        assert "TEXT_ID" not in {type_ for _, type_ in described}, name


def test_the_sample_has_rows_of_each_table(everything: duckdb.DuckDBPyConnection, audit_links: bool) -> None:
    empty = {name for name in TABLES if not everything.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchall()}
    assert empty == (EMPTY if audit_links else EMPTY | BEHIND_THE_AUDIT)


ALONE = {command: split_across_ranks(analysis.tables)[0] for command, analysis in ANALYSES.items()} | {
    name: (name,) for name in ASKED
}
QUICK = ("module-stats", "free-time", "mfu", "mstx-stats")


@pytest.mark.parametrize(
    "names", [pytest.param(ALONE[name], id=name, marks=() if name in QUICK else pytest.mark.slow) for name in ALONE]
)
def test_tables_built_alone_are_the_tables_built_with_all_others(
    everything: duckdb.DuckDBPyConnection, audit_links: bool, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "MANY_ROWS", 0)  # So columns are dropped of all tables, as soon as nothing is made of them.
    plan = make_plan("ascend_db", raw_columns("ascend_db"), names)
    with built(plan, audit_links=audit_links, kept=names) as connection:
        alone = {name: shown(connection, name) for name in names}
    assert alone == {name: shown(everything, name) for name in names}


# What files beside the database say, of which built() stages none, and what takes more threads than a test says in a few lines:
# tests/sources/test_recorded.py, tests/step/test_audit.py, tests/communication, tests/module/test_backward.py, test_links.py.
ELSEWHERE = {
    "communication.reported", "kernels.statistic_audit", "kernels.step_audit", "step.overlap_audit", "step.reported_audit",
    "step.reported_total", "trace.overlap", "trace.parallelism", "trace.reported_communication", "trace.reported_cost",
    "trace.reported_kernel_type", "trace.reported_link", "trace.reported_step", "trace.reported_transfer",
    "module.doubtful_pair", "module.link_audit", "module.misplaced_launch",
}  # fmt: skip


def write_rich_profiles(folder: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Write profiles with what the sample lacks: layers and compiled graphs; attention; lost links. With options."""
    types = (BEGIN + DENSE * 3 + EXPERTS * 6 + END) * 3
    kernels = [Kernel(f"{type_}_{n}", 12 * n, 12 * n + NS, type=type_) for n, type_ in enumerate(types, 1)]
    beside = [Kernel("Side", 12 * n + 5, 12 * n + 15, type="Side", stream=3) for n in range(20, 40)]
    graph_call = [
        Op("TorchDynamo Cache Lookup", 150, 200),
        Op("Torch-Compiled Region: 0/0", 210, 980),
        Op("npu_fx_compiler inference", 300, 900),
        Op("aten::clone", 360, 365),
        Op("TorchNpuGraphBase::Run", 500, 880),
        Op("ExecuteGraph", 600, 860),
    ]
    of_layers = write_profile(
        folder / "layers_ascend_pt",
        graph_call,
        launches=[Launch(620, 630, (Kernel("first", 9000, 9010),))],
        frames=[Frame("serve.py(3): loop", 10, 9000)],
        collections=[(20, 30, 1)],
        unlinked=[*kernels, *beside],
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
    task = "autograd::engine::evaluate_function: "
    of_links = write_profile(
        folder / "links_ascend_pt",
        [
            Op("aten::mm", 100, 120, (*matmuls, grouped), sequence_number=5),
            Op("MmBackward0", 300, 320, (Kernel("b", 1100, 1110),), tid=2, backward_of=0, forward_thread_id=1),
            Op(f"{task}LostBackward0", 340, 360, (Kernel("c", 1120, 1130),), tid=2, sequence_number=77, forward_thread_id=9),
        ],
        [Range("Net", 90, 150), Range("copy", 100, 110, domain="d", device=(900, 990))],
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
    of_attention = folder / "mfu_ascend_pt" / DATABASE.format(rank=0)
    return {
        "layers": (of_layers, {}),
        "attention": (of_attention, {}),
        "links": (of_links, {"audit_links": True, "step_id": 7}),
    }


@pytest.mark.parametrize("one_by_one", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_tables_that_the_sample_has_no_rows_of_are_the_same_without_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_by_one: bool
) -> None:
    monkeypatch.setattr(building, "MANY_ROWS", 0)
    to_fill = (EMPTY | BEHIND_THE_AUDIT) - ELSEWHERE
    for name, (database, options) in write_rich_profiles(tmp_path).items():
        with built(whole_plan(), database, **options) as connection:
            rows = {table: shown(connection, table) for table in to_fill}
        filled = sorted(table for table in to_fill if rows[table])
        for names in [(table,) for table in filled] if one_by_one else [tuple(filled)]:
            plan = make_plan("ascend_db", raw_columns("ascend_db"), names)
            with built(plan, database, **options, kept=names) as connection:
                assert {table: shown(connection, table) for table in names} == {table: rows[table] for table in names}, name
        to_fill -= set(filled)
    assert to_fill == set(), "no profile of this test has rows of these"


def test_of_what_is_built_only_what_is_asked_for_is_left(everything: duckdb.DuckDBPyConnection, audit_links: bool) -> None:
    kept = ("module.statistic", "trace.op")
    plan = make_plan("ascend_db", raw_columns("ascend_db"), kept)
    with built(plan, audit_links=audit_links, kept=kept) as connection:
        left = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert {name: shown(connection, name) for name in kept} == {name: shown(everything, name) for name in kept}
    assert left - {"other_id"} == {*kept, "trace.string"}


def test_only_what_is_needed_is_built_and_read() -> None:
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["trace.step"])
    assert plan.order == ("trace.step",)
    assert plan.raw_columns == {"raw.step_time": {"id", "startNs", "endNs"}}
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["module.coverage"])
    assert not {"module.statistic", "module.tree"} & set(plan.order)
    assert not {"inputShapes", "blockNum"} & plan.raw_columns["raw.compute_task_info"]


def test_what_only_guarded_tables_need_is_deferred() -> None:
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["module.coverage"])
    behind = {"raw.cann_api", "raw.enqueue", "raw.dequeue"}
    assert plan.deferred == {
        *behind,
        "trace.launch",
        "trace.queue",
        "trace.forward_backward",
        "kernels.step",
    }
    call = {"startNs", "endNs", "globalTid", "connectionId"}
    queue_end = call | {"row_id", "name"}
    assert plan.deferred_raw_columns == {name: call if name == "raw.cann_api" else queue_end for name in behind}
    assert not plan.raw_columns.keys() & plan.deferred_raw_columns.keys()
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["module.coverage", "trace.launch"])
    assert plan.deferred == {
        "trace.queue",
        "trace.forward_backward",
        "raw.enqueue",
        "raw.dequeue",
        "kernels.step",
    }
    assert "raw.cann_api" in plan.raw_columns
    assert plan.deferred_raw_columns.keys() == {"raw.enqueue", "raw.dequeue"}


def small_profile(folder: Path, has_queue: bool, has_lost_link: bool, has_unnumbered: bool) -> Path:
    """A profile in which each guard can be shut or open: by a task queue, a lost link, a backward op without a number."""
    backward = Op(
        "MmBackward0", 300, 320, tid=2, backward_of=0, sequence_number=-1 if has_unnumbered else 5, forward_thread_id=1
    )
    launches = [
        Launch(105, 106, (Kernel("a", 1000, 1010),), recorded_op=None if has_lost_link and not has_queue else 0),
        Launch(405, 406, (Kernel("b", 1100, 1110),), tid=5, recorded_op=None if has_lost_link else 1),
    ]
    return write_profile(
        folder,
        [Op("aten::mm", 100, 120, sequence_number=5), backward],
        [Range("Net", 90, 150)],
        steps=[(0, 0, 500)],
        queues=[Queue(1, (305, 306), (400, 410))] if has_queue else [],
        launches=launches,
    )


@pytest.mark.parametrize(
    ("has_queue", "has_lost_link", "has_unnumbered"),
    quick([(True, False, False), (True, True, False), (False, False, True)], 0, 2),
)
def test_what_is_behind_guards_is_staged_and_built_only_where_one_is_open(
    tmp_path: Path, has_queue: bool, has_lost_link: bool, has_unnumbered: bool
) -> None:
    database = small_profile(tmp_path, has_queue, has_lost_link, has_unnumbered)
    names = ("module.statistic", "module.link_audit", "trace.launch")
    order = make_plan("ascend_db", raw_columns("ascend_db"), names).order
    whole = make_plan("ascend_db", raw_columns("ascend_db"), order)
    with built(Plan(whole.order, whole.columns, frozenset()), database) as connection:
        expected = {name: shown(connection, name) for name in order}
    assert bool(expected["module.doubtful_launch"]) == (has_lost_link or not has_queue)
    assert bool(expected["module.recorded_pair"]) == has_unnumbered
    for name in names:
        plan = make_plan("ascend_db", raw_columns("ascend_db"), [name])
        staged: list[set[str]] = []
        with built(plan, database, staged=staged) as connection:
            assert shown(connection, name) == expected[name]
            made = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        needed = needed_of(name, expected) | (needed_of("trace.string", expected) if "trace.string" in plan.order else set())
        assert made - {"other_id"} == needed | set(plan.raw_columns)
        assert set().union(*staged[1:]) == {need for need in needed if need in plan.deferred_raw_columns}


def needed_of(name: str, rows: Mapping[str, list[Any]]) -> set[str]:
    """A table and what has to be made for it, where these rows are in the guards."""
    table = source_tables("ascend_db").get(name)
    if table is None:
        return {name}
    needs = {table.guard} if table.guard else set()
    if table.guard is None or rows[table.guard]:
        needs = needs | table.needs
    return {name}.union(*(needed_of(need, rows) for need in needs if need))


def test_a_guard_holds_also_behind_another(tmp_path: Path) -> None:
    database = small_profile(tmp_path, has_queue=True, has_lost_link=False, has_unnumbered=False)
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["kernels.statistic"])
    assert {"module.misplaced_launch", "module.kernel_op", "trace.op"} <= plan.deferred
    with built(plan, database, step_id=0) as connection:
        assert len(shown(connection, "kernels.in_step")) == 2
        assert shown(connection, "module.direct_launching") == shown(connection, "module.misplaced_launch") == []
    with built(plan, database) as connection:
        assert shown(connection, "kernels.statistic")
        made = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert not made & plan.deferred


def test_tables_are_built_after_what_they_need_and_their_guard() -> None:
    order = make_plan("ascend_db", raw_columns("ascend_db"), TABLES).order
    assert sorted(order) == TABLES
    for position, name in enumerate(order):
        assert {source_tables("ascend_db")[name].guard} - {None} <= set(order[:position])
        assert {need for need in source_tables("ascend_db")[name].needs if not need.startswith("raw.")} <= set(order[:position])


@pytest.mark.parametrize(
    ("query", "needs"),
    [
        pytest.param("SELECT 1", set(), id="none"),
        pytest.param("FROM trace.op", {"trace.op"}, id="from first"),
        pytest.param("SELECT * FROM Trace.OP", {"trace.op"}, id="upper case"),
        pytest.param('SELECT * FROM "trace"."op"', {"trace.op"}, id="quoted"),
        pytest.param("WITH a AS (SELECT * FROM trace.op), b AS (FROM a) SELECT * FROM b", {"trace.op"}, id="in a CTE"),
        pytest.param(
            "SELECT (SELECT max(start_ns) FROM trace.op), * FROM (SELECT * FROM trace.kernel) WHERE EXISTS (FROM trace.step)",
            {"trace.op", "trace.kernel", "trace.step"},
            id="in subqueries",
        ),
        pytest.param(
            "SELECT * FROM trace.op ASOF JOIN trace.range ON op.tid = range.tid AND op.start_ns >= range.start_ns",
            {"trace.op", "trace.range"},
            id="ASOF",
        ),
        pytest.param(
            "SELECT * FROM trace.op SEMI JOIN trace.op_link USING (op_id) WHERE name_id IN (SELECT text_id FROM trace.string)",
            {"trace.op", "trace.op_link", "trace.string"},
            id="SEMI JOIN and IN",
        ),
        pytest.param(
            "WITH RECURSIVE s (i, c) USING KEY (i) AS (SELECT op_id, 0 FROM trace.op UNION"
            " SELECT s.i, r.c FROM s JOIN recurring.s AS r ON r.i = s.c JOIN trace.step ON true) FROM s",
            {"trace.op", "trace.step"},
            id="USING KEY recursion, whose own table is no need",
        ),
        pytest.param("FROM trace.op UNION ALL BY NAME FROM module.call", {"trace.op", "module.call"}, id="set operation"),
        pytest.param("SELECT * FROM a_view, trace.op", {"trace.op"}, id="without a schema"),
        pytest.param("SELECT 'FROM trace.step' -- FROM trace.kernel\nFROM trace.op", {"trace.op"}, id="texts and comments"),
        pytest.param("SELECT list_transform([1], lambda x : (SELECT count(*) FROM trace.op))", {"trace.op"}, id="in a lambda"),
    ],
)
def test_needs_are_found_wherever_they_stand(query: str, needs: set[str]) -> None:
    assert referenced_tables(query) == needs


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FRM trace.op", "cannot be read"),
        ("SELECT 1; SELECT 2", "this is not one SELECT"),
        ("", "this is not one SELECT"),
        ("DROP TABLE trace.op", "SELECT"),
        ("COPY trace.op TO 'x'", "SELECT"),
    ],
)
def test_a_query_that_is_not_one_select_is_refused(query: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        referenced_tables(query)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_unknown_table_is_named() -> None:
    with pytest.raises(QueryError) as raised:
        make_plan("ascend_db", raw_columns("ascend_db"), ["module.nothing"])
    assert str(raised.value) == "there is no table module.nothing; `prof-analysis tables` lists them"


def test_tables_that_need_each_other_are_an_error() -> None:
    bodies = {"a.one": "FROM a.two, raw.x", "a.two": "FROM a.three", "a.three": "FROM a.one", "a.apart": "SELECT 1"}
    tables = {name: Table(name, "", (), body) for name, body in bodies.items()}
    assert list(in_building_order(tables, ["a.apart"])) == ["a.apart"]
    with pytest.raises(ValueError, match=r"^these tables need each other: a\.two -> a\.three -> a\.one -> a\.two$"):
        list(in_building_order(tables, ["a.two"]))


def exported(database: Path = SAMPLE_DATABASE, threads: int = 2) -> dict[str, list[tuple[Any, ...]]]:
    """All tables that are exported, without the numbers of rows in the file."""
    with built(make_plan("ascend_db", raw_columns("ascend_db"), EXPORTED), database, threads) as connection:
        columns = "COLUMNS(lambda name: name NOT IN ('kernel_id', 'op_id'))"
        queries = {name: f"SELECT {columns} FROM ({shown_select(source_tables('ascend_db')[name])})" for name in EXPORTED}
        return {name: connection.execute(query).fetchall() for name, query in queries.items()}


@pytest.fixture(scope="module")
def answers() -> dict[str, list[tuple[Any, ...]]]:
    return exported()


def test_one_thread_gives_the_same_rows_in_the_same_order(answers: dict[str, list[tuple[Any, ...]]]) -> None:
    assert exported(threads=1) == answers


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_rows_of_the_file_in_any_order_give_the_same_rows_in_the_same_order(
    tmp_path: Path, answers: dict[str, list[tuple[Any, ...]]], seed: int
) -> None:
    folder = tmp_path / SAMPLE_FOLDER
    shutil.copytree(SAMPLE / SAMPLE_FOLDER, folder)
    shuffled = folder / SAMPLE_DATABASE.relative_to(SAMPLE / SAMPLE_FOLDER)
    with closing(sqlite3.connect(shuffled)) as database, database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            rows = database.execute(f"SELECT * FROM {name}").fetchall()
            random.Random(f"{seed} {name}").shuffle(rows)
            database.execute(f"DELETE FROM {name}")
            if rows:
                database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        assert {"TASK", "PYTORCH_API", "MSTX_EVENTS", "CONNECTION_IDS"} <= set(names)
    assert exported(shuffled) == answers


def test_equal_rows_are_ordered_by_their_texts_and_not_by_when_they_were_written(tmp_path: Path) -> None:
    """Threads that do the same at the same time, with kernels, operators and ranges that agree in all but a name."""

    def thread(place: int, name: str) -> list[Op]:
        kernels = (
            Matmul(f"k{name}", 1000, 1050, pmu={f"aic_{name}_ratio": 0.5}),
            Kernel(f"k{name}", 1060, 1070, type=name, core=f"core_{name}"),
            Kernel(f"hcom_{name}_", 1100, 1150, "communication", group=f"g{name}"),
        )
        return [
            Op(f"op{name}", 120, 150, kernels, tid=place, input_shapes=f"{place},1"),
            Op("npu_fx_compiler inference", 200, 220, tid=place),
        ]

    def without_number(row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(re.sub(r"_904_\d+_1$", "", cell) if isinstance(cell, str) else cell for cell in row)

    names = ("b", "a", "c")
    found = []
    for order in ((0, 1, 2), (2, 0, 1)):
        threads = [(place + 1, names[place]) for place in order]
        database = write_profile(
            tmp_path / str(order[0]) / "x_ascend_pt",
            [op for thread_id, name in threads for op in thread(thread_id, name)],
            [Range(f"M{name}", 100, 300, tid=thread_id) for thread_id, name in threads]
            + [Range(f"m{name}", 110, 111, tid=thread_id, event_type=0, domain="d") for thread_id, name in threads],
            steps=[(1, 50, 400)],
        )
        found.append({name: list(map(without_number, rows)) for name, rows in exported(database).items()})
    assert found[1] == found[0]
    assert {name for name, rows in found[0].items() if not rows} <= {*EMPTY, "communication.link", "mfu.operator_mfu"}
