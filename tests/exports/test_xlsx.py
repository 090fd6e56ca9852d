"""The workbooks: readable, safe to open, and with the sheet that users of msprof-analyze know."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Unpack

import openpyxl
import pytest
from openpyxl import Workbook
from openpyxl.utils import column_index_from_string
from openpyxl.worksheet.worksheet import Worksheet
from typer.testing import Result

from prof_analysis import OutputError, ProfAnalysisWarning, open_profile
from prof_analysis.analyses import ANALYSES, COMPARED
from prof_analysis.common.options import Keywords
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.tables import documented_tables
from prof_analysis.exports.cells import MAX_CHARACTERS, Page
from prof_analysis.exports.sheets import Column, Sheet, sheet_of
from prof_analysis.exports.xlsx import _write_workbook
from tests.helpers.small_profile import Kernel, Matmul, Op, Range, write_profile

HEADERS = (
    "Parent Module",
    "Module",
    "Op Name",
    "Kernel List",
    "Total Kernel Duration(ns)",
    "Avg Kernel Duration(ns)",
    "Op Count",
)


def layers(folder: Path, count: int, name: str = "Layer", outside: bool = False, rank: int = 0) -> None:
    """Calls of Net/Layer that all run another op, so each is a row of its own; before each a call of Other/Layer.

    Outside modules there can be an op, and a kernel without one.
    """
    ranges, ops = [], []
    for number in range(count):
        start = 1000 * number
        ranges += [Range("Other", start, start + 90), Range(name, start + 1, start + 80)]
        ranges += [Range("Net", start + 100, start + 900), Range(name, start + 200, start + 800)]
        ops.append(Op("first", start + 10, start + 20, (Kernel("k", start, start + 3),)))
        ops.append(Op(f"op{number}", start + 300, start + 310, (Kernel("k", start + 10, start + 15),)))
    if outside:
        ops.append(Op("optimizer", 1000 * count, 1000 * count + 10, (Kernel("k", 20, 26),)))
    write_profile(folder, ranges=ranges, ops=ops, unlinked=[Kernel("k", 30, 32)] * outside, rank=rank)


def write(path: Path, **options: Unpack[Keywords]) -> dict[str, Worksheet]:
    """Export the module statistics, and return all sheets: those over all ranks, and that of msprof-analyze of one rank."""
    with open_profile(path, **options) as profile:
        files = profile.export(export_type="text")
    assert [file.name for file in files] == ["module_statistic.xlsx", "module_statistic_0.xlsx"]
    return {sheet.title: sheet for file in files for sheet in openpyxl.load_workbook(file).worksheets}


def values(sheet: Worksheet) -> list[tuple[object, ...]]:
    return list(sheet.iter_rows(values_only=True))


def test_the_workbook_of_a_rank_is_laid_out_like_that_of_msprof_analyze(tmp_path: Path) -> None:
    layers(tmp_path / "a_ascend_pt", 1)
    sheet = write(tmp_path)["Sheet1"]
    assert values(sheet) == [
        HEADERS,
        ("Other", "Layer", "first", "k", 3, 3, 1),
        ("Net", "Layer", "op0", "k", 5, 5, 1),
    ]
    assert sheet.freeze_panes == "A2"
    for row in sheet.iter_rows():
        for cell in row:
            assert cell.font.name == "Times New Roman"
            assert cell.font.bold == (cell.row == 1)
            assert cell.alignment.vertical == "center"
            assert cell.border.left.style == cell.border.bottom.style == "thin"
            assert cell.fill.fgColor.rgb == ("FFAFEEEE" if cell.row == 1 else "00000000")
    assert [sheet[f"{letter}2"].number_format for letter in "EFG"] == ["#,##0", "#,##0.00", "#,##0"]


def test_cells_merge_over_equal_neighbours_but_a_module_never_across_parents(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("A", 0, 400), Range("L", 10, 300), Range("B", 500, 900), Range("L", 510, 800)],
        ops=[
            Op("a1", 20, 30, (Kernel("k", 0, 1),)),
            Op("a2", 40, 50, (Kernel("k", 2, 4),)),
            Op("a3", 310, 320, (Kernel("k", 5, 8),)),
            Op("b1", 520, 530, (Kernel("k", 9, 13),)),
            Op("b2", 540, 550, (Kernel("k", 14, 19),)),
        ],
    )
    sheets = write(tmp_path)
    assert [row[:3] for row in values(sheets["Sheet1"])[1:]] == [
        ("A", "L", "a1"),
        (None, None, "a2"),
        (None, "A", "a3"),
        ("B", "L", "b1"),
        (None, None, "b2"),
    ]
    assert {str(merged) for merged in sheets["Sheet1"].merged_cells.ranges} == {"A2:A3", "B2:B3", "A5:A6", "B5:B6"}
    assert [row[:4] for row in values(sheets["Rows"])[1:]] == [
        (0, "A", "L", "a1"),
        (0, "A", "L", "a2"),
        (0, None, "A", "a3"),
        (0, "B", "L", "b1"),
        (0, "B", "L", "b2"),
        ("Total", None, None, None),
    ]
    assert not sheets["Rows"].merged_cells.ranges
    assert sheets["Rows"].auto_filter.ref == "A1:H6"


def test_the_tree_comes_first_and_folds(tmp_path: Path) -> None:
    layers(tmp_path / "a_ascend_pt", 1, outside=True)
    sheets = write(tmp_path)
    assert list(sheets) == ["About", "Tree", "Rows", "Coverage", "Columns", "Sheet1"]
    tree = sheets["Tree"]
    assert [row[:6] for row in values(tree)] == [
        ("Rank ID", "Module", "Calls", "Share of all kernel time", "Kernel duration (ns)", "Own kernel duration (ns)"),
        (0, "Other", 1, 3 / 16, 3, 0),
        (0, "Layer", 1, 3 / 16, 3, 3),
        (0, "Net", 1, 5 / 16, 5, 0),
        (0, "Layer", 1, 5 / 16, 5, 5),
        # No file of openpyxl has the value of a formula: the program that opens it computes 8.
        ("Total", None, None, None, None, "=SUBTOTAL(9,F2:F5)"),
    ]
    assert [tree.row_dimensions[number].outlineLevel for number in range(1, 7)] == [0, 0, 1, 0, 1, 0]
    outline = tree.sheet_properties.outlinePr
    assert outline is not None
    assert not outline.summaryBelow
    names = [tree.cell(number, 2).alignment for number in range(2, 6)]
    assert [(name.horizontal, name.indent) for name in names] == [("left", 1), ("left", 2), ("left", 1), ("left", 2)]
    assert tree.auto_filter.ref == "A1:H5"
    assert tree.freeze_panes == "C2", "the rank and the module stay in sight"
    assert values(sheets["Coverage"]) == [
        ("Rank ID", "Kernels", "Location", "Reason", "Share of the kind", "Kernel duration (ns)", "Kernel count", "Top ops"),
        (0, "compute", "inside modules", None, 0.5, 8, 2, None),
        (0, "compute", "outside modules", "outside every module", 0.375, 6, 1, "optimizer"),
        (0, "compute", "linked to no op", "no host launch", 0.125, 2, 1, None),
        ("Total", None, None, None, None, "=SUBTOTAL(9,F2:F4)", "=SUBTOTAL(9,G2:G4)", None),
    ]


def test_every_sheet_has_headings_of_its_own_and_sums_of_columns_that_it_has() -> None:
    exported = {table for one in ANALYSES.values() for table in (*one.exports, *one.of_several_ranks)} | {*COMPARED}
    assert exported >= {name for name, table in documented_tables().items() if table.sums}
    for name in exported:
        table = documented_tables()[name]
        in_front = ("run", "profile", "rank_id") if table.grain == "rank" else ()
        sheet = sheet_of(table, "Title", in_front, has_clear_ranks=False)
        headings = [column.header for column in sheet.columns]
        assert len({heading.casefold() for heading in headings}) == len(headings), name
        assert all(column.meaning for column in sheet.columns), name
        summed = [column for column in sheet.columns if column.adds_up]
        assert bool(summed) == (documented_tables()[name].sums != ()), name
        assert all(column.number_format for column in summed), name


def test_tables_of_module_paths_are_trees() -> None:
    for name in ("mfu.module", "pmu.module"):
        sheet = sheet_of(documented_tables()[name], "Title", (), has_clear_ranks=True)
        assert (sheet.depth, sheet.columns[0].header, sheet.columns[-1].header) == ("depth", "Module", "Parent module")


def page_of(path: Path, columns: tuple[Column, ...], rows: list[tuple[object, ...]]) -> Worksheet:
    """Write a sheet with these rows, the first value of each the depth in a tree, and read it as a spreadsheet does."""
    book = Workbook(write_only=True)
    page = Page(book, "Page", Sheet("Page", columns), rows, path.parent)
    for row in rows:
        page.write(row)
    page.finish()
    book.save(path)
    return openpyxl.load_workbook(path)["Page"]


def test_headings_and_values_fit_into_their_columns(tmp_path: Path) -> None:
    kernels = ", ".join(f"aclnnMm_MatMulCommon_MatMulV2_{number}" for number in range(5))
    columns = (
        Column("a", "Total Kernel Duration(ns)", "#,##0"),
        Column("b", "Avg Kernel Duration(ns)", "#,##0.00"),
        Column("c", "Kernel List"),
        Column("d", "Name"),
    )
    sheet = page_of(tmp_path / "a.xlsx", columns, [(None, 123_456_789_012, 0.5, kernels, "短"), (None, 1, 1.0, "k", "k")])
    widths = [sheet.column_dimensions[letter].width for letter in "ABCD"]
    for column, width in zip(columns, widths, strict=True):
        # Each word of a heading fits beside the arrow of the filter.
        assert max(map(len, column.header.split())) + 2 < width < 62
    assert widths[0] > len("123,456,789,012")
    # A long list takes several lines, which the row has room for.
    assert sheet["C2"].alignment.wrap_text
    assert sheet["C2"].value == kernels
    assert sheet.row_dimensions[2].height >= 15 * len(kernels) / widths[2]
    assert sheet.row_dimensions[1].height >= 2 * 15


def test_a_row_is_as_high_as_its_text_needs_in_the_widest_column(tmp_path: Path) -> None:
    words = " ".join(("a" * 54, "b" * 54))
    sheet = page_of(tmp_path / "a.xlsx", (Column("a", "Kernel List"),), [(None, words), (None, f"{words} c d e"), (None, "a")])
    assert 60 < sheet.column_dimensions["A"].width < 62
    # Each long word fills a line, without room for a short one behind it.
    assert [sheet.row_dimensions[row].height for row in (2, 3, 4)] == [2 * 15, 3 * 15, None]


def test_an_mfu_is_a_number_and_several_stay_a_text(tmp_path: Path) -> None:
    columns = (Column("a", "Avg MFU", "0.00%"),)
    sheet = page_of(tmp_path / "a.xlsx", columns, [(None, "1.86%"), (None, "45.2%,46.0%"), (None, None), (None, "%")])
    found = [(cell.value, cell.data_type) for (cell,) in sheet.iter_rows(min_row=2)]
    assert found == [(0.0186, "n"), ("45.2%,46.0%", "s"), (None, "n"), ("%", "s")]
    assert sheet["A2"].number_format == "0.00%"


def test_a_tree_of_any_depth_is_written(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [(depth, f"level {depth}") for depth in range(1, 301)]
    sheet = page_of(tmp_path / "a.xlsx", (Column("a", "Module"),), rows)
    assert [value for (value,) in values(sheet)[1:]] == [name for _, name in rows]
    # A spreadsheet has 250 indents and 7 levels that fold.
    assert [sheet.cell(row, 1).alignment.indent for row in (250, 251, 252, 301)] == [249, 250, 250, 250]
    assert [sheet.row_dimensions[row].outlineLevel for row in (8, 9, 10, 301)] == [6, 7, 7, 7]


def test_sums_follow_the_filter(tmp_path: Path) -> None:
    columns = (Column("a", "Name"), Column("b", "Count", "#,##0", adds_up=True), Column("c", "Share", "0.0%"))
    rows: list[tuple[object, ...]] = [(None, "=1+1", 3, 0.5), (None, "b", None, 0.5), (None, "c", 4, None)]
    sheet = page_of(tmp_path / "a.xlsx", columns, rows)
    assert [cell.value for cell in sheet[5]] == ["Total", "=SUBTOTAL(9,B2:B4)", None]
    assert sheet.auto_filter.ref == "A1:C4"


def test_no_name_becomes_a_formula(tmp_path: Path) -> None:
    names = ["=1+1", "+1", "-1", "@x", "=HYPERLINK(1)", "control \x07 sign", "😀", "{=1}", "<r><t>x</t></r>", "_x0041_"]
    ranges = [Range(name, 100 * number, 100 * number + 90) for number, name in enumerate(names)]
    ops = [Op(name, one.start + 10, one.start + 20, (Kernel(name, 0, 3),)) for name, one in zip(names, ranges, strict=True)]
    write_profile(tmp_path / "a_ascend_pt", ops, ranges)
    sheets = write(tmp_path)
    files = (tmp_path / "cluster_analysis_output" / "ModuleStatistic").iterdir()
    cells = [cell for file in files for sheet in openpyxl.load_workbook(file) for row in sheet.iter_rows() for cell in row]
    formulas = {str(cell.value).split("(")[0] for cell in cells if cell.data_type == "f"}
    assert formulas == {"=SUBTOTAL"}
    # openpyxl does not decode what stands for the _ of a text that looks like a coded character.
    found = [tuple(str(name).replace("_x005F_", "_") for name in row[2:5]) for row in values(sheets["Rows"])[1:-1]]
    assert found == [(shown,) * 3 for shown in (name.replace("\x07", "\ufffd") for name in names)]


@pytest.mark.parametrize("sign", [pytest.param("x", marks=pytest.mark.slow), "😀"])
def test_a_text_too_long_for_a_cell_is_cut_and_said(sign: str, tmp_path: Path) -> None:
    layers(tmp_path / "a_ascend_pt", 1, sign * 40_000)
    with pytest.warns(ProfAnalysisWarning, match=r"module_statistic.xlsx: \d+ cells .*32,767 characters"):
        text = write(tmp_path)["Rows"]["C2"].value
    assert isinstance(text, str)
    assert set(text) == {sign}
    assert len(text.encode("utf-16-le")) // 2 in (MAX_CHARACTERS - 1, MAX_CHARACTERS)


def test_more_rows_than_a_sheet_holds_go_on_in_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prof_analysis.exports.xlsx.MAX_ROWS", 5)
    layers(tmp_path / "a_ascend_pt", 3)
    sheets = write(tmp_path)
    assert [*sheets][:6] == ["About", "Tree", "Tree (2)", "Rows", "Rows (2)", "Coverage"]
    both = values(sheets["Rows"])[1:] + values(sheets["Rows (2)"])[1:]
    with open_profile(tmp_path) as profile:
        assert [row[3] for row in both if row[0] != "Total"] == profile.module_stats()["op_name"].tolist()


def test_the_workbook_of_msprof_analyze_is_named_by_what_is_unique(tmp_path: Path, command: Callable[..., Result]) -> None:
    for folder, rank in (("a", 0), ("b", 1), ("c", 1), ("d", None)):
        write_profile(
            tmp_path / "deep" / f"{folder}_ascend_pt",
            ranges=[Range("A", 0, 100)],
            ops=[Op("op", 10, 20, (Kernel("k", 200, 203),))],
            rank=rank,
        )
    assert command("module-stats", "-d", tmp_path, "--export-type", "xlsx").exit_code == 0
    written = tmp_path / "cluster_analysis_output" / "ModuleStatistic"
    assert {file.name for file in written.iterdir()} == {
        "module_statistic.xlsx",
        "module_statistic_0.xlsx",
        "module_statistic_deep_b_ascend_pt.xlsx",
        "module_statistic_deep_c_ascend_pt.xlsx",
        "module_statistic_deep_d_ascend_pt.xlsx",
    }


def text_of(sheet: Worksheet) -> str:
    return "\n".join(str(value) for row in values(sheet) for value in row if value is not None)


def test_one_workbook_has_all_ranks_and_says_what_it_is(tmp_path: Path, command: Callable[..., Result]) -> None:
    for rank in (0, 1):
        layers(tmp_path / f"{rank}_ascend_pt", 2, rank=rank)
    assert command("kernel-stats", "-d", tmp_path, "--export-type", "xlsx").exit_code == 0
    (file,) = (tmp_path / "cluster_analysis_output" / "KernelStatistic").iterdir()
    assert file.name == "kernel_statistic.xlsx"
    book = openpyxl.load_workbook(file)
    assert book.sheetnames == ["About", "KernelStatistic", "KernelStatisticAllRanks", "Columns"]
    about = values(book["About"])
    assert about[0][0] == "Which types of kernels cost the time?"
    said = text_of(book["About"])
    for part in ("2 ranks: 0, 1", "KernelStatisticAllRanks", "0_ascend_pt", "by prof-analysis", "1 ms is 1,000,000 ns"):
        assert part in said
    # Times are in a unit that people read, and beside the page in ns.
    (heading,) = (row for row in about if row[0] == "Type")
    total = about[about.index(heading) + 1]
    assert total[heading.index("Total (us)")] == 0.032
    assert total[heading.index("Total (ns)")] == 32
    printed = str(book["About"].print_area).replace("$", "")
    assert column_index_from_string(printed.rpartition(":")[2].rstrip("0123456789")) <= heading.index("Total (ns)")
    table = book["KernelStatistic"]
    assert [row[:2] for row in values(table)] == [("Rank ID", "Kind"), (0, "compute"), (1, "compute"), ("Total", None)]


def test_ranks_are_told_apart_by_folder_where_their_numbers_do_not(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        layers(tmp_path / f"{folder}_ascend_pt", 1, rank=0)
    with open_profile(tmp_path) as profile:
        (file,) = profile.export(export_type="xlsx", analysis="kernel-stats")
    assert [row[-1] for row in values(openpyxl.load_workbook(file)["KernelStatistic"])] == [
        "Profile", "a_ascend_pt", "b_ascend_pt", None
    ]  # fmt: skip


def test_ranks_with_too_many_rows_for_a_sheet_go_on_in_a_further_workbook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rank in range(3):
        layers(tmp_path / f"{rank}_ascend_pt", 1, rank=rank)
    with open_profile(tmp_path) as profile:
        monkeypatch.setattr("prof_analysis.exports.xlsx.MAX_ROWS", 10)
        with pytest.warns(
            ProfAnalysisWarning, match=r"statistic_part2.xlsx: part 2 of 2, 1 rank: 2: all ranks .* than a sheet"
        ):
            files = profile.export(export_type="xlsx")
        assert [file.name for file in files[:3]] == [
            "module_statistic.xlsx", "module_statistic_part2.xlsx", "module_statistic_0.xlsx"
        ]  # fmt: skip
        books = [openpyxl.load_workbook(file) for file in files[:2]]
        assert [[row[0] for row in values(book["Tree"])[1:-1]] for book in books] == [[0] * 4 + [1] * 4, [2] * 4]
        assert ["ModuleAcrossRanks" in book.sheetnames for book in books] == [True, False]
        assert "1 of 2: 2 ranks: 0, 1" in text_of(books[0]["About"])
        assert [values(book["About"])[0][0] for book in books] == ["Which modules cost the time, by which ops and kernels?"] * 2
        monkeypatch.undo()
        assert files[1] not in profile.export(export_type="xlsx")
    assert not files[1].exists(), "an earlier export has left it"


def test_each_sheet_prints_on_one_page_wide_and_findings_can_be_read(tmp_path: Path, kept: Path, kept_sample: Path) -> None:
    with open_profile(kept_sample, cache=kept) as profile:
        (file,) = profile.export(tmp_path, "xlsx", "advise")
        found = profile.rows("SELECT title, what_to_do FROM advice.finding")
    book = openpyxl.load_workbook(file)
    assert book.sheetnames[:3] == ["About", "Findings", "Finding"]
    for sheet in book.worksheets:
        assert sheet.sheet_properties.pageSetUpPr is not None
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.page_setup.fitToHeight == 0, "as many pages below each other as there are rows"
        assert sheet.title == "About" or sheet.print_title_rows == "$1:$1"
    findings = book["Findings"]
    heading, *rows = [tuple(map(str, row)) for row in values(findings)]
    assert heading == ("Finding", "Where", "Evidence", "Also in", "To do")
    assert [row[0].partition(": ")[0].partition(". ")[2] for row in rows] == [row["title"] for row in found]
    assert rows[0][-1] == found[0]["what_to_do"]
    assert findings.page_setup.orientation == "landscape"
    assert sum(findings.column_dimensions[letter].width for letter in "ABCDE") < 230
    long = max(range(len(rows)), key=lambda number: len(rows[number][2]))
    assert findings.row_dimensions[long + 2].height >= 15 * len(rows[long][2]) / findings.column_dimensions["C"].width


def test_the_columns_of_all_sheets_are_explained_by_the_heads(tmp_path: Path) -> None:
    layers(tmp_path / "a_ascend_pt", 1)
    sheets = write(tmp_path)
    (row,) = (row for row in values(sheets["Columns"]) if row[:2] == ("Tree", "Own kernel duration (ns)"))
    assert row[2:] == ("own_kernel_duration_ns", "time of the kernels that ops directly in the module launched, ns")


def test_the_sample_has_the_rows_of_the_api(tmp_path: Path, kept: Path, kept_sample: Path) -> None:
    with open_profile(kept_sample, rank_list=[1], cache=kept) as profile:
        file, _ = profile.export(tmp_path, "text")
        frame = profile.table("module.statistic").drop(columns=["profile", "op_chain"])
    sheet = openpyxl.load_workbook(file)["Rows"]
    *found, total = [tuple("" if value is None else value for value in row) for row in values(sheet)[1:]]
    assert total == ("Total", "", "", "", "", f"=SUBTOTAL(9,F2:F{len(frame) + 1})", "", "", "")
    # A workbook holds 16 digits of a mean.
    frame["avg_mfu"] = [round(float(mfu[:-1]) / 100, 9) if isinstance(mfu, str) else "" for mfu in frame["avg_mfu"]]
    frame["avg_kernel_duration_ns"] = [float(f"{mean:.16g}") for mean in frame["avg_kernel_duration_ns"]]
    assert found == [tuple(row) for row in frame.itertuples(index=False)]


@pytest.mark.slow
def test_ranks_whose_names_would_be_one_file_have_a_workbook_each(tmp_path: Path) -> None:
    for number, folder in enumerate(("a b_ascend_pt", "a_b_ascend_pt", "x/A_ascend_pt", "x_a_ascend_pt")):
        op = Op("op", 10, 20, (Kernel("k", 200, 203 + number),))
        write_profile(tmp_path / folder, ranges=[Range("A", 0, 100)], ops=[op], rank=None)
    with open_profile(tmp_path) as profile:
        _, *files = profile.export(export_type="text")
        assert len({str(file).casefold() for file in profile.export(export_type="text")}) == 5
    assert files[0].parent.is_dir()
    assert [openpyxl.load_workbook(file)["Sheet1"]["E2"].value for file in files] == [3, 4, 5, 6]


@pytest.mark.slow
def test_the_workbooks_of_many_ranks_take_no_more_queries_than_those_of_few(tmp_path: Path) -> None:
    # A query reads the files of all ranks: with queries for each rank, time would grow with the square of their number.
    for rank in range(4):
        layers(tmp_path / f"{rank}_ascend_pt", 1, rank=rank)
    queries: list[tuple[int]] = []
    for count in (2, 4):
        with open_profile(tmp_path, rank_list=range(count)) as profile:
            profile.export(export_type="csv")
            profile._session.connection.execute("CALL enable_logging('QueryLog'); CALL truncate_duckdb_logs()")
            assert len(profile.export(tmp_path / str(count), "text")) == count + 1
            logged = "SELECT count(*) FROM duckdb_logs WHERE type = 'QueryLog'"
            queries += profile._session.connection.execute(logged).fetchall()
            profile._session.connection.execute("CALL disable_logging()")  # The next one may get the same instance.
    assert queries[0] == queries[1] > (0,)


@pytest.mark.slow
def test_ranks_whose_names_are_too_long_for_a_file_have_a_workbook_each(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        deep = tmp_path / ("模" * 60) / ("x" * 100) / f"{folder}_ascend_pt"
        write_profile(deep, [Op("op", 10, 20, (Kernel("k", 200, 203),))], [Range("A", 0, 100)], rank=0)
    with open_profile(tmp_path) as profile:
        files = profile.export(export_type="text")
    assert len(set(files)) == 3
    assert [len(file.name.encode()) < 256 and file.stat().st_size > 0 for file in files] == [True] * 3


@pytest.mark.slow
def test_moments_keep_every_digit_and_flops_stay_numbers(tmp_path: Path) -> None:
    start = 1_767_225_600_000_000_123
    kernel = Matmul("mm", start, start + 10_000, inputs="90000,90000;90000,90000", outputs="90000,90000")
    write_profile(tmp_path / "a_ascend_pt", [Op("mm", start - 50, start - 40, (kernel,))])
    with open_profile(tmp_path) as profile:
        (file,) = profile.export(export_type="text", analysis="mfu")
        (row,) = profile.rows("FROM mfu.kernel_efficiency")
    headers, cells = openpyxl.load_workbook(file)["MfuKernel"].iter_rows()
    found = {str(header.value): (cell.value, cell.data_type) for header, cell in zip(headers, cells, strict=True)}
    assert found["Start (ns)"] == (str(start), "s")
    assert found["End (ns)"] == (str(start + 10_000), "s")
    assert found["Duration (ns)"] == (10_000, "n")
    assert row["flops"] > 10**15
    assert found["FLOPs"] == (row["flops"], "n")


@pytest.mark.slow
def test_where_a_folder_cannot_be_made_the_error_says_so(tmp_path: Path) -> None:
    layers(tmp_path / "a_ascend_pt", 1)
    in_the_way = tmp_path / "cluster_analysis_output" / "ModuleStatistic"
    in_the_way.parent.mkdir()
    in_the_way.write_text("mine", encoding="utf-8")
    with (
        open_profile(tmp_path) as profile,
        pytest.raises(OutputError, match=r"ModuleStatistic: cannot be made \(File exists\)"),
    ):
        profile.export(export_type="text")
    assert in_the_way.read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows_of_a_sheet", "limit", "named"),
    [
        pytest.param(4, 30_000, "module_statistic.xlsx: cannot be written", id="the workbook"),
        pytest.param(1000, 9_000, f"{gettempdir()}: temporary files cannot be written", id="a temporary file"),
    ],
)
def test_a_full_disk_is_one_error_and_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_of_a_sheet: int, limit: int, named: str
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr("prof_analysis.exports.xlsx.MAX_ROWS", rows_of_a_sheet)
    ignored: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", ignored.append)
    layers(tmp_path / "a_ascend_pt", 40)
    with open_profile(tmp_path) as profile:
        profile.rows("FROM module.statistic, module.tree, module.coverage LIMIT 0")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(OutputError) as error:
                profile.export(export_type="text")
            message = str(error.value)
            del error  # It holds the files that were open.
            gc.collect()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert named in message
    assert not ignored
    assert list((tmp_path / "cluster_analysis_output" / "ModuleStatistic").iterdir()) == []


def test_an_interrupted_export_leaves_no_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def rows() -> Iterator[tuple[object, ...]]:
        yield from ((None, number) for number in range(2000))
        assert list(tmp_path.glob("prof_analysis_*/2.xml"))
        raise KeyboardInterrupt

    sheet = Sheet("Page", (Column("a", "Count", "#,##0"),))
    with pytest.raises(KeyboardInterrupt), temporary_folder() as scratch:
        _write_workbook([], [(sheet, iter([(None, 1)])), (sheet, rows())], tmp_path / "a.xlsx", scratch)
    assert list(tmp_path.iterdir()) == []


KILLED = """
    import os, signal, sys
    from prof_analysis import open_profile
    from prof_analysis.exports.cells import Page

    def die(page, row):
        os.kill(os.getpid(), signal.SIGKILL)

    Page.write = die
    with open_profile(sys.argv[1], cache="none") as profile:
        profile.export(export_type="xlsx")
"""


@pytest.mark.slow
def test_a_killed_export_leaves_nothing_after_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "win32":
        pytest.skip("needs kill -9")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    layers(tmp_path / "a_ascend_pt", 2)
    words = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)]
    ended = subprocess.run(words, env={**os.environ, "TMPDIR": str(temporary)}, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert list(temporary.rglob("*.xml"))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with temporary_folder():
        pass
    assert list(temporary.iterdir()) == []
