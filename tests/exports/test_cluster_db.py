"""cluster_analysis.db: the tables that users of msprof-analyze know, beside whatever else the file holds."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import open_profile
from tests.small_profile import Kernel, Op, Range, edit, write_profile

RANGES = (Range("Net", 100, 200), Range("Layer", 105, 125))
OPS = (
    Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040), Kernel("hcom_allReduce_", 1050, 1150, "communication"))),
    Op("aten::add", 130, 140, (Kernel("add_kernel", 1200, 1210),)),
    Op("aten::item", 300, 310, (Kernel("copy_kernel", 1300, 1350),)),
)
OURS = {"ModuleStatistic", "ModuleTree", "ModuleCoverage", "ProfileRank"}


def export(path: Path, **options: Any) -> Path:
    """Export below the path itself."""
    with open_profile(path, **options) as profile:
        (written,) = profile.export()
    assert written == path / "cluster_analysis_output" / "cluster_analysis.db"
    return written


def read(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as reader:
        return reader.execute(query).fetchall()


def columns(database: Path, table: str) -> list[tuple[str, str]]:
    return [(row[1], row[2]) for row in read(database, f"PRAGMA table_info({table})")]


def test_module_statistic_is_that_of_msprof_analyze(tmp_path: Path) -> None:
    for rank in (0, 1):
        write_profile(tmp_path / f"{rank}_ascend_pt", OPS, RANGES, rank=rank)
    database = export(tmp_path)
    assert columns(database, "ModuleStatistic") == [
        ("parentModule", "TEXT"),
        ("module", "TEXT"),
        ("opName", "TEXT"),
        ("kernelList", "TEXT"),
        ("totalKernelDuration(ns)", "REAL"),
        ("avgKernelDuration(ns)", "REAL"),
        ("opCount", "INTEGER"),
        ("rankID", "INTEGER"),
    ]
    found = read(database, "SELECT * FROM ModuleStatistic ORDER BY rowid")
    assert found == [
        row
        for rank in (0, 1)
        for row in (
            ("Net", "Layer", "aten::mm", "mm_kernel, hcom_allReduce_", 140.0, 140.0, 1, rank),
            ("", "Net", "aten::add", "add_kernel", 10.0, 10.0, 1, rank),
        )
    ]
    assert [type(value) for value in found[0]] == [str, str, str, str, float, float, int, int]


def test_the_other_tables_in_every_column(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, rank=None)
    edit(database, "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER); INSERT INTO RANK_DEVICE_MAP VALUES (4, 6)")
    written = export(tmp_path)
    assert columns(written, "ModuleTree") == [
        ("parentModule", "TEXT"),
        ("module", "TEXT"),
        ("depth", "INTEGER"),
        ("calls", "INTEGER"),
        ("ownKernelDuration(ns)", "INTEGER"),
        ("kernelDuration(ns)", "INTEGER"),
        ("kernelDurationShare", "REAL"),
        ("avgKernelDuration(ns)", "REAL"),
        ("rankID", "INTEGER"),
        ("profile", "TEXT"),
    ]
    assert read(written, "SELECT * FROM ModuleTree ORDER BY rowid") == [
        ("", "Net", 1, 1, 10, 150, 0.75, 150.0, 4, "a_ascend_pt"),
        ("Net", "Layer", 2, 1, 140, 140, 0.7, 140.0, 4, "a_ascend_pt"),
    ]
    assert columns(written, "ModuleCoverage") == [
        ("kind", "TEXT"),
        ("place", "TEXT"),
        ("reason", "TEXT"),
        ("kernelCount", "INTEGER"),
        ("kernelDuration(ns)", "INTEGER"),
        ("kernelDurationShare", "REAL"),
        ("topOps", "TEXT"),
        ("rankID", "INTEGER"),
        ("profile", "TEXT"),
    ]
    assert read(written, "SELECT * FROM ModuleCoverage ORDER BY rowid") == [
        ("compute", "inside modules", None, 2, 50, 0.5, None, 4, "a_ascend_pt"),
        ("compute", "outside modules", "outside every module", 1, 50, 0.5, "aten::item", 4, "a_ascend_pt"),
        ("compute", "linked to no op", None, 0, 0, 0.0, None, 4, "a_ascend_pt"),
        ("communication", "inside modules", None, 1, 100, 1.0, None, 4, "a_ascend_pt"),
        ("communication", "outside modules", None, 0, 0, 0.0, None, 4, "a_ascend_pt"),
        ("communication", "linked to no op", None, 0, 0, 0.0, None, 4, "a_ascend_pt"),
    ]
    assert columns(written, "ProfileRank") == [
        ("profile", "TEXT"),
        ("rankID", "INTEGER"),
        ("deviceID", "INTEGER"),
        ("rankIDFrom", "TEXT"),
    ]
    assert read(written, "SELECT * FROM ProfileRank") == [("a_ascend_pt", 4, 6, "RANK_DEVICE_MAP")]


def test_unknown_names_are_null_as_in_the_api(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", OPS[1:2], RANGES)
    edit(database, "DELETE FROM STRING_IDS WHERE value = 'aten::add'")
    assert read(export(tmp_path), "SELECT module, opName, kernelList FROM ModuleStatistic") == [("Net", None, "add_kernel")]


def test_unnumbered_ranks_are_told_apart_by_negative_numbers_in_the_order_of_folders(tmp_path: Path) -> None:
    for name, rank in (("d", None), ("a", None), ("c", 5), ("b", None)):
        write_profile(tmp_path / f"{name}_ascend_pt", OPS[1:2], RANGES, rank=rank)
    database = export(tmp_path)
    numbers = {"a_ascend_pt": -1, "b_ascend_pt": -2, "d_ascend_pt": -3, "c_ascend_pt": 5}
    assert dict(read(database, "SELECT profile, rankID FROM ProfileRank")) == numbers
    assert dict(read(database, "SELECT profile, rankID FROM ModuleTree")) == numbers
    assert columns(database, "ModuleStatistic")[-1] == ("rankID", "INTEGER")
    assert sorted(read(database, "SELECT rankID, opName FROM ModuleStatistic")) == [
        (number, "aten::add") for number in sorted(numbers.values())
    ]


def test_where_rank_ids_occur_twice_module_statistic_names_the_folder(tmp_path: Path) -> None:
    for n, (name, rank) in enumerate((("a", 0), ("b", 0), ("c", None))):
        ops = [Op("aten::add", 130, 140, (Kernel("add_kernel", 1200, 1210 + n),))]
        write_profile(tmp_path / f"{name}_ascend_pt", ops, RANGES, rank=rank)
    database = export(tmp_path)
    assert columns(database, "ModuleStatistic")[-2:] == [("rankID", "INTEGER"), ("profile", "TEXT")]
    assert read(database, 'SELECT "totalKernelDuration(ns)", rankID, profile FROM ModuleStatistic ORDER BY rowid') == [
        (10.0, 0, "a_ascend_pt"),
        (11.0, 0, "b_ascend_pt"),
        (12.0, -1, "c_ascend_pt"),
    ]


def test_other_tables_of_the_file_stay_and_ours_are_replaced(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    database = tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    database.parent.mkdir()
    edit(
        database,
        """
        CREATE TABLE ComputeOpAllRankStats (opType TEXT, "avg" REAL);
        INSERT INTO ComputeOpAllRankStats VALUES ('MatMulV3', 1.5);
        CREATE INDEX byType ON ComputeOpAllRankStats (opType);
        CREATE TABLE ModuleStatistic (parentModule TEXT, other TEXT);
        INSERT INTO ModuleStatistic VALUES ('old', 'old');
        """,
    )
    export(tmp_path)
    once = [read(database, f"SELECT * FROM {table}") for table in sorted(OURS)]
    export(tmp_path)
    assert [read(database, f"SELECT * FROM {table}") for table in sorted(OURS)] == once
    assert {name for (name,) in read(database, "SELECT name FROM sqlite_master")} == {
        *OURS,
        "ComputeOpAllRankStats",
        "byType",
    }
    assert read(database, "SELECT * FROM ComputeOpAllRankStats") == [("MatMulV3", 1.5)]
    assert read(database, "SELECT module FROM ModuleStatistic") == [("Layer",), ("Net",)]
    assert [path.name for path in database.parent.iterdir()] == ["cluster_analysis.db"]


def write_text(path: Path) -> None:
    path.write_text("these are my notes, not a database\n" * 100, encoding="utf-8")


def write_view_in_the_way(path: Path) -> None:
    # ModuleCoverage comes after ModuleStatistic, so the failure comes when a part is written already.
    edit(
        path,
        "CREATE TABLE ModuleStatistic (a); INSERT INTO ModuleStatistic VALUES ('old'); CREATE VIEW ModuleCoverage AS SELECT 1",
    )


@pytest.mark.parametrize("write_old", [write_text, write_view_in_the_way])
def test_where_the_file_cannot_be_written_the_old_one_stays_byte_for_byte(
    tmp_path: Path, command: Callable[..., Result], write_old: Callable[[Path], None]
) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    database = tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    database.parent.mkdir()
    write_old(database)
    before = database.read_bytes()
    result = command("module-stats", "-d", tmp_path)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {database}: cannot be written (")
    assert result.stderr.count("\n") == 1
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == ["cluster_analysis.db"]


def test_nothing_is_written_when_there_is_nothing_to_write(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    assert command("module-stats", "-d", tmp_path, "-o", tmp_path / "out").exit_code == 2
    assert not (tmp_path / "out").exists()
