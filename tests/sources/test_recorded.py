"""What the profiler worked out of a rank is read as far as it can be read, and what cannot be is named."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.engine.tables import source_tables
from prof_analysis.sources import SOURCES
from prof_analysis.sources.ascend_beside.recorded import COLUMNS, STEPS, stage_recorded
from prof_analysis.sources.remarks import sentences
from tests.helpers.empty_database import empty_database
from tests.helpers.says import says
from tests.helpers.slow import quick

TABLES = (
    *("reported_communication", "reported_transfer", "reported_link", "reported_step", "reported_kernel_type"),
    *("parallel_group", "parallelism", "setting"),
)
START = 1_727_593_954_650_726_200
MS = {"Elapse": 3.0000005, "Transit": 1, "Wait": 1.5, "Synchronization": 0.25, "Idle": 0.5000005}


def staged(*files: Path, source: str = "ascend_text") -> tuple[dict[str, list[tuple[Any, ...]]], list[str]]:
    """The trace tables that a source makes of these files, and the warnings."""
    with empty_database(threads=1) as connection:
        connection.execute("CREATE SCHEMA raw; CREATE SCHEMA stored; CREATE SCHEMA trace")
        connection.execute("CREATE TABLE trace.kernel (device_id BIGINT)")
        wanted = {name: frozenset(columns) for name, columns in COLUMNS.items()}
        warnings = sentences(stage_recorded(connection, files, wanted, 0), wanted)
        rows = {name: connection.execute(source_tables(source)[f"trace.{name}"].body).fetchall() for name in TABLES}
    return {name: sorted(found, key=str) for name, found in rows.items() if found}, warnings


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def operator(times: object, links: object) -> dict[str, object]:
    return {"Communication Time Info": times, "Communication Bandwidth Info": links}


def test_json_csv_and_database_say_the_same(tmp_path: Path) -> None:
    times = {f"{name} Time(ms)": value for name, value in MS.items()} | {"Start Timestamp(us)": 1727593954650726.2}
    moved = {"Transit Size(MB)": 2.5, "Transit Time(ms)": 0.5}
    links = {"HCCS": moved, "SDMA": moved, "RDMA": {"Transit Size(MB)": 0, "Transit Time(ms)": 0}}
    entries = {"hcom_send__1_0_1@7": operator(times, links), "Total Op Info": operator(times, {})}
    pairs = {"0-1": {"Transport Type": "HCCS", **moved}, "0-0": {"Transport Type": "LOCAL", **moved}}
    head = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Other,Preparing"
    texts = [
        write(tmp_path, "communication.json", {"step12": {"p2p": entries, "collective": {}}}),
        write(tmp_path, "communication_matrix.json", {"step12": {"p2p": {"send-total@7": pairs, "send-top1@7": pairs}}}),
        write(tmp_path, "step_trace_time.csv", f"{head}\n0,12,231290.09999999995,2,3,5,6,7.25,0,2,\n"),
    ]
    path = tmp_path / "analysis.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            """
            CREATE TABLE CommAnalyzerTime (hccl_op_name, group_name, start_timestamp, elapse_time, transit_time, wait_time,
                synchronization_time, idle_time, step, type);
            INSERT INTO CommAnalyzerTime
            SELECT 'hcom_send__1_0_1', '7', 1727593954650726.2, 3.0000005, 1, 1.5, 0.25, 0.5000005, 'step12', 'p2p'
            FROM (VALUES (1), (2));
            CREATE TABLE CommAnalyzerBandwidth (hccl_op_name, group_name, transport_type, transit_size, transit_time, step);
            INSERT INTO CommAnalyzerBandwidth VALUES ('hcom_send__1_0_1', '7', 'HCCS', 2.5, 0.5, 'step12'),
                ('hcom_send__1_0_1', '7', 'HCCS', 2.5, 0.5, 'step12'), ('hcom_send__1_0_1', '7', 'SDMA', 2.5, 0.5, 'step12');
            CREATE TABLE CommAnalyzerMatrix (hccl_op_name, group_name, src_rank, dst_rank, transport_type, transit_size,
                transit_time, step, type);
            INSERT INTO CommAnalyzerMatrix VALUES ('send-total', '7', '0', '1', 'HCCS', 2.5, 0.5, 'step12', 'p2p'),
                ('send-total', '7', '0', '0', 'LOCAL', 2.5, 0.5, 'step12', 'p2p'),
                ('send-top1', '7', '0', '1', 'HCCS', 2.5, 0.5, 'step12', 'p2p');
            CREATE TABLE StepTraceTime (step, computing, communication_not_overlapped, overlapped, communication, free, stage,
                bubble);
            INSERT INTO StepTraceTime VALUES ('12', 231290.1, 2, 3, 5, 6, 7.25, 0);
            """
        )
    expected = {
        "reported_communication": [
            (
                "hcom_send__1_0_1",
                "hcom_send__1_0_1",
                "hcom_send_",
                "send",
                "7",
                12,
                "p2p",
                START,
                3_000_001,
                1_000_000,
                1_500_000,
                250_000,
                500_001,
            )
        ],
        "reported_transfer": [("hcom_send__1_0_1", "7", 12, "HCCS", 2_500_000, 500_000)],
        "reported_link": [
            ("p2p", "send", "7", 12, 0, 0, "ON_CHIP", 2_500_000, 500_000),
            ("p2p", "send", "7", 12, 0, 1, "HCCS", 2_500_000, 500_000),
        ],
    }
    step = (12, 231_290_100, 5_000, 2_000, 3_000, 6_000, 7_250, 0, None)
    assert staged(*texts) == ({**expected, "reported_step": [(*step, "step_trace_time.csv")]}, [])
    of_database = {**expected, "reported_step": [(*step, "analysis.db")]}
    assert staged(path, source="ascend_db") == (of_database, [])
    assert staged(path, *texts[:2]) == (of_database, []), "what the texts do not say"
    assert staged(path, *texts) == staged(*texts), "not twice"


def test_op_statistic_is_counted_by_type_over_devices_models_and_cores(tmp_path: Path) -> None:
    head = "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
    lines = ["0,a,Add,AI_CORE,2,1.5,0.5,0,1,9", "1,b,Add,AI_CORE,1,0.001,,0,0,9", "0,a,Add,AIV,1,2,2,2,2,9"]
    lines += ["0,a,Mul,AIV,x,1,,,,", "0,a,Mul,AI_CORE,1,1,,,,", "0,a,N/A,AIV,1,1,,,,"]
    file = write(tmp_path, "op_statistic.csv", "\n".join([head, *lines, ""]))
    with open_profile(file) as profile:
        found = profile.rows("SELECT * EXCLUDE (profile, rank_id) FROM trace.reported_kernel_type ORDER BY type, core, profile")
    # A type of which a row has no number has none; each device is a rank.
    expected = [("Add", "AIV", 1, 2000, 2000, 2000), ("Add", "AI_CORE", 2, 1500, 500, 1000), ("Add", "AI_CORE", 1, 1, None, 0)]
    assert [tuple(row.values()) for row in found] == expected


def test_groups_are_those_of_the_metadata_and_nothing_private_is_kept(tmp_path: Path) -> None:
    group = {"group_name": "pp", "group_rank": 1, "global_ranks": [4, 9]}
    odd = {"a": 7, "b": {"group_rank": "x", "global_ranks": "y"}, "c": None, "d": {"global_ranks": [{}]}}
    sizes = {"tensor_model_parallel_size": 2, "pipeline_model_parallel_size": "4", "rank": [1]}
    content = {"parallel_group_info": {"g": group, **odd}, "distributed_args": sizes, "ENV_VARIABLES": {"TOKEN": "secret"}}
    found, warnings = staged(write(tmp_path, "profiler_metadata.json", content))
    assert warnings == []
    assert found["parallel_group"][-2:] == [("g", "pp", 1, 0, 4), ("g", "pp", 1, 1, 9)]
    assert found["parallelism"] == [(2, None, None, 4, None, None)]
    assert "setting" not in found
    for broken in ("[]", "{", '{"parallel_group_info": [1], "distributed_args": "x"}'):
        found, warnings = staged(write(tmp_path, "profiler_metadata.json", broken))
        assert (found.get("parallel_group"), warnings) == (None, [])


def test_settings_are_those_that_change_speed_and_say_what_their_value_costs(tmp_path: Path) -> None:
    variables = {
        "ASCEND_LAUNCH_BLOCKING": "1", "ASCEND_GLOBAL_LOG_LEVEL": " 1 ", "ACLNN_CACHE_LIMIT": "10", "HCCL_ALGO": "level0:ring",
        "HOST_CACHE_CAPACITY": "", "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True", "HCCL_RDMA_TC": 132,
        "HCCL_RDMA_SL": None, "TOKEN": "secret",
    }  # fmt: skip
    expected = {
        ("ASCEND_LAUNCH_BLOCKING", "1", "launches wait"), ("ASCEND_GLOBAL_LOG_LEVEL", "1", "logs much"),
        ("ACLNN_CACHE_LIMIT", "10", "keeps few ops"), ("HCCL_ALGO", "level0:ring", "fixes the algorithm"),
        ("HOST_CACHE_CAPACITY", None, None), ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True", None),
        ("HCCL_RDMA_TC", "132", None), ("HCCL_RDMA_SL", None, None),
    }  # fmt: skip
    found, _ = staged(write(tmp_path, "profiler_metadata.json", {"ENV_VARIABLES": variables}))
    assert set(found["setting"]) == expected
    for level, blocking, limit in (("3", "0", "10000"), ("2", "yes", "x"), ("4", "", "100000")):
        cheap = {"ASCEND_GLOBAL_LOG_LEVEL": level, "ASCEND_LAUNCH_BLOCKING": blocking, "ACLNN_CACHE_LIMIT": limit}
        found, _ = staged(write(tmp_path, "profiler_metadata.json", {"ENV_VARIABLES": cheap}))
        assert {effect for _, _, effect in found["setting"]} == {None}
    oddities: list[Any] = [[], "x", 7, None, {}]
    for odd in oddities:
        found, warnings = staged(write(tmp_path, "profiler_metadata.json", {"ENV_VARIABLES": odd}))
        assert ("setting" in found, warnings) == (False, [])


NUMBERS = ['"x"', "NaN", "Infinity", "-Infinity", "1e999999999", "1e300", "[]", "{}", "null", "true", str(2**70)]


@pytest.mark.parametrize(
    "content",
    quick(
        ["", "[]", "7", "{", '{"step1": 7}', '{"step1": {"p2p": [1]}}', '{"step1": {"p2p": {"a@b": 7}}}', "[" * 100_000,
         "\xff\xfe", '{"step1": {"collective": {"a@b": {"Communication Time Info": 7}}}}', "1" * 5000],
        0, 6, 7, 9,
    )
)  # fmt: skip
def test_a_file_that_is_not_what_its_name_says_is_named_and_left_out(tmp_path: Path, content: str) -> None:
    files = [write(tmp_path, name, content) for name in ("communication.json", "communication_matrix.json")]
    found, warnings = staged(*files)
    assert found == {}
    assert all(warning.startswith(str(tmp_path)) and warning.endswith("steps are left out") for warning in warnings)
    assert warnings


def test_a_number_that_cannot_be_is_unknown(tmp_path: Path) -> None:
    entries = ", ".join(
        f'"{place}@b": {{"Communication Time Info": {{"Elapse Time(ms)": {number}, "Wait Time(ms)": 2}}}}'
        for place, number in enumerate(NUMBERS)
    )
    found, warnings = staged(write(tmp_path, "communication.json", f'{{"step": {{"p2p": {{{entries}}}}}}}'))
    names = map(str, range(len(NUMBERS)))
    expected = [(name, name, None, None, "b", None, "p2p", None, None, None, 2_000_000, None, None) for name in names]
    assert found == {"reported_communication": sorted(expected, key=str)}
    assert warnings == [
        says(tmp_path / "communication.json", "no time that is a number", f"{len(NUMBERS)} of {len(NUMBERS)}", "left out")
    ]


def test_a_damaged_database_or_csv_is_named_and_left_out(tmp_path: Path) -> None:
    found, warnings = staged(write(tmp_path, "analysis.db", "x" * 5000), write(tmp_path, "step_trace_time.csv", ""))
    assert found == {}
    assert {warning.partition(":")[0] for warning in warnings} == {
        str(tmp_path / "analysis.db"), str(tmp_path / "step_trace_time.csv")
    }  # fmt: skip


def test_both_sources_read_the_same_figures() -> None:
    assert all(set(COLUMNS) <= set(SOURCES[name].RAW_COLUMNS) for name in ("ascend_db", "ascend_text"))


BEYOND = ["1e99999999999999999999", "-1e400", "NaN", "Infinity", "9" * 5000, "true", '"x"', "[]"]


@pytest.mark.parametrize("number", quick(BEYOND, 2, 4))
def test_a_number_beyond_all_bounds_costs_only_its_own_figure(number: str, tmp_path: Path) -> None:
    times = f'{{"Elapse Time(ms)": {number}, "Transit Time(ms)": 1.5}}'
    moved = f'{{"Transit Size(MB)": 2, "Transit Time(ms)": {number}}}'
    entry = f'{{"Communication Time Info": {times}, "Communication Bandwidth Info": {{"HCCS": {moved}}}}}'
    link = f'{{"0-1": {{"Transport Type": "HCCS", "Transit Size(MB)": {number}, "Transit Time(ms)": 3}}}}'
    files = [
        write(tmp_path, "communication.json", f'{{"step": {{"collective": {{"a__1_0_1@7": {entry}}}}}}}'),
        write(tmp_path, "communication_matrix.json", f'{{"step": {{"collective": {{"all-total@7": {link}}}}}}}'),
        write(tmp_path, "profiler_metadata.json", f'{{"parallel_group_info": {{"7": {{"global_ranks": [{number}]}}}}}}'),
        write(tmp_path, "step_trace_time.csv", f"Step,Computing,Free\n,{number},2\n"),
    ]
    rows, warnings = staged(*files)
    assert [warning for warning in warnings if "no time that is a number in" not in warning] == []
    names = ("a__1_0_1", "a__1_0_1", "a_", "a", "7")
    assert rows["reported_communication"] == [(*names, None, "collective", None, None, 1_500_000, None, None, None)]
    assert rows["reported_transfer"] == [("a__1_0_1", "7", None, "HCCS", 2_000_000, None)]
    assert rows["reported_link"] == [("collective", "all", "7", None, 0, 1, "HCCS", None, 3_000_000)]
    assert rows["reported_step"] == [(None, None, None, None, None, 2_000, None, None, None, STEPS)]


def test_a_number_of_analysis_db_beyond_all_bounds_costs_only_its_own_figure(tmp_path: Path) -> None:
    path = tmp_path / "analysis.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            """
            CREATE TABLE StepTraceTime (step, computing, free);
            INSERT INTO StepTraceTime VALUES ('1', 9e999, 2), ('2', x'ff', 3), ('3', '1e99999999999999999999', 4);
            """
        )
    rows, warnings = staged(path)
    assert warnings == []
    assert rows == {
        "reported_step": [
            (step, None, None, None, None, free, None, None, None, "analysis.db")
            for step, free in ((1, 2000), (2, 3000), (3, 4000))
        ]
    }


def test_steps_that_a_spreadsheet_saved_are_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, "step_trace_time.csv", "Step;Computing;Free\n12;1.231.290,25;7,5\n")
    assert staged(path)[0]["reported_step"] == [(12, 1_231_290_250, None, None, None, 7_500, None, None, None, STEPS)]


@pytest.mark.parametrize("has_group", quick([True, False], 1))
def test_a_matrix_without_totals_is_that_of_its_operators(tmp_path: Path, has_group: bool) -> None:
    """Writers of 2023 name operators in communication_matrix.json, and no total; some name no group."""
    at, group = ("@7", "7") if has_group else ("", None)
    pairs = {"0-8": {"Transport Type": "RDMA", "Transit Size(MB)": 20.97, "Transit Time(ms)": 0.864}}
    two = {"0-1": {"Transport Type": "HCCS", "Transit Size(MB)": 1, "Transit Time(ms)": 0.1}}
    entries = {f"hcom_allReduce__538_0{at}": pairs, f"hcom_allReduce__538_1_1{at}": two, f"allreduce-top1{at}": pairs}
    file = write(tmp_path, "communication_matrix.json", {"step": {"collective": entries | {"Total Op Info": pairs}}})
    links = [
        ("collective", "allreduce", group, None, 0, 1, "HCCS", 1_000_000, 100_000),
        ("collective", "allreduce", group, None, 0, 8, "RDMA", 20_970_000, 864_000),
    ]
    assert staged(file) == ({"reported_link": links}, [])
    path = tmp_path / "analysis.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE CommAnalyzerMatrix (type, hccl_op_name, group_name, step, src_rank, dst_rank, transport_type,"
            " transit_size, transit_time)"
        )
        cells = [("hcom_allReduce__538_0", "8", "RDMA", 20.97, 0.864), ("hcom_allReduce__538_1_1", "1", "HCCS", 1, 0.1)]
        for name, to, *moved in cells:
            database.execute(
                "INSERT INTO CommAnalyzerMatrix VALUES ('collective', ?, ?, 'step', '0', ?, ?, ?, ?)", (name, group, to, *moved)
            )
    assert staged(path) == ({"reported_link": links}, [])
