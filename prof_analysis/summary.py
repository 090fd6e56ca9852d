"""What the command prints on stdout: short, readable, the heaviest first."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from prof_analysis.sources import SOURCES

if TYPE_CHECKING:
    import pyarrow

    from prof_analysis.profile import Profile
    from prof_analysis.store import Entry
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
    size = _size(profile, "module.statistic")
    return {**size, "heaviest_modules": modules.to_pylist(), "coverage": coverage.to_pylist()}


def print_module_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest modules, where the time of each kind of kernel went, and the files."""
    out = _console()
    modules = _grid("share", "kernel time", "calls", "module", left=1)
    for row in facts["heaviest_modules"]:
        time_ns = duration(row["own_kernel_duration_ns"])
        modules.add_row(_percent(row["share"]), time_ns, f"{row['calls']:,}", Text(row["module"]))
    out.print(modules)
    places = list(dict.fromkeys(row["place"] for row in facts["coverage"]))
    coverage = _grid(*places, "kernel time", "kernels", left=1)
    for kind in dict.fromkeys(row["kind"] for row in facts["coverage"]):
        rows = {row["place"]: row for row in facts["coverage"] if row["kind"] == kind}
        time_ns = sum(row["kernel_duration_ns"] for row in rows.values())
        coverage.add_row(*(_percent(rows[place]["share"]) for place in places), duration(time_ns), kind)
    out.print()
    out.print(coverage)
    out.print()
    for file in written:
        out.print(Text(f"wrote {file}"))


def across_ranks_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The modules whose own kernel time differs most between ranks."""
    modules = profile.module_stats(across_ranks=True, arrow=True)
    counts = profile.sql("SELECT count(DISTINCT profile) AS ranks FROM module.tree", arrow=True)
    return {**counts.to_pylist()[0], "modules": modules.num_rows, "most_different_modules": modules.slice(0, top).to_pylist()}


def print_across_ranks_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the modules that differ most, with their fastest and slowest rank, and the files."""
    grid = _grid(
        "std", "mean", "slowest / mean", "slowest", "fastest", "ranks", "slowest rank", "fastest rank", "module", left=3
    )
    for row in facts["most_different_modules"]:
        ratio = row["own_max_to_mean"]
        grid.add_row(
            *(duration(round(row[f"own_{time}_ns"])) for time in ("stddev", "mean")),
            "-" if ratio is None else f"{ratio:.2f}",
            *(duration(row[f"own_{time}_ns"]) for time in ("max", "min")),
            f"{row['rank_count']:,}",
            *(Text(_rank_name(row, extreme)) for extreme in ("own_max", "own_min")),
            Text("/".join(filter(None, (row["parent_module"], row["module"])))),
        )
    _print_statistic(grid, f"own kernel time of {facts['modules']:,} modules; {_ranks(facts)}", written)


def _rank_name(row: dict[str, Any], extreme: str) -> str:
    rank_id, profile = row[f"{extreme}_rank_id"], row[f"{extreme}_profile"]
    return str(profile) if rank_id is None else str(rank_id)


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
            marked = f"; modules from {row['modules_from']}" if row["modules_from"] else ""
            label = SOURCES[row["source"]].LABEL
            out.print(Text(f"  answers: {', '.join(row['answers']) or 'nothing'}, from {label}{marked}"))
        unanswered = dict(one.split(": ", 1) for one in row["unanswered"])
        for reason in dict.fromkeys(unanswered.values()):
            questions = ", ".join(question for question, why in unanswered.items() if why == reason)
            out.print(Text(f"  cannot answer {questions}: {reason}"))
        for missing in row["missing"]:
            if missing not in unanswered.values():
                out.print(Text(f"  {missing}"))
        out.print(Text(f"  files: {', '.join(row['files']) or 'none'}", style="dim"))


