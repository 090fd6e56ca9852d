"""What the command prints on stdout: short, readable, the heaviest first."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

if TYPE_CHECKING:
    import pyarrow

    from prof_analysis.profile import Profile
    from prof_analysis.tables import Table

_UNITS = (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000))


def module_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The heaviest modules by own kernel time and the coverage, summed over ranks."""
    modules = profile.sql(
        f"""
        SELECT
            if(parent_module = '', module, parent_module || '/' || module) AS module,
            sum(calls)::BIGINT AS calls,
            sum(own_kernel_duration_ns)::BIGINT AS own_kernel_duration_ns,
            sum(own_kernel_duration_ns) / nullif((SELECT sum(kernel_duration_ns) FROM module.coverage), 0) AS share
        FROM module.tree
        GROUP BY ALL
        HAVING sum(own_kernel_duration_ns) > 0
        ORDER BY own_kernel_duration_ns DESC, module
        LIMIT {top:d}
        """,
        arrow=True,
    )
    coverage = profile.sql(
        """
        SELECT
            kind,
            place,
            sum(kernel_count)::BIGINT AS kernel_count,
            sum(kernel_duration_ns)::BIGINT AS kernel_duration_ns,
            sum(kernel_duration_ns) / nullif(sum(sum(kernel_duration_ns)) OVER (PARTITION BY kind), 0) AS share
        FROM module.coverage
        GROUP BY kind, place
        ORDER BY kind = 'schedule', kind = 'communication', place = 'linked to no op', place = 'outside modules'
        """,
        arrow=True,
    )
    counts = profile.sql("SELECT count(DISTINCT profile) AS ranks, count(*) AS rows FROM module.statistic", arrow=True)
    return {**counts.to_pylist()[0], "heaviest_modules": modules.to_pylist(), "coverage": coverage.to_pylist()}


def print_module_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest modules, the coverage line and the files."""
    out = _console()
    grid = _grid("module", "calls", "own kernel time", "of all kernel time", right=3)
    for row in facts["heaviest_modules"]:
        grid.add_row(Text(row["module"]), f"{row['calls']:,}", duration(row["own_kernel_duration_ns"]), _percent(row["share"]))
    out.print(grid)
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in facts["coverage"]:
        by_kind.setdefault(row["kind"], []).append(row)
    for kind, rows in by_kind.items():
        total = sum(row["kernel_duration_ns"] for row in rows)
        parts = ", ".join(f"{_percent(row['share'])} {row['place']}" for row in rows)
        out.print(Text(f"{kind} kernels: {duration(total)}, of it {parts}"))
    for file in written:
        out.print(Text(f"wrote {file} ({facts['rows']:,} rows of module statistic, {facts['ranks']:,} ranks)"))


def print_ranks(rows: list[dict[str, Any]]) -> None:
    """Print what was found, one paragraph a rank."""
    out = _console()
    for row in rows:
        known = "no rank id" if row["rank_id"] is None else f"rank {row['rank_id']} (from {row['rank_id_from']})"
        device = "" if row["device_id"] is None else f", device {row['device_id']}"
        level = "" if row["profiler_level"] is None else f", {row['profiler_level']}"
        out.print(Text(f"{row['profile']}: {known}{device}{level}", style="bold"))
        if row["left_out"]:
            out.print(Text(f"  left out: {row['left_out']}"))
        else:
            out.print(Text(f"  answers: {', '.join(row['answers']) or 'nothing'}, from the profiler database"))
        for missing in row["missing"]:
            out.print(Text(f"  {missing}"))
        out.print(Text(f"  files: {', '.join(row['files']) or 'none'}", style="dim"))


def print_tables(tables: "Iterable[Table]") -> None:
    """Print the documentation of tables."""
    out = _console()
    for table in tables:
        out.print(Text(table.name, style="bold"))
        out.print(Text(f"  {table.summary}"))
        grid = Grid(box=None, show_header=False, padding=(0, 1, 0, 2))
        for column in table.columns:
            grid.add_row(Text(column.shown_name), Text(column.shown_type), Text(column.meaning))
        out.print(grid)
        out.print()


def print_rows(table: "pyarrow.Table") -> None:
    """Print the rows of an answer."""
    grid = _grid(*table.column_names)
    for row in table.to_pylist():
        grid.add_row(*(Text("NULL", style="dim") if value is None else Text(str(value)) for value in row.values()))
    _console().print(grid)


def duration(time_ns: int) -> str:
    """A time in the largest unit that leaves a whole number before the point."""
    for unit, size in _UNITS:
        if time_ns >= size:
            return f"{time_ns / size:,.2f} {unit}"
    return f"{time_ns} ns"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _grid(*headers: str, right: int = 0) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for position, header in enumerate(headers):
        grid.add_column(header, justify="right" if position >= len(headers) - right else "left", overflow="fold")
    return grid


def _console() -> Console:
    """A terminal decides the width itself; into a pipe or file, lines are not cut."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=10_000)
