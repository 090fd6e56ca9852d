"""Records of memory of Ascend devices: who allocated a block that has no thread, damaged rows, units of the csv files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.says import says
from tests.helpers.small_profile import Op, Queue, Range, edit, write_profile

Row = tuple[Any, ...]
TABLES = """
CREATE TABLE OP_MEMORY (name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, activeReleaseTime INTEGER,
    allocationTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER);
CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER,
    totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER);
CREATE TABLE NPU_OP_MEM (operatorName INTEGER, size INTEGER, timestampNs INTEGER, globalTid INTEGER, deviceId INTEGER,
    addr INTEGER, type INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC, component INTEGER);
"""
BLOCKS = """
    SELECT role::VARCHAR AS role, device_id, size_bytes, allocated_ns, released_ns, used_until_ns, op_name, module,
        lifetime::VARCHAR AS lifetime
    FROM allocation.block
"""


def add_memory(database: Path, blocks: Iterable[Row], records: Iterable[Row] = (), library: Iterable[Row] = ()) -> None:
    """Add rows to a profile; names are texts."""
    rows = {"OP_MEMORY": list(blocks), "MEMORY_RECORD": list(records), "NPU_OP_MEM": list(library)}
    names = {row[0] for table in rows.values() for row in table}
    ids = {name: 9000 + number for number, name in enumerate(sorted(names))}
    sql = TABLES + "".join(f"INSERT INTO STRING_IDS VALUES ({number}, '{name}');" for name, number in ids.items())
    for table, of_table in rows.items():
        for name, *cells in of_table:
            values = ", ".join("NULL" if cell is None else repr(cell) for cell in (ids[name], *cells))
            sql += f"INSERT INTO {table} VALUES ({values}{', NULL' * 5 * (table == 'NPU_OP_MEM')});"
    edit(database, sql)


def asked(folder: Path, *queries: str, **options: Any) -> tuple[list[list[Row]], list[str]]:
    with open_profile(folder, **options) as profile:
        build_at_once(profile, "memory", "allocation.peak_moment")
        answers = [[tuple(row.values()) for row in profile.rows(query)] for query in queries]
        return answers, [warning.partition(": ")[2] for warning in profile.warnings]


def test_a_block_without_a_thread_finds_its_op_by_name_and_time_on_any_thread_or_through_the_queue(tmp_path: Path) -> None:
    ops = [
        Op("aten::add", 100, 900),
        Op("aten::add", 200, 300),  # Inside the other one, and over when its block is allocated.
        Op("aten::mul", 100, 900, tid=2),
        Op("aten::mm", 1000, 1100, tid=2),  # Puts its task into the queue, which runs it later.
        Op("Conv2D", 1020, 1090, tid=2),
    ]
    queue = [Queue(7, (1030, 1040), (5000, 6000), enqueue_tid=2)]
    modules = [Range("Net", 50, 950), Range("Linear", 990, 1200, tid=2)]
    path = write_profile(tmp_path / "a_ascend_pt", ops, modules, steps=[(1, 0, 4000), (2, 4000, 9000)], queues=queue)
    blocks = [
        ("aten::add", 512, 400, 500, 500, 1, 77, 0),
        ("aten::mul", 1024, 450, 5500, 7000, 1, 77, 0),
        ("aten::mm", 2048, 5200, 5300, 5300, 1, 77, 0),
        ("aten::gone", 256, 3000, None, None, 1, 77, 0),
        ("TransData_0", 4096, 5400, 5900, None, None, None, 0),
    ]
    add_memory(path, blocks, library=[("TransData_0", 4096, 5400, 5, 0), ("TransData_0", 4096, 5900, 5, 0)])
    (rows,), warnings = asked(tmp_path, BLOCKS)
    assert rows == [
        ("framework", 0, 512, 400, 500, 500, "aten::add", "Net", "op"),
        ("framework", 0, 1024, 450, 5500, 7000, "aten::mul", None, "several steps"),
        ("framework", 0, 256, 3000, None, None, "aten::gone", None, "not released"),
        ("framework", 0, 2048, 5200, 5300, 5300, "aten::mm", "Linear", "op"),
        ("operators", 0, 4096, 5400, 5900, 5900, "Conv2D", "Linear", "op"),
    ]
    assert warnings == []


@pytest.mark.slow
def test_damaged_rows_are_set_aside_and_the_peak_still_adds_up(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "a_ascend_pt", [Op("aten::add", 100, 900)])
    blocks = [
        ("aten::add", 512, 200, 800, 800, 1, 77, 0),
        ("aten::add", 512, 200, 800, 800, 1, 77, 0),  # The same row again.
        ("aten::add", -512, 300, 400, 400, 1, 77, 0),
        ("aten::add", "much", 310, 400, 400, 1, 77, 0),
        ("aten::add", 2**62, 320, 400, 400, 1, 77, 0),
        ("aten::add", 512, -(2**63), 400, 400, 1, 77, 0),
        ("aten::add", 512, None, 400, 400, 1, 77, 0),
        ("aten::add", 512, 700, 600, 600, 1, 77, 0),
        ("aten::add", 4096, 250, None, None, 1, 77, 0),  # More than the totals say: its release is missing.
    ]
    records = [
        ("PTA", 200, 512, 2048, 512, 77, 0),
        ("PTA+GE", 200, 9999, 9999, 9999, 77, 0),
        ("PTA", 400, 1024, 2048, 1024, 77, 0),
        ("PTA", 500, -1, 2048, 0, 77, 0),
        ("PTA", 500, 2**63 - 1, 2**63 - 1, 0, 77, 0),
        ("WORKSPACE", 500, 100, 300, 100, 77, 0),
    ]
    add_memory(path, blocks, records)
    (peak,), warnings = asked(
        tmp_path,
        "SELECT component, measure::VARCHAR AS measure, peak_bytes, part::VARCHAR AS part, op_name, live_bytes, block_count"
        " FROM allocation.peak WHERE measure <> 'active'",
    )
    assert peak == [
        ("PTA", "allocated", 1024, "blocks", "aten::add", 4608, 2),
        ("PTA", "allocated", 1024, "released unseen", None, -3584, None),
        ("PTA", "reserved", 2048, "blocks", "aten::add", 4608, 2),
        ("PTA", "reserved", 2048, "cached", None, 1024, None),
        ("PTA", "reserved", 2048, "released unseen", None, -3584, None),
        ("WORKSPACE", "allocated", 100, "whole", None, 100, None),
        ("WORKSPACE", "reserved", 300, "cached", None, 200, None),
        ("WORKSPACE", "reserved", 300, "whole", None, 100, None),
    ]
    assert sorted(warnings) == [
        says("1 row", "OP_MEMORY", "repeats", "left out"),
        says("1 value", "OP_MEMORY.size", "not of type BIGINT", "unknown"),
        says("blocks of memory set aside", "end before", 1),
        says("blocks of memory set aside", "no possible size", 3),
        says("blocks of memory set aside", "no time", 2),
        says("totals of memory set aside", "not possible", 2),
    ]


OPERATOR_MEMORY = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),"
    "Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\r\n"
    "aten::add,0.5,1736408883694624.810\t,1736408883694724.810\t,1736408883694724.800\t,,,0.00048828125,2.0,0.00048828125,"
    "0.0,2.0,0.0,77,NPU:3\r\n"
    "cann::TransData_0,64.0,1736408883694700.000\t,,,,,0.0625,2.0,,,,,,NPU:3\r\n"
    "aten::add,much,1736408883694800.000\t,,,,,1.0,2.0,1.0,,,,77,NPU:3\r\n"
)
MEMORY_RECORD = (
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\r\n"
    "APP,1736408883573957.920\t,,2109.6015625,,,NPU:3\r\n"
    "PTA,1736408883694624.810\t,1187.98095703125,1452.0,1187.98095703125,77,NPU:3\r\n"
    "PTA+GE,1736408883694624.810\t,1261.0,1526.75,1261.0,77,NPU:3\r\n"
)
MODULE_MEMORY = (
    "Component,Timestamp(us),Total Reserved(MB),Device\n"
    "HCCL,1736408883657086.220\t,404.0625,NPU:3\n"
    "SLOG,1736408883657086.220\t,0.0,NPU:3\n"
    "APP,1736408883657086.220\t,1452.0,NPU:3\n"
)


def test_csv_files_have_kib_and_mib_which_become_bytes(tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "operator_memory.csv").write_text(OPERATOR_MEMORY, newline="")
    (output / "memory_record.csv").write_text(MEMORY_RECORD, newline="")
    (output / "npu_module_mem.csv").write_text(MODULE_MEMORY, newline="")
    (blocks, components, ranks), warnings = asked(
        tmp_path,
        BLOCKS,
        "SELECT role::VARCHAR AS role, component, device_id, peak_allocated_bytes, peak_reserved_bytes, at_peak_bytes"
        " FROM allocation.component",
        "SELECT used_bytes, used_by, memory_bytes, left_share, beside_bytes FROM across.memory_rank",
    )
    assert blocks == [
        ("framework", 3, 512, 1736408883694624810, 1736408883694724810, 1736408883694724810, "aten::add", None, "recording"),
        ("operators", 3, 65536, 1736408883694700000, None, None, "cann::TransData_0", None, "not released"),
    ]
    assert components == [
        ("framework", "PTA", 3, 1245688320, 1522532352, 1522532352),
        ("process", "APP", 3, None, 2212077568, 2212077568),
        ("program", "APP", 3, None, 1522532352, 1522532352),
        ("part", "HCCL", 3, None, 423690240, 423690240),
    ]
    assert ranks == [(2212077568, "process", None, None, 2212077568 - 1522532352)]
    assert warnings == [says("rows of operator_memory.csv set aside", "no possible size", 1)]


@pytest.mark.slow
def test_of_two_devices_in_a_database_each_has_its_own_memory(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "a_ascend_pt", [Op("aten::add", 100, 900)], rank=None)
    edit(path, "CREATE TABLE RANK_DEVICE_MAP (rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES (0, 0), (1, 1)")
    edit(path, "INSERT INTO TASK (startNs, endNs, deviceId) VALUES (1, 2, 0), (1, 2, 1)")
    blocks = [("aten::add", 512, 200, 800, 800, 1, 77, 0), ("aten::add", 1024, 300, 800, 800, 1, 77, 1)]
    add_memory(path, blocks, [("PTA", 200, 512, 2048, 512, 77, 0), ("PTA", 300, 1024, 4096, 1024, 77, 1)])
    (peaks,), _ = asked(
        tmp_path, "SELECT rank_id, device_id, peak_bytes FROM allocation.peak_moment WHERE measure = 'allocated' ORDER BY ALL"
    )
    assert peaks == [(0, 0, 512), (1, 1, 1024)]


def test_a_profile_without_records_says_how_to_collect_them(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op("aten::add", 100, 900)])
    with open_profile(tmp_path) as profile, pytest.raises(InputError, match="collect with profile_memory=True"):
        profile.memory("block")


@pytest.mark.slow
def test_a_database_of_msprof_alone_has_the_blocks_of_its_events(tmp_path: Path) -> None:
    """Events at one address: a block, another one, and one that was not released; before the first one 100 bytes were there."""
    path = write_profile(tmp_path / "a_ascend_pt", [Op("aten::mm", 100, 900)], [Range("Net", 50, 950)])
    events = [
        ("allocate", 512, 200, 612), ("release", 512, 300, 100), ("allocate", 1024, 400, 1124), ("release", 1024, 500, 100),
        ("allocate", 256, 600, 356),
    ]  # fmt: skip
    names = {"MatMul1": 9000, "allocate": 9001, "release": 9002, "GE": 9003}
    sql = TABLES + "".join(f"INSERT INTO STRING_IDS VALUES ({number}, '{name}');" for name, number in names.items())
    for kind, size, at, total in events:
        sql += f"INSERT INTO NPU_OP_MEM VALUES (9000, {size}, {at}, 1, 0, 77, {names[kind]}, {total}, 4096, 9003);"
    edit(path, sql)
    (blocks, peak), warnings = asked(
        tmp_path,
        "SELECT component, role::VARCHAR, size_bytes, allocated_ns, released_ns, op_name, module FROM allocation.block",
        "SELECT measure::VARCHAR, part::VARCHAR, live_bytes FROM allocation.peak",
    )
    assert blocks == [
        ("GE", "operators", 512, 200, 300, "aten::mm", "Net"),
        ("GE", "operators", 1024, 400, 500, "aten::mm", "Net"),
        ("GE", "operators", 256, 600, None, "aten::mm", "Net"),
    ]
    assert peak == [
        ("allocated", "blocks", 1024),
        ("allocated", "allocated before", 100),
        ("reserved", "cached", 2972),
        ("reserved", "blocks", 1024),
        ("reserved", "allocated before", 100),
    ]
    assert warnings == []