def print_store(entries: "Iterable[Entry]") -> None:
    """Print what a store keeps, one line a rank and question."""
    grid = _grid("size", "input", "tables", "profile", left=3)
    for entry in entries:
        state = "unchanged" if entry.is_current else "changed or gone"
        grid.add_row(f"{entry.size_bytes:,}", state, Text(", ".join(entry.tables)), Text(entry.profile))
    _console().print(grid)


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
    grid = _grid(*table.column_names, left=table.num_columns)
    for row in table.to_pylist():
        grid.add_row(*(Text("NULL", style="dim") if value is None else Text(str(value)) for value in row.values()))
    _console().print(grid)


def duration(time_ns: int) -> str:
    """A time in the largest unit that leaves a whole number before the point."""
    for unit, size in _UNITS:
        if time_ns >= size:
            return f"{time_ns / size:,.2f} {unit}"
    return f"{time_ns} ns"


def _time(time_ns: int | None) -> str:
    return "-" if time_ns is None else duration(time_ns)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _grid(*headers: str, left: int) -> Grid:
    """A table without lines whose last columns, `left` of them, are texts and the others numbers."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for position, header in enumerate(headers):
        grid.add_column(header, justify="right" if position < len(headers) - left else "left", overflow="fold")
    return grid


def _console() -> Console:
    """A terminal decides the width itself; into a pipe or file, lines are not cut."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=10_000)


def kernel_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The heaviest types of kernels and the time of each kind, over all ranks."""
    kinds = profile.sql(
        """
        SELECT kind, sum(kernel_count)::BIGINT AS kernel_count, sum(total_ns)::BIGINT AS total_ns
        FROM across.kernel_statistic
        GROUP BY kind
        ORDER BY total_ns DESC, kind
        """,
        arrow=True,
    )
    return {
        **_size(profile, "kernel.statistic"),
        "kinds": kinds.to_pylist(),
        "heaviest_kernels": _heaviest(profile, "across.kernel_statistic", top),
    }


def print_kernel_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest types of kernels, the time of each kind, and the files."""
    grid = _grid("share of kind", *_TIMES, "kernels", "kind", "type", "core", left=3)
    for row in facts["heaviest_kernels"]:
        grid.add_row(*_share_and_times(row), f"{row['kernel_count']:,}", *_texts(row["kind"], row["type"], row["core"]))
    kinds = [f"{row['kind']} {duration(row['total_ns'])} in {row['kernel_count']:,} kernels" for row in facts["kinds"]]
    _print_statistic(grid, f"{'; '.join(kinds)}; {_ranks(facts)}", written)


def op_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The heaviest framework ops, and what all of them took on device and host, over all ranks."""
    totals = profile.sql(
        """
        SELECT
            sum(calls)::BIGINT AS calls,
            sum(host_self_ns)::BIGINT AS host_self_ns,
            sum(kernel_count)::BIGINT AS kernel_count,
            sum(device_self_ns)::BIGINT AS device_self_ns,
            coalesce((SELECT sum(duration_ns * kernel_count) FROM kernel.duration), 0)::BIGINT AS all_kernels_ns
        FROM across.op_statistic
        """,
        arrow=True,
    )
    return {
        **_size(profile, "op.statistic"),
        **totals.to_pylist()[0],
        "heaviest_ops": _heaviest(profile, "across.op_statistic", top),
    }


def print_op_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest ops, what all of them took, the kernel time that no op launched, and the files."""
    grid = _grid(
        "share", "device self", "device total", "kernels", "host self", "host total", "calls", "op", "input shapes", left=2
    )
    for row in facts["heaviest_ops"]:
        grid.add_row(
            _percent(row["share"]),
            duration(row["device_self_ns"]),
            duration(row["device_total_ns"]),
            f"{row['kernel_count']:,}",
            duration(row["host_self_ns"]),
            duration(row["host_total_ns"]),
            f"{row['calls']:,}",
            *_texts(row["name"], row["input_shapes"]),
        )
    line = (
        f"{facts['calls']:,} calls took {duration(facts['host_self_ns'])} on the host and launched {facts['kernel_count']:,} "
        f"kernels of {duration(facts['device_self_ns'])}"
    )
    if facts["all_kernels_ns"]:
        line += f"; {_percent(1 - facts['device_self_ns'] / facts['all_kernels_ns'])} of all kernel time is linked to no op"
    _print_statistic(grid, f"{line}; {_ranks(facts)}", written)


