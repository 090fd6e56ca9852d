"""cluster_analysis.db: the tables that users of msprof-analyze know, beside whatever else the file holds."""

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

import duckdb
import pytest
from typer.testing import Result

from prof_analysis import open_profile
from prof_analysis.common.version import __version__
from prof_analysis.engine.tables import documented_tables
from prof_analysis.exports import cluster_db
from prof_analysis.exports.provenance import Origin
from prof_analysis.sources.rank import Rank
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

RANGES = (Range("Net", 100, 200), Range("Layer", 105, 125))
OPS = (
    Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040), Kernel("hcom_allReduce_", 1050, 1150, "communication"))),
    Op("aten::add", 130, 140, (Kernel("add_kernel", 1200, 1210),)),
    Op("aten::item", 300, 310, (Kernel("copy_kernel", 1300, 1350),)),
)
OURS = {"ModuleStatistic", "ModuleTree", "ModuleCoverage", "ProfileRank", "Provenance"}


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
        ("profile", "TEXT"),
        ("rank_id", "INTEGER"),
        ("parent_module", "TEXT"),
        ("module", "TEXT"),
        ("depth", "INTEGER"),
        ("calls", "INTEGER"),
        ("own_kernel_duration_ns", "INTEGER"),
        ("kernel_duration_ns", "INTEGER"),
        ("kernel_duration_share", "REAL"),
        ("avg_kernel_duration_ns", "REAL"),
    ]
    assert read(written, "SELECT * FROM ModuleTree ORDER BY rowid") == [
        ("a_ascend_pt", 4, "", "Net", 1, 1, 10, 150, 0.75, 150.0),
        ("a_ascend_pt", 4, "Net", "Layer", 2, 1, 140, 140, 0.7, 140.0),
    ]
    assert columns(written, "ModuleCoverage") == [
        ("profile", "TEXT"),
        ("rank_id", "INTEGER"),
        ("kind", "TEXT"),
        ("location", "TEXT"),
        ("reason", "TEXT"),
        ("kernel_count", "INTEGER"),
        ("kernel_duration_ns", "INTEGER"),
        ("kernel_duration_share", "REAL"),
        ("top_ops", "TEXT"),
    ]
    assert read(written, "SELECT * FROM ModuleCoverage ORDER BY rowid") == [
        ("a_ascend_pt", 4, "compute", "inside modules", None, 2, 50, 0.5, None),
        ("a_ascend_pt", 4, "compute", "outside modules", "outside every module", 1, 50, 0.5, "aten::item"),
        ("a_ascend_pt", 4, "compute", "linked to no op", None, 0, 0, 0.0, None),
        ("a_ascend_pt", 4, "communication", "inside modules", None, 1, 100, 1.0, None),
        ("a_ascend_pt", 4, "communication", "outside modules", None, 0, 0, 0.0, None),
        ("a_ascend_pt", 4, "communication", "linked to no op", None, 0, 0, 0.0, None),
    ]
    assert columns(written, "ProfileRank") == [
        ("profile", "TEXT"),
        ("rank_id", "INTEGER"),
        ("device_id", "INTEGER"),
        ("rank_id_from", "TEXT"),
    ]
    assert read(written, "SELECT * FROM ProfileRank") == [("a_ascend_pt", 4, 6, "RANK_DEVICE_MAP")]


