"""csv, parquet and json: one file per table, all ranks in one; duckdb: one file. All have the columns and values of the API."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.csv
import pyarrow.parquet
import pytest

from prof_analysis import InputError, OutputError, Profile, open_profile
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

RANGES = (Range("Net", 100, 200), Range('Layer, "of" 1\n模块', 105, 125))
OPS = (
    Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040), Kernel("add_kernel", 1050, 1051))),
    Op("aten::add", 130, 140, (Kernel("add_kernel", 1200, 1210),)),
)
FORMATS = ["csv", "parquet", "json"]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks, one of them without a number."""
    folder = tmp_path_factory.mktemp("ranks")
    write_profile(folder / "a_ascend_pt", OPS, RANGES, rank=3)
    write_profile(folder / "b_ascend_pt", OPS[1:], RANGES, unlinked=[Kernel("lost", 2000, 2003)], rank=None)
    return folder


@pytest.fixture(scope="module")
def profile(ranks: Path) -> Iterator[Profile]:
    with open_profile(ranks) as profile:
        yield profile


def read_csv(path: Path) -> Any:
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    return pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True), convert_options=options)


def read_json(path: Path) -> Any:
    return pyarrow.Table.from_pylist(json.loads(path.read_text(encoding="utf-8")))


READERS: dict[str, Callable[[Path], Any]] = {"csv": read_csv, "parquet": pyarrow.parquet.read_table, "json": read_json}


@pytest.mark.parametrize("file_format", FORMATS)
def test_each_file_holds_what_the_api_gives(profile: Profile, tmp_path: Path, file_format: str) -> None:
    written = profile.export(tmp_path, file_format)
    expected = {
        "module_statistic": profile.table("module.statistic", arrow=True),
        "module_tree": profile.table("module.tree", arrow=True),
        "module_coverage": profile.table("module.coverage", arrow=True),
        "module_across_ranks": profile.table("across.module", arrow=True),
    }
    assert written == [tmp_path / "cluster_analysis_output" / f"{name}.{file_format}" for name in expected]
    for path, table in zip(written, expected.values(), strict=True):
        found = READERS[file_format](path)
        assert found.column_names == table.column_names
        assert found.to_pylist() == table.to_pylist()
    assert expected["module_statistic"]["rank_id"].to_pylist() == [3, 3, None]


def test_parquet_keeps_the_types(profile: Profile, tmp_path: Path) -> None:
    expected = [
        profile.table("module.statistic", arrow=True),
        profile.table("module.tree", arrow=True),
        profile.table("module.coverage", arrow=True),
    ]
    expected.append(profile.table("across.module", arrow=True))
    for path, table in zip(profile.export(tmp_path, "parquet"), expected, strict=True):
        schema = pyarrow.parquet.read_schema(path)
        assert list(zip(schema.names, schema.types, strict=True)) == list(
            zip(table.schema.names, table.schema.types, strict=True)
        )


def test_csv_tells_an_unknown_rank_from_an_empty_text(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS[1:], RANGES[:1], rank=None)
    with open_profile(tmp_path) as profile:
        statistic, *_ = profile.export(tmp_path / "out", "csv")
    assert statistic.read_text(encoding="utf-8") == (
        "profile,rank_id,parent_module,module,op_name,kernel_list,total_kernel_duration_ns,avg_kernel_duration_ns,op_count,"
        "avg_mfu,op_chain\n"
        'a_ascend_pt,,"",Net,aten::add,add_kernel,10,10.0,1,,aten::add\n'
    )


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_former_file_is_replaced_and_nothing_else_is_left_behind(profile: Profile, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "cluster_analysis_output"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / f"module_tree.{file_format}").write_text("old", encoding="utf-8")
    written = profile.export(tmp_path, file_format)
    assert sorted(folder.iterdir()) == sorted([*written, folder / "notes.txt"])
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert READERS[file_format](written[1]).to_pylist() == profile.table("module.tree", arrow=True).to_pylist()


