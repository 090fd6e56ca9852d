"""A path is that one file or folder, whatever DuckDB would take its name for."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from prof_analysis import InputError, open_profile
from prof_analysis.engine.database import quote_path
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

Command = Callable[..., Result]

# A name, and others that it means as a pattern.
PATTERNS = [
    ("run[1]", ("run1",)), ("run?", ("run1", "run2")), ("**", ("deep/er",)), ("*", ("run1",)), ("[!a]x", ("bx",)),
]  # fmt: skip
PARTITIONS = ["lr=0.1/rank_id=7", "total_ns=5", "type=bf16", "profile=evil/kind=x", "date=2025-01-01"]
HEADER = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Shapes\r\n"


def write_csv(folder: Path, *durations_us: float) -> None:
    folder.mkdir(parents=True)
    rows = [f'1,mm,MatMul,AI_CORE,{1000 + 100 * n}.000\t,{us},0,20,"""4,4"""\r\n' for n, us in enumerate(durations_us)]
    (folder / "kernel_details.csv").write_bytes((HEADER + "".join(rows)).encode())


def totals(path: Path, store: Path | None = None) -> list[tuple[str, int | None, str, int]]:
    with open_profile(path, cache=store) as profile:
        frame = profile.sql("SELECT * FROM kernels.statistic", arrow=True)
        assert frame.column_names[:5] == ["profile", "rank_id", "kind", "type", "core"]
        assert len(frame.column_names) == 14
        return [(row["profile"], row["rank_id"], row["type"], row["total_ns"]) for row in frame.to_pylist()]


@pytest.mark.parametrize(("name", "others"), quick(PATTERNS, 0, 2))
def test_a_profile_below_a_folder_that_is_a_pattern_is_read_and_no_other(
    tmp_path: Path, name: str, others: tuple[str, ...]
) -> None:
    for other in others:
        write_csv(tmp_path / other / "a_ascend_pt", 50, 60, 70)
    write_csv(tmp_path / name / "a_ascend_pt", 12.5)
    assert totals(tmp_path / name) == [("a_ascend_pt", None, "MatMul", 12500)]


def test_two_slashes_in_front_of_a_path_are_one(tmp_path: Path) -> None:
    """A script that joins `/` and `/data` writes them."""
    database = write_profile(tmp_path / "a_ascend_pt", (Op("aten::mm", 110, 120, (Kernel("mm", 1000, 1040),)),))
    for path in (tmp_path, database):
        assert [total for *_, total in totals(Path(f"/{path}"))] == [40]


@pytest.mark.parametrize("name", quick(PARTITIONS, 0, 2))
def test_a_folder_named_like_a_partition_adds_and_replaces_no_column(tmp_path: Path, name: str) -> None:
    write_csv(tmp_path / name / "a_ascend_pt", 12.5)
    assert totals(tmp_path / name, tmp_path / "store" / name) == [("a_ascend_pt", None, "MatMul", 12500)]


@pytest.mark.slow
def test_a_store_whose_name_is_a_pattern_does_not_mix_with_others(tmp_path: Path) -> None:
    write_csv(tmp_path / "a_ascend_pt", 12.5)
    for _ in range(2):
        for store in ("run1", "run2", "run?", "run[1]", "**"):
            assert totals(tmp_path, tmp_path / "stores" / store) == [("a_ascend_pt", None, "MatMul", 12500)]


@pytest.mark.parametrize("name", quick(["run[1]", "total_ns=5/type=bf16", "**"], 0))
@pytest.mark.slow
def test_temporary_files_and_results_may_lie_below_any_name(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    place = tmp_path / "temporary" / name
    place.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040),)),)
    write_profile(tmp_path / name / "a_ascend_pt", ops, (Range("Net", 100, 200),), rank=3)
    for export_type in ("csv", "parquet", "text"):
        output = tmp_path / "out" / name / export_type
        done = command("module-stats", "-d", tmp_path / name, "-o", output, "--export_type", export_type)
        assert (done.exit_code, done.stderr) == (0, "")
    written = tmp_path / "out" / name / "csv" / "cluster_analysis_output" / "module_statistic.csv"
    assert written.read_text(encoding="utf-8").splitlines()[1] == 'a_ascend_pt,3,"",Net,aten::mm,mm_kernel,40,40.0,1,,aten::mm'
    assert (tmp_path / "out" / name / "text/cluster_analysis_output/ModuleStatistic/module_statistic_3.xlsx").is_file()
    assert list(place.iterdir()) == []


def test_a_path_that_cannot_be_told_to_duckdb_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rename the folder"):
        quote_path(tmp_path / "a\\b[1]" / "x.csv")
    assert quote_path(Path("/a\\b/it's.csv")) == "'/a\\b/it''s.csv'"
    write_csv(tmp_path / "a\\b" / "a_ascend_pt", 12.5)
    assert totals(tmp_path / "a\\b") == [("a_ascend_pt", None, "MatMul", 12500)]
    shutil.rmtree(tmp_path / "a\\b")