def communication_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The heaviest types and groups of communication and the time of all, over all ranks."""
    totals = profile.sql(
        """
        SELECT
            sum(op_count)::BIGINT AS op_count,
            sum(total_ns)::BIGINT AS total_ns,
            count(DISTINCT group_name) AS group_count
        FROM across.communication_statistic
        """,
        arrow=True,
    )
    return {
        **_size(profile, "communication.statistic"),
        **totals.to_pylist()[0],
        "heaviest_communication": _heaviest(profile, "across.communication_statistic", top),
    }


def print_communication_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest types and groups of communication, the time of all, and the files."""
    grid = _grid("share", *_TIMES, "operators", "type", "group", left=2)
    for row in facts["heaviest_communication"]:
        grid.add_row(*_share_and_times(row), f"{row['op_count']:,}", *_texts(row["type"], row["group_name"]))
    groups = f"{facts['group_count']:,} group{'s' * (facts['group_count'] != 1)}"
    line = f"communication {duration(facts['total_ns'])} in {facts['op_count']:,} operators of {groups}"
    _print_statistic(grid, f"{line}; {_ranks(facts)}", written)


def mfu_facts(profile: "Profile", top: int, level: str | None = None) -> dict[str, Any]:
    """MFU of the heaviest modules, ops, kernels or ranks; the peaks it is measured by; and what is left out, over all ranks."""
    has_modules = profile.sql("SELECT 1 FROM mfu.module LIMIT 1", arrow=True).num_rows > 0
    level = level or ("module" if has_modules else "op")
    rows = profile.sql(f"{_MFU_ROWS[level]} LIMIT {top:d}", arrow=True)
    peaks = profile.sql(
        "SELECT unnest(string_split(peaks, ', ')) AS peak, count(*) AS ranks FROM mfu.rank GROUP BY peak ORDER BY peak",
        arrow=True,
    )
    left_out = profile.sql(
        """
        SELECT reason, count(*) AS kernel_count, sum(duration_ns)::BIGINT AS duration_ns
        FROM mfu.kernel
        WHERE reason IS NOT NULL
        GROUP BY reason
        ORDER BY duration_ns DESC, reason
        """,
        arrow=True,
    )
    whole = profile.sql(f"SELECT {_MFU} FROM mfu.rank", arrow=True)
    audit = profile.sql("SELECT finding, count(*) AS rows FROM mfu.audit GROUP BY finding ORDER BY finding", arrow=True)
    return {
        **_size(profile, "mfu.rank"),
        "level": level,
        "heaviest": rows.to_pylist(),
        "all": whole.to_pylist()[0],
        "peaks": peaks.to_pylist(),
        "left_out": left_out.to_pylist(),
        "audit": audit.to_pylist(),
    }


def print_mfu_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print MFU by row, the peaks, what is left out and to be looked at, and the files."""
    labels = [name for name in facts["heaviest"][0] if name not in _MFU_FIGURES] if facts["heaviest"] else [facts["level"]]
    grid = _grid("MFU", "TFLOPS", "time in MFU", "kernel time", "kernels", *labels, left=len(labels))
    for row in facts["heaviest"]:
        grid.add_row(*_mfu_figures(row), *_texts(*(row[label] for label in labels)))
    whole = facts["all"]
    lines = [
        f"MFU {_percent(whole['mfu'])} of the kernels in it, {_percent(whole['known_share'])} of compute time; {_ranks(facts)}"
    ]
    lines += [f"peak: {row['peak']}" for row in facts["peaks"]]
    lines += [
        f"not in MFU: {duration(row['duration_ns'])} in {row['kernel_count']:,} kernels: {row['reason']}"
        for row in facts["left_out"]
    ]
    lines += [f"to look at: {row['rows']:,} x {row['finding']} (MfuAudit)" for row in facts["audit"]]
    _print_statistic(grid, "\n".join(lines), written)


_MFU = """
    sum(flops) / sum(flops / nullif(mfu, 0)) AS mfu,
    sum(flops) / nullif(sum(known_duration_ns), 0) / 1000 AS achieved_tflops,
    sum(known_duration_ns) / nullif(sum(duration_ns), 0) AS known_share,
    sum(duration_ns)::BIGINT AS duration_ns,
    sum(kernel_count)::BIGINT AS kernel_count
