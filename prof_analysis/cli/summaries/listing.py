"""The output of `ranks`, `sql` and `cache ls`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from prof_analysis.analyses import ANALYSES
from prof_analysis.cli.options import ScreenOptions
from prof_analysis.cli.screen import view_of
from prof_analysis.cli.terminal import View, console, print_grid, text_of
from prof_analysis.sources import SOURCES

if TYPE_CHECKING:
    import pyarrow

    from prof_analysis.run.entries import Entry


_MOST_RANKS = 8


def print_ranks(rows: list[dict[str, Any]], screen: ScreenOptions) -> None:
    """Print a table of ranks, and each answer and each reason once, with the ranks that it is about."""
    out = console()
    grid = [[_cell(value) for value in _columns_of(row).values()] for row in rows]
    headers = list(_columns_of(rows[0]))
    print_grid(headers, [header not in _NUMBERS for header in headers], grid, view_of(screen, headers))
    out.print()
    for sentence, of_ranks in _sentences(rows).items():
        about = "" if len(of_ranks) == len(rows) else f" ({_names(of_ranks)})"
        out.print(text_of(f"{sentence}{about}"))


_NUMBERS = ("rank", "device", "answers")


def _columns_of(row: dict[str, Any]) -> dict[str, object]:
    return {
        "folder": row["profile"],
        **({"run": row["run"]} if "run" in row else {}),
        "rank": row["rank_id"],
        "device": row["device_id"],
        "answers": f"{len(row['answers'])} of {len(ANALYSES)}",
        "level": row["profiler_level"],
        "modules from": row["modules_from"],
        "read from": SOURCES[row["source"]].LABEL if row["source"] else None,
        "rank from": row["rank_id_from"],
        "files": ", ".join(row["files"]),
    }


def _sentences(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return what is to be said of ranks, and the ranks that each sentence is about."""
    said: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        sentences = []
        if row["left_out"]:
            sentences.append(f"left out: {row['left_out']}")
        else:
            sentences.append(f"answers: {', '.join(row['answers']) or 'nothing'}")
            sentences += (
                f"may answer {one}: the command finds out {ANALYSES[one].found_by_asking}" for one in row["may_answer"]
            )
        unanswered = dict(one.split(": ", 1) for one in row["unanswered"])
        for reason in dict.fromkeys(unanswered.values()):
            questions = ", ".join(question for question, why in unanswered.items() if why == reason)
            sentences.append(f"cannot answer {questions}: {reason}")
        sentences += (one for one in (*row["unread"], *row["missing"]) if one not in unanswered.values())
        for sentence in sentences:
            said.setdefault(sentence, []).append(row)
    return said


def _names(rows: list[dict[str, Any]]) -> str:
    """Return the names of ranks, of many only the first ones."""
    are_known = all(row["rank_id"] is not None and not row.get("run") for row in rows)  # Each run has a rank 0.
    names = [str(row["rank_id"]) if are_known else row["profile"] for row in rows]
    more = f" and {len(names) - _MOST_RANKS} more" if len(names) > _MOST_RANKS else ""
    return f"{'rank' if are_known else 'folder'}{'s' * (len(names) > 1)} {', '.join(names[:_MOST_RANKS])}{more}"


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def print_entries(entries: "Iterable[Entry]") -> None:
    """Print what is kept, one line per entry."""
    rows = [
        (
            entry.profile,
            f"{entry.size_bytes:,}",
            "unchanged" if entry.is_current else "changed or gone",
            ", ".join(entry.tables),
        )
        for entry in entries
    ]
    print_grid(("profile", "size", "input", "tables"), (True, False, True, True), rows, View())


def print_rows(table: "pyarrow.Table", view: View) -> None:
    """Print the rows of an answer."""
    columns = [column.to_pylist() for column in table.columns]
    are_texts = [not any(isinstance(value, int | float) for value in column) for column in columns]
    rows = [["NULL" if value is None else value for value in row] for row in zip(*columns, strict=True)]
    print_grid(table.column_names, are_texts, rows, view)