def test_unknown_names_are_null_as_in_the_api(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", OPS[1:2], RANGES)
    edit(database, "DELETE FROM STRING_IDS WHERE value = 'aten::add'")
    assert read(export(tmp_path), "SELECT module, opName, kernelList FROM ModuleStatistic") == [("Net", None, "add_kernel")]


@pytest.mark.slow
def test_unnumbered_ranks_are_told_apart_by_negative_numbers_in_the_order_of_folders(tmp_path: Path) -> None:
    for name, rank in (("d", None), ("a", None), ("c", 5), ("b", None)):
        write_profile(tmp_path / f"{name}_ascend_pt", OPS[1:2], RANGES, rank=rank)
    database = export(tmp_path)
    numbers = {"a_ascend_pt": -1, "b_ascend_pt": -2, "d_ascend_pt": -3, "c_ascend_pt": 5}
    assert dict(read(database, "SELECT profile, rank_id FROM ProfileRank")) == numbers
    assert dict(read(database, "SELECT profile, rank_id FROM ModuleTree")) == numbers
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
    ours = sorted(OURS - {"Provenance"})
    once = [read(database, f"SELECT * FROM {table}") for table in ours]
    export(tmp_path)
    assert [read(database, f"SELECT * FROM {table}") for table in ours] == once
    assert {name for (name,) in read(database, "SELECT name FROM sqlite_master")} == {
        *OURS,
        "ComputeOpAllRankStats",
        "byType",
    }
    assert read(database, "SELECT * FROM ComputeOpAllRankStats") == [("MatMulV3", 1.5)]
    assert read(database, "SELECT module FROM ModuleStatistic") == [("Layer",), ("Net",)]
    assert [path.name for path in database.parent.iterdir()] == ["cluster_analysis.db"]


def origins(database: Path) -> list[tuple[Any, ...]]:
    rows = read(database, "SELECT * FROM Provenance ORDER BY table_name")
    return [(name, json.loads(options), json.loads(inputs), version) for name, _, options, inputs, _, version, _ in rows]


def test_provenance_says_of_each_table_what_it_was_made_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/prof-analysis", "module-stats", "-d", "a b"])
    for rank in (0, 1):
        write_profile(tmp_path / f"{rank}_ascend_pt", OPS, RANGES, rank=rank)
    before = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    with open_profile(tmp_path, instances=True, depth=3) as profile:
        (database,) = profile.export(analysis="kernel-stats")
        profile.export()
    folders = [str(tmp_path / f"{rank}_ascend_pt") for rank in (0, 1)]
    of_modules = {
        **{"audit_links": False, "instances": True, "depth": 3, "module_domains": ["Module"], "module_source": "auto"},
        **{"nesting_tolerance_ns": 0, "peak_tflops": [], "step_id": None},
    }
    without_mfu = {name: value for name, value in of_modules.items() if name != "peak_tflops"}
    of_kernels = {"audit_links": False, "filter": None, "step_id": None}
    options = {
        "KernelStatistic": of_kernels,
        "KernelStatisticAllRanks": of_kernels,
        "ModuleAcrossRanks": without_mfu,
        "ModuleCoverage": without_mfu,
        "ModuleStatistic": of_modules,
        "ModuleTree": without_mfu,
        "ProfileRank": {},
    }
    assert origins(database) == [(name, values, folders, __version__) for name, values in options.items()]
    assert columns(database, "Provenance") == [
        (name, "TEXT") for name in ("table_name", "command", "options", "inputs", "identity", "version", "written_at")
    ]
    ((command, digest_length),) = read(database, "SELECT DISTINCT command, length(identity) FROM Provenance")
    assert (command, digest_length) == ("prof-analysis module-stats -d 'a b'", 24)
    (written,) = read(database, "SELECT min(written_at), max(written_at) FROM Provenance")
    assert before <= written[0] <= written[1] <= f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def export_after(path: Path, database: Path, analysis: str, **options: Any) -> tuple[set[str], list[str]]:
    """Export an analysis beside the tables of the file; return all tables and the warnings about the file."""
    with open_profile(path, **options) as profile:
        profile.export(database.parent.parent, analysis=analysis)
        return tables_of(database), [warning for warning in profile.warnings if warning.startswith(str(database))]


@pytest.mark.slow
def test_tables_of_other_inputs_or_options_do_not_stay_beside_new_ones(tmp_path: Path) -> None:
    for rank in (0, 1):
        write_profile(tmp_path / f"{rank}_ascend_pt", OPS, RANGES, rank=rank, steps=((3, 0, 2000),))
    database = tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    of_modules = {"ModuleStatistic", "ModuleTree", "ModuleCoverage", "ModuleAcrossRanks"}
    of_kernels = {"KernelStatistic", "KernelStatisticAllRanks"}
    always = {"ProfileRank", "Provenance"}
    listed = "ModuleAcrossRanks, ModuleCoverage, ModuleStatistic and ModuleTree"
    advice = ("another folder with -o", "keep both")
    assert export_after(tmp_path, database, "module-stats", depth=1) == ({*always, *of_modules}, [])
    # Kernel statistics do not depend on the depth.
    assert export_after(tmp_path, database, "kernel-stats") == ({*always, *of_modules, *of_kernels}, [])
    edit(database, "CREATE TABLE Foreign_ (a); INSERT INTO Foreign_ VALUES (1)")
    tables, warnings = export_after(tmp_path, database, "kernel-stats", step_id=3)
    assert tables == {*always, *of_kernels, "Foreign_"}
    assert warnings == [says(f"{database}: ", f"removed {listed}", "other step_id", *advice)]
    tables, warnings = export_after(tmp_path, database, "op-stats", rank_list=[0], step_id=3)
    assert tables == {*always, "OpStatistic", "OpStatisticAllRanks", "Foreign_"}
    removed = "removed KernelStatistic and KernelStatisticAllRanks"
    assert warnings == [says(f"{database}: ", removed, "other inputs", *advice)]
    assert [name for name, *_ in origins(database)] == ["OpStatistic", "OpStatisticAllRanks", "ProfileRank"]


@pytest.mark.slow
def test_a_profile_that_was_recorded_anew_or_moved(tmp_path: Path) -> None:
    recorded = write_profile(tmp_path / "here" / "a_ascend_pt", OPS, RANGES)
    database = export(tmp_path / "here")
    moved = tmp_path / "there"
    (tmp_path / "here").rename(moved)
    database = moved / "cluster_analysis_output" / "cluster_analysis.db"
    of_kernels = {"KernelStatistic", "KernelStatisticAllRanks"}
    assert export_after(moved, database, "kernel-stats") == ({*OURS, *of_kernels}, [])
    edit(moved / recorded.relative_to(tmp_path / "here"), "CREATE TABLE other (a)")
    tables, warnings = export_after(moved, database, "kernel-stats")
    assert tables == {"ProfileRank", "Provenance", *of_kernels}
    assert len(warnings) == 1


@pytest.mark.slow
def test_a_table_that_another_program_wrote_again_is_no_longer_ours(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    database = export(tmp_path)
    edit(database, "DROP TABLE ModuleTree; CREATE TABLE ModuleTree (a); INSERT INTO ModuleTree VALUES ('theirs')")
    tables, warnings = export_after(tmp_path, database, "kernel-stats", source="db")
    assert tables == {*OURS, "KernelStatistic", "KernelStatisticAllRanks"}
    assert warnings == []
    assert "ModuleTree" not in [name for name, *_ in origins(database)]
    write_profile(tmp_path / "b_ascend_pt", OPS, RANGES)
    tables, (warning,) = export_after(tmp_path, database, "kernel-stats")
    assert warning == says(database, "removed ModuleCoverage and ModuleStatistic", "other inputs")
    assert read(database, "SELECT * FROM ModuleTree") == [("theirs",)]


def write_text(path: Path) -> None:
    path.write_text("these are my notes, not a database\n" * 100, encoding="utf-8")


def write_view_in_the_way(path: Path) -> None:
    # ModuleCoverage comes after ModuleStatistic, so the failure comes when a part is written already.
    edit(
        path,
        "CREATE TABLE ModuleStatistic (a); INSERT INTO ModuleStatistic VALUES ('old'); CREATE VIEW ModuleCoverage AS SELECT 1",
    )


@pytest.mark.parametrize("write_old", [write_text, pytest.param(write_view_in_the_way, marks=pytest.mark.slow)])
def test_where_the_file_cannot_be_written_the_old_one_stays_byte_for_byte(
    tmp_path: Path, command: Callable[..., Result], write_old: Callable[[Path], None]
) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    database = tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    database.parent.mkdir()
    write_old(database)
    before = database.read_bytes()
    result = command("module-stats", "-d", tmp_path, "--export_type", "db")
    assert result.exit_code == 3
    assert result.stdout == command("module-stats", "-d", tmp_path).stdout
    assert result.stderr.startswith(f"error: {database}: cannot be written (")
    assert result.stderr.count("\n") == 1
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == ["cluster_analysis.db"]


def test_nothing_is_written_when_there_is_nothing_to_write(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    assert command("module-stats", "-d", tmp_path, "-o", tmp_path / "out").exit_code == 2
    assert not (tmp_path / "out").exists()


class Writer(Thread):
    """A command that writes a table of one row, and has read the row when `reads` is set; it goes on when `goes_on` is."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__()
        self.reads, self.goes_on = Event(), Event()
        self._folder, self._name = folder, name
        self._errors: list[BaseException] = []
        self.start()

    def run(self) -> None:
        try:
            with duckdb.connect() as connection:
                connection.create_function("held", self._held, ["BIGINT"], "BIGINT", side_effects=True)
                columns = documented_tables()["free.unknown_cause"].columns
                values = ", ".join(f"'{self._name}' AS {column.shown_name}" for column in columns)
                connection.execute(
                    f"CREATE SCHEMA free; CREATE VIEW free.unknown_cause AS SELECT 'a' AS profile, {values} WHERE held(1) > 0"
                )
                rank = Rank("a", self._folder, rank_id=0)
                tables = {"free.unknown_cause": self._name}
                cluster_db.write(connection, [rank], self._folder, tables, documented_tables(), Origin(("a",), "same"), [])
        except BaseException as error:
            self._errors.append(error)

    def _held(self, value: int) -> int:
        self.reads.set()
        assert self.goes_on.wait(30)
        return value

    def finish(self) -> None:
        self.goes_on.set()
        self.join(60)
        assert not self.is_alive()
        assert not self._errors


def tables_of(database: Path) -> set[str]:
    return {name for (name,) in read(database, "SELECT name FROM sqlite_master")}


def test_commands_that_make_the_same_file_at_once_all_keep_their_tables_and_a_reader_sees_whole_answers(tmp_path: Path) -> None:
    database = tmp_path / "cluster_analysis.db"
    first, second, third = (Writer(tmp_path, name) for name in ("First", "Second", "Third"))
    try:
        for writer in (first, second, third):
            assert writer.reads.wait(30)
        assert not database.exists()
        third.finish()
        assert tables_of(database) == {"ProfileRank", "Provenance", "Third"}
        with closing(sqlite3.connect(database)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM Third").fetchall() == [(1,)]
            first.goes_on.set()
            second.goes_on.set()
            first.join(0.3)
            assert reader.execute("SELECT count(*) FROM sqlite_master").fetchall() == [(3,)]
    finally:
        for writer in (first, second, third):
            writer.finish()
    assert tables_of(database) == {"ProfileRank", "Provenance", "First", "Second", "Third"}
    assert [read(database, f"SELECT cause FROM {name}") for name in ("First", "Second", "Third")] == [
        [("First",)], [("Second",)], [("Third",)]
    ]  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["cluster_analysis.db"]


@pytest.mark.parametrize("name", [b"\xc4\xa3\xd0\xcd", b"it's 100% #1 ?x=y %41"])
def test_a_folder_has_the_file_whatever_its_name(tmp_path: Path, name: bytes) -> None:
    """The first name is GBK, as Windows in Chinese packs it."""
    folder = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))  # noqa: PTH118
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    write_profile(folder / "a_ascend_pt", OPS, RANGES)
    for _ in range(2):  # Makes the file, and writes into it.
        database = export(folder)
        assert [path.name for path in database.parent.iterdir()] == ["cluster_analysis.db"]
        assert database.read_bytes()[:15] == b"SQLite format 3"


@pytest.mark.slow
def test_on_a_disk_without_links_the_file_is_made_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = []

    def refuse(*paths: object) -> None:
        refused.append(paths)
        raise PermissionError(1, "Operation not permitted")

    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    monkeypatch.setattr(os, "link", refuse)
    database = export(tmp_path)
    assert len(refused) == 1
    assert tables_of(database) == OURS
    assert [path.name for path in database.parent.iterdir()] == ["cluster_analysis.db"]


@pytest.mark.slow
@pytest.mark.parametrize("export_type", ["db", *(pytest.param(one, marks=pytest.mark.slow) for one in ("csv", "text"))])
def test_a_comparison_of_ranks_does_not_stay_beside_the_tables_of_one_rank(tmp_path: Path, export_type: str) -> None:
    for rank in (0, 1):
        write_profile(tmp_path / f"{rank}_ascend_pt", OPS, RANGES, rank=rank)
    found = []
    for ranks in (None, [0]):
        with open_profile(tmp_path, rank_list=ranks) as profile:
            written = profile.export(export_type=export_type)
        files = {path.stem for path in written[0].parent.iterdir()}
        found.append(tables_of(written[0]) if export_type == "db" else files)
    # A workbook has it as a sheet; of the other rank, the workbook of msprof-analyze stays.
    compared = {"db": {"ModuleAcrossRanks"}, "csv": {"module_across_ranks"}, "text": set[str]()}
    assert found[0] - found[1] == compared[export_type]
    assert not found[1] - found[0]


@pytest.mark.parametrize("avg_mfu", [["1.86%"], []])
def test_module_statistic_has_the_mfu_behind_its_columns_only_if_there_is_one(tmp_path: Path, avg_mfu: list[str]) -> None:
    table = documented_tables()["module.statistic"]
    definition = ", ".join(f"{one.shown_name} {one.shown_type}" for one in table.columns)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE SCHEMA module; CREATE TABLE module.statistic (profile VARCHAR, {definition})")
        for value in (*avg_mfu, None):
            connection.execute(
                "INSERT INTO module.statistic (profile, op_count, avg_mfu) VALUES ('a', 3, $mfu)", {"mfu": value}
            )
        exports, tables = {table.name: "ModuleStatistic"}, {table.name: table}
        database = cluster_db.write(connection, [], tmp_path, exports, tables, Origin(("a",)), [])
    names = [name for name, _ in columns(database, "ModuleStatistic")]
    of_msprof_analyze = [
        "parentModule",
        "module",
        "opName",
        "kernelList",
        "totalKernelDuration(ns)",
        "avgKernelDuration(ns)",
        "opCount",
    ]
    assert names == [*of_msprof_analyze, *["avgMFU"] * len(avg_mfu), "rankID"]
    if avg_mfu:
        assert read(database, "SELECT opCount, avgMFU FROM ModuleStatistic") == [(3, "1.86%"), (3, None)]