"""
_MFU_FIGURES = ("mfu", "achieved_tflops", "known_share", "duration_ns", "kernel_count")
_MFU_ROWS = {
    "module": f"""
        SELECT {_MFU}, if(parent_module = '', module, parent_module || '/' || module) AS module
        FROM mfu.module
        GROUP BY ALL
        HAVING sum(cube_duration_ns) > 0
        ORDER BY duration_ns DESC, module
    """,
    "op": f"""
        SELECT {_MFU}, op_name AS op, type, input_shapes
        FROM mfu.op
        GROUP BY ALL
        ORDER BY duration_ns DESC, op, type, input_shapes
    """,
    "kernel": """
        SELECT
            mfu,
            achieved_tflops,
            if(mfu IS NULL, 0, 1)::DOUBLE AS known_share,
            duration_ns,
            1 AS kernel_count,
            name AS kernel,
            coalesce(flops_source, reason) AS source
        FROM mfu.kernel
        ORDER BY duration_ns DESC, profile, start_ns, kernel_id
    """,
    "rank": f"SELECT {_MFU}, profile AS rank FROM mfu.rank GROUP BY profile ORDER BY profile",
}


def _mfu_figures(row: dict[str, Any]) -> list[str]:
    tflops = "-" if row["achieved_tflops"] is None else f"{row['achieved_tflops']:,.1f}"
    time = duration(row["duration_ns"])
    return [_percent(row["mfu"]), tflops, _percent(row["known_share"]), time, f"{row['kernel_count']:,}"]


# By command: what gives the facts of an analysis, and what prints them with the files written.
SUMMARIES = {
    "module-stats": (module_facts, print_module_facts),
    "module-stats --across-ranks": (across_ranks_facts, print_across_ranks_facts),
    "kernel-stats": (kernel_facts, print_kernel_facts),
    "op-stats": (op_facts, print_op_facts),
    "communication-stats": (communication_facts, print_communication_facts),
    "mfu": (mfu_facts, print_mfu_facts),
}

_TIMES = ("total", "mean", "median", "p95", "min", "max")


def _size(profile: "Profile", table: str) -> dict[str, Any]:
    counts = profile.sql(f"SELECT count(DISTINCT profile) AS ranks, count(*) AS rows FROM {table}", arrow=True)
    size: dict[str, Any] = counts.to_pylist()[0]
    return size


def _heaviest(profile: "Profile", table: str, top: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = profile.sql(f"FROM {table} LIMIT {top:d}", arrow=True).to_pylist()
    return rows


def _share_and_times(row: dict[str, Any]) -> list[str]:
    return [_percent(row["share"]), *(duration(round(row[f"{time}_ns"])) for time in _TIMES)]


def _texts(*values: str | None) -> list[Text]:
    return [Text("-", style="dim") if value is None else Text(value) for value in values]


def _ranks(facts: dict[str, Any]) -> str:
    return "1 rank" if facts["ranks"] == 1 else f"{facts['ranks']:,} ranks"


def _print_statistic(grid: Grid, line: str, written: Iterable[Path]) -> None:
    out = _console()
    out.print(grid)
    out.print()
    out.print(Text(line))
    out.print()
    for file in written:
        out.print(Text(f"wrote {file}"))
