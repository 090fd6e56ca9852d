"""Shows what was measured: on the screen, as a section of README.md, and as a plot beside it."""

import math
import os
import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.jobs import BARE, OURS, PEER
from benchmarks.measure import Cost, ratio_of, typical

_PACKAGES = (OURS, "duckdb", "adbc-driver-sqlite", "pyarrow", PEER)
_COLUMNS = ("kernels a rank", "ranks", "profile", "input MB", "what", "wall s", "x ours", "CPU s", "peak MB", "MB/s")
# Colours that also the colour-blind tell apart.
_COLOURS = {OURS: "#0072b2", BARE: "#009e73", PEER: "#d55e00"}


@dataclass(frozen=True)
class Case:
    """A generated profile, what ran on it and what each run of that cost, and for the main job the seconds of each phase."""

    kernels: int
    mode: str
    form: str
    ranks: int
    input_bytes: int
    costs: dict[str, list[Cost]]
    phases: dict[str, float]


def rows_of(case: Case) -> list[tuple[str, ...]]:
    """A row for each of what ran."""
    costs = {name: typical(runs) for name, runs in case.costs.items()}
    return [
        (
            f"{case.kernels:,}",
            f"{case.ranks}",
            f"{case.mode}, {case.form}",
            f"{case.input_bytes / 1e6:,.0f}",
            name,
            f"{cost.wall_s:.2f}",
            str(ratio_of(case.costs[name], case.costs[OURS])),
            f"{cost.cpu_s:.2f}",
            f"{cost.peak_bytes / 1e6:,.0f}",
            "" if name.startswith("one rank") else f"{case.input_bytes / 1e6 / cost.wall_s:,.0f}",
        )
        for name, cost in costs.items()
    ]


def time_of(case: Case) -> str:
    """The phases from the longest on, what took less than 2 % as one; of many ranks, how they relate to one."""
    if not case.phases:
        many, one = case.costs[OURS], case.costs["one rank, one thread"]
        return (
            f"{case.ranks} ranks took {ratio_of(many, one)} times one rank on one thread, start-up of both counted; "
            f"the parent process had {typical(many).first_process_bytes / 1e6:,.0f} MB"
        )
    total = sum(case.phases.values())
    long = {phase: seconds for phase, seconds in case.phases.items() if seconds >= 0.02 * total}
    in_order = sorted(long.items(), key=lambda one: -one[1])
    return ", ".join([*(f"{phase} {s:.2f}" for phase, s in in_order), f"all else {total - sum(long.values()):.2f}"])


def print_case(case: Case) -> None:
    """Print the rows of a case and what took the time."""
    for row in rows_of(case):
        print("  ".join(cell.rjust(width) for cell, width in zip(row, (10, 3, 15, 7, 20, 8, 18, 8, 7, 6), strict=True)))
    print(f"    {time_of(case)}", flush=True)


def write_report(cases: list[Case], folder: Path) -> None:
    """Put the figures into the section of README.md that belongs to them, and draw the plot."""
    (folder / "plot.svg").write_text(plot(cases), encoding="utf-8")
    lines = [about("benchmarks"), "", *table(_COLUMNS, [row for case in cases for row in rows_of(case)])]
    lines += ["", "![Time by kernels](plot.svg)", "", "Where the time of the main job goes, in seconds:", ""]
    lines += [f"- {case.kernels:,} kernels, {case.mode}, {case.form}: {time_of(case)}" for case in cases]
    write_section(folder / "README.md", "figures", lines)


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table of Markdown."""
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns), *("| " + " | ".join(row) + " |" for row in rows)]


def write_section(page: Path, name: str, lines: list[str]) -> None:
    """Replace what a page has between the marks of a section."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    page.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def about(module: str) -> str:
    """Return the command line, the machine, the versions and the day."""
    model = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = [int(line.split()[1]) / 1e6 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    machine = f"{os.cpu_count()} x {(model or [platform.machine()])[0]}, {(memory or [math.nan])[0]:.0f} GB"
    versions = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    command = " ".join([f"python -m {module}", *sys.argv[1:]])
    return f"`{command}`, {datetime.now(UTC).date()}: {machine}; Python {platform.python_version()}, {versions}."


def plot(cases: list[Case]) -> str:
    """Wall time by kernels of databases of one rank, on logarithmic axes."""
    width, height, left, bottom, legend = 720, 420, 60, 50, 190
    points = [
        (name, case.mode, case.kernels, typical(runs).wall_s)
        for case in sorted(cases, key=lambda case: case.kernels)
        for name, runs in case.costs.items()
        if name in _COLOURS and case.form == "db" and case.ranks == 1
    ]
    if not points:
        return '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
    kernels, seconds = [math.log10(point[2]) for point in points], [math.log10(point[3]) for point in points]
    x_low, x_high = math.floor(min(kernels)), math.ceil(max(kernels))
    y_low, y_high = math.floor(min(seconds)), math.ceil(max(seconds))

    def x(power: float) -> float:
        return left + (power - x_low) / max(1, x_high - x_low) * (width - left - legend)

    def y(power: float) -> float:
        return height - bottom - (power - y_low) / max(1, y_high - y_low) * (height - bottom - 30)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">'
    ]
    parts.append('<rect width="100%" height="100%" fill="white"/>')
    for power in range(x_low, x_high + 1):
        parts.append(f'<text x="{x(power):.0f}" y="{height - 25}" text-anchor="middle">{10**power:,}</text>')
    for power in range(y_low, y_high + 1):
        parts.append(f'<path d="M{left} {y(power):.0f}H{width - legend}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y(power) + 4:.0f}" text-anchor="end">{10.0**power:g} s</text>')
    parts.append(f'<text x="{left}" y="{height - 6}">kernels of the rank</text>')
    for number, (name, mode) in enumerate(dict.fromkeys(point[:2] for point in points)):
        line = [(math.log10(point[2]), math.log10(point[3])) for point in points if point[:2] == (name, mode)]
        style = f'stroke="{_COLOURS[name]}" stroke-width="2"' + (' stroke-dasharray="6 4"' if mode == "training" else "")
        parts.append(f'<polyline points="{" ".join(f"{x(k):.1f},{y(s):.1f}" for k, s in line)}" fill="none" {style}/>')
        level = 40 + 22 * number
        parts.append(f'<path d="M{width - legend + 15} {level}h30" {style}/>')
        parts.append(f'<text x="{width - legend + 52}" y="{level + 4}">{name}, {mode}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _lines(file: str) -> list[str]:
    path = Path(file)
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
