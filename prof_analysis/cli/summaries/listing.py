"""The output of `ranks`, `tables`, `sql` and `cache ls`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.table import Table as Grid

from prof_analysis.analyses import ANALYSES
from prof_analysis.cli.terminal import console, grid_of, text_of
from prof_analysis.sources import SOURCES

if TYPE_CHECKING:
    import pyarrow

    from prof_analysis.engine.tables import Table
    from prof_analysis.run.entries import Entry


def print_ranks(rows: list[dict[str, Any]]) -> None:
    """Print what was found, one paragraph per rank."""
    out = console()
    run = ""
    for row in rows:
        if row.get("run", run) != run:
            run = row["run"]
            out.print(text_of(f"run {run}:" if run else "of no run:", "bold"))
        known = "no rank id" if row["rank_id"] is None else f"rank {row['rank_id']} (from {row['rank_id_from']})"
        device = "" if row["device_id"] is None else f", device {row['device_id']}"
        level = "" if row["profiler_level"] is None else f", {row['profiler_level']}"
        out.print(text_of(f"{row['profile']}: {known}{device}{level}", "bold"))
        if row["left_out"]:
            out.print(text_of(f"  left out: {row['left_out']}"))
        else:
            marked = f"; modules from {row['modules_from']}" if row["modules_from"] else ""
            label = SOURCES[row["source"]].LABEL
            out.print(text_of(f"  answers: {', '.join(row['answers']) or 'nothing'}, from {label}{marked}"))
            for question in row["may_answer"]:
                out.print(text_of(f"  may answer {question}: the command finds out {ANALYSES[question].found_by_asking}"))
        unanswered = dict(one.split(": ", 1) for one in row["unanswered"])
        for reason in dict.fromkeys(unanswered.values()):
            questions = ", ".join(question for question, why in unanswered.items() if why == reason)
            out.print(text_of(f"  cannot answer {questions}: {reason}"))
        for missing in (*row["unread"], *row["missing"]):
            if missing not in unanswered.values():
                out.print(text_of(f"  {missing}"))
        out.print(text_of(f"  files: {', '.join(row['files']) or 'none'}", "dim"))


def print_entries(entries: "Iterable[Entry]") -> None:
    """Print what is kept, one line per entry."""
    grid = grid_of("size", "input", "tables", "profile", left=3)
    for entry in entries:
        state = "unchanged" if entry.is_current else "changed or gone"
        grid.add_row(f"{entry.size_bytes:,}", state, text_of(", ".join(entry.tables)), text_of(entry.profile))
    console().print(grid)


def print_tables(tables: "Iterable[Table]") -> None:
    """Print the documentation of tables."""
    out = console()
    for table in tables:
        out.print(text_of(table.name, "bold"))
        out.print(text_of(f"  {table.summary}"))
        grid = Grid(box=None, show_header=False, padding=(0, 1, 0, 2))
        for column in table.columns:
            grid.add_row(text_of(column.shown_name), text_of(column.shown_type), text_of(column.meaning))
        out.print(grid)
        out.print()


def print_rows(table: "pyarrow.Table") -> None:
    """Print the rows of an answer."""
    grid = grid_of(*table.column_names, left=table.num_columns)
    for row in table.to_pylist():
        grid.add_row(*(text_of("NULL", "dim") if value is None else text_of(value) for value in row.values()))
    console().print(grid)