def test_a_duckdb_file_has_all_tables_and_says_what_they_mean(profile: Profile, tmp_path: Path) -> None:
    (file,) = profile.export(tmp_path, "duckdb")
    assert file == tmp_path / "cluster_analysis_output" / "module_statistic.duckdb"
    expected = {
        "ModuleStatistic": profile.table("module.statistic", arrow=True),
        "ModuleTree": profile.table("module.tree", arrow=True),
        "ModuleCoverage": profile.table("module.coverage", arrow=True),
        "ModuleAcrossRanks": profile.table("across.module", arrow=True),
    }
    with duckdb.connect(file, read_only=True) as written:
        for name, table in expected.items():
            found = written.sql(f"FROM {name}").to_arrow_table()
            assert found.column_names == table.column_names
            assert found.to_pylist() == table.to_pylist()
        ranks = written.sql("FROM ProfileRank").fetchall()
        origins = written.sql("SELECT table_name, json_array_length(inputs) FROM Provenance").fetchall()
        comments = dict(written.sql("SELECT table_name, comment FROM duckdb_tables()").fetchall())
        meanings = written.sql("SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal").fetchall()
    assert ranks == [("a_ascend_pt", 3, None, "ascend_pytorch_profiler_3.db"), ("b_ascend_pt", None, None, None)]
    assert origins == [(name, 2) for name in (*expected, "ProfileRank")]
    assert comments.keys() == {*expected, "ProfileRank", "Provenance"}
    assert all(comment.startswith("One row is ") for comment in comments.values())
    assert ("ModuleTree", "depth", "1 for an outermost module") in meanings
    assert not [column for *column, comment in meanings if not comment]


@pytest.mark.parametrize("file_format", [*FORMATS, "duckdb"])
def test_where_a_file_cannot_be_written_the_error_names_it_and_no_half_file_stays(
    profile: Profile, tmp_path: Path, file_format: str
) -> None:
    folder = tmp_path / "cluster_analysis_output"
    in_the_way = folder / f"module_statistic.{file_format}"
    in_the_way.mkdir(parents=True)
    with pytest.raises(OutputError) as error:
        profile.export(tmp_path, file_format)
    assert str(error.value).startswith(f"{in_the_way}: cannot be written (")
    assert "\n" not in str(error.value)
    assert list(folder.iterdir()) == [in_the_way]


@pytest.mark.parametrize("file_format", ["db", *FORMATS, "duckdb"])
def test_a_folder_with_odd_characters_is_written_to(profile: Profile, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "it's 100% [new] ?#*结果" / "cluster_analysis_output"
    written = profile.export(folder.parent, file_format)
    assert sorted(folder.iterdir()) == sorted(written)
    assert [path.stat().st_size > 0 for path in written] == [True] * len(written)


@pytest.mark.slow
@pytest.mark.parametrize("file_format", [pytest.param("text", marks=pytest.mark.slow), "csv"])
def test_threads_that_write_to_one_folder_do_not_disturb_each_other(ranks: Path, tmp_path: Path, file_format: str) -> None:
    def export(_: int) -> list[Path]:
        with open_profile(ranks, cache=tmp_path / "store") as profile:
            return profile.export(tmp_path, file_format)

    first = export(0)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(export, range(4))) == [first] * 4
    assert not [file for file in tmp_path.rglob("*") if "unfinished" in file.name]


@pytest.mark.parametrize("file_format", ["xls", "", "CSV"])
def test_an_unknown_type_is_refused_before_anything_is_built(ranks: Path, tmp_path: Path, file_format: str) -> None:
    with open_profile(ranks, cache=tmp_path / "store") as profile, pytest.raises(InputError) as error:
        profile.export(tmp_path, file_format)
    assert str(error.value).startswith(f"export_type='{file_format}': give db, xlsx, csv, parquet, json, duckdb, text, excel")
    assert not list(tmp_path.rglob("*.parquet"))
    assert not (tmp_path / "cluster_analysis_output").exists()


@pytest.mark.parametrize("file_format", ["db", "text", *FORMATS, "duckdb"])
def test_on_a_disk_that_became_read_only_that_is_the_error(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    """As on a file system that became read-only: what is there cannot be removed either."""
    profile.export(tmp_path, file_format)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(os, "unlink", refuse)
    if file_format == "db":
        (tmp_path / "cluster_analysis_output" / "cluster_analysis.db").rename(tmp_path / "old.db")
    with pytest.raises(OutputError, match=r"cannot be written \(Read-only file system\)"):
        profile.export(tmp_path, file_format)
