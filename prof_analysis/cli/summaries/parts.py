"""What summaries are made of: facts that all have, and grids, times and shares as they stand on the screen."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from prof_analysis.visible import visible

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

TIMES = ("total", "mean", "median", "p95", "min", "max")
_UNITS = (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000))


def duration(time_ns: int) -> str:
    """A time in the largest unit that leaves a whole number before the point."""
    for unit, size in _UNITS:
        if time_ns >= size:
            return f"{time_ns / size:,.2f} {unit}"
    return f"{time_ns} ns"


def duration_or_dash(time_ns: int | None) -> str:
    """A time as duration() gives it; a dash where it is unknown."""
    return "-" if time_ns is None else duration(time_ns)


def count_or_dash(count: int | None) -> str:
    """A count; a dash where it is unknown."""
    return "-" if count is None else f"{count:,}"


def percent(share: float | None) -> str:
    """A share in percent; a dash where it is unknown."""
    return "-" if share is None else f"{share:.1%}"


def grid_of(*headers: str, left: int) -> Grid:
    """A table without lines whose last columns, `left` of them, are texts and the others numbers."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for position, header in enumerate(headers):
        grid.add_column(text_of(header), justify="right" if position < len(headers) - left else "left", overflow="fold")
    return grid


def console() -> Console:
    """A terminal decides the width itself; into a pipe or file, lines are not cut."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=10_000)


def size_of(profile: "Profile", table: str) -> dict[str, Any]:
    """How many ranks and rows a table has."""
    return profile.rows(f"SELECT count(DISTINCT profile) AS ranks, count(*) AS rows FROM {table}")[0]


def heaviest_of(profile: "Profile", table: str, top: int) -> list[dict[str, Any]]:
    """The first rows of a table that has the heaviest first."""
    return profile.rows(f"FROM {table} LIMIT {top:d}")


def share_and_times(row: dict[str, Any]) -> list[str]:
    """The cells of a share and of TIMES."""
    return [percent(row["share"]), *(duration(round(row[f"{time}_ns"])) for time in TIMES)]


def text_of(value: object, style: str = "") -> Text:
    """A value as one line for the screen, in which nothing steers the terminal or is markup. All that is printed comes here."""
    return Text(visible(str(value)), style)


def cells(*values: str | None) -> list[Text]:
    """Cells of texts that come from a profile; a dash where one is unknown."""
    return [text_of("-", "dim") if value is None else text_of(value) for value in values]


def rank_count(facts: dict[str, Any]) -> str:
    """How many ranks the facts are of, in words."""
    return "1 rank" if facts["ranks"] == 1 else f"{facts['ranks']:,} ranks"


def print_statistic(grid: Grid, lines: list[str], written: Iterable[Path]) -> None:
    """Print a grid, what is to be said of it, and the files."""
    out = console()
    out.print(grid)
    out.print()
    for line in lines:
        out.print(text_of(line))
    out.print()
    print_files(written)


def print_files(written: Iterable[Path]) -> None:
    """Print which files were written."""
    out = console()
    for file in written:
        out.print(text_of(f"wrote {file}"))
