"""The picture of one step of one rank in time: modules on the device, kernels by stream, and idle time with its cause."""

from collections.abc import Iterable, Sequence
from typing import Any

from prof_analysis.analyses.words import count, duration
from prof_analysis.pictures.figures import style
from prof_analysis.pictures.figures.tree import Row

_MOST_MODULE_ROWS = 8
_MOST_STREAM_ROWS = 12
_ROW_PIXELS = 28
_NAMED_SHARE = 0.025
_MOST_FRAMES = 12
# A kind of kernels -> its colour and pattern; a cause of idle time -> its colour and pattern.
_KINDS = {
    "compute": (style.BLUE, ""),
    "communication": (style.VERMILION, "x"),
    "copy": (style.PURPLE, "\\"),
    "schedule": (style.GREY, "."),
}
_CAUSES = {
    "waiting in a synchronise": (style.ORANGE, "/"),
    "inside an op": (style.SKY, ""),
    "between queue and device": (style.YELLOW, "."),
    "data loading": (style.GREEN, "x"),
    "garbage collection": (style.PURPLE, "\\"),
    "nothing recorded": (style.GREY, "|"),
    "launch not recorded": (style.UNKNOWN, "-"),
    "waiting for another stream or event": (style.BLUE, "-"),
    "unknown after the launch": (style.UNKNOWN, "x"),
    "edge of the recording": (style.UNKNOWN, "."),
}
_DEPTHS = ("#9ECAE1", "#C6DBEF", "#A1D99B", "#C7E9C0", "#FDD0A2", "#FEE6CE")


def timeline(calls: Iterable[Row], kernels: Iterable[Row], gaps: Iterable[Row], span_ns: int, note: str) -> style.OfflineFigure:
    """Return bars in time: module calls by depth, kernels by stream, idle gaps.

    Each row has `since_ns` and `until_ns` from the begin of the step, and `row_count`: how many short ones it stands for, with
    their sum in `duration_ns`. `calls` have `lane`, `depth` and the path `name`; `kernels` `stream_id` or `group_name`, `lane`,
    `kind`, `name`, `op_name` and `module_path`; `gaps` `cause`, `cause_ns`, `kernel_before`, `kernel_after`, `python_stack`.
    """
    calls, kernels, gaps = list(calls), list(kernels), list(gaps)
    module_rows = sorted({(row["lane"], row["depth"]) for row in calls})
    stream_rows = _by_time(kernels)
    shown_modules, shown_streams = module_rows[:_MOST_MODULE_ROWS], stream_rows[:_MOST_STREAM_ROWS]
    place: dict[Any, int] = {}
    names = []
    for position, key in enumerate([*shown_modules, *shown_streams, "idle"]):
        place[key] = position
        names.append(_row_name(key, position))
    figure = style.OfflineFigure()
    # A trace for each depth: bars with patterns have one colour.
    for depth, is_backward in sorted({(row["depth"], row["is_backward"]) for row in calls}):
        drawn = [
            row
            for row in calls
            if (row["depth"], row["is_backward"]) == (depth, is_backward) and (row["lane"], row["depth"]) in place
        ]
        if drawn:
            look = (_DEPTHS[depth % len(_DEPTHS)], "/" if is_backward else "")
            name = f"modules at depth {depth}{', backward' if is_backward else ''}"
            texts = [style.path_label(row["name"]) for row in drawn]
            positions = [place[row["lane"], row["depth"]] for row in drawn]
            _add_bars(figure, name, drawn, positions, span_ns, texts, look, [_last(row["name"]) for row in drawn])
    for kind, look in _KINDS.items():
        of_kind = [row for row in kernels if row["kind"] == kind and _stream(row) in place]
        if of_kind:
            positions = [place[_stream(row)] for row in of_kind]
            short = [style.label(row["name"] or "-", 40) for row in of_kind]
            _add_bars(figure, kind, of_kind, positions, span_ns, [_of_kernel(row) for row in of_kind], look, short)
    for cause, look in _CAUSES.items():
        of_cause = [row for row in gaps if row["cause"] == cause]
        if of_cause:
            texts = [_of_gap(row) for row in of_cause]
            _add_bars(figure, f"idle: {cause}", of_cause, [place["idle"]] * len(of_cause), span_ns, texts, look)
    left_out = [
        f"{count(len(rows) - len(shown))} more rows of {what} not shown"
        for rows, shown, what in ((module_rows, shown_modules, "modules"), (stream_rows, shown_streams, "streams"))
        if len(rows) > len(shown)
    ]
    style.framed(figure, "Timeline of the device", "; ".join([note, *left_out]), 230 + _ROW_PIXELS * len(names))
    return figure.update_layout(
        barmode="overlay",
        uniformtext={"minsize": 9, "mode": "hide"},
        xaxis={"title": {"text": "ms since the first kernel of the step"}, "range": [0, span_ns / 1e6]},
        yaxis={
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "range": [len(names) - 0.4, -0.6],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        legend={"y": -56 / (_ROW_PIXELS * len(names))},
    )


def _add_bars(
    figure: style.OfflineFigure,
    name: str,
    rows: Sequence[Row],
    positions: Sequence[int],
    span_ns: int,
    texts: Sequence[str],
    look: tuple[str, str],
    short: Sequence[str] = (),
) -> None:
    """Add a bar for each row; those that are wide enough have a short name inside."""
    wide = [row["until_ns"] - row["since_ns"] > span_ns * _NAMED_SHARE for row in rows]
    figure.add_bar(
        name=name,
        showlegend=not name.startswith("modules"),
        orientation="h",
        base=[row["since_ns"] / 1e6 for row in rows],
        x=[(row["until_ns"] - row["since_ns"]) / 1e6 for row in rows],
        y=list(positions),
        width=0.86,
        customdata=[[row["duration_ns"], row["row_count"], text, _times(row)] for row, text in zip(rows, texts, strict=True)],
        hovertemplate="%{customdata[2]}<br>%{customdata[3]}<extra></extra>",
        text=[one if is_wide else "" for one, is_wide in zip(short, wide, strict=True)] if short else None,
        textposition="inside",
        insidetextanchor="start",
        textangle=0,
        constraintext="inside",
        cliponaxis=True,
        marker={"color": look[0], "line": {"width": 0}, "pattern": style.pattern(look[1])},
    )


def _times(row: Row) -> str:
    many = f", {count(row['row_count'])} together" if row["row_count"] > 1 else ""
    return f"{duration(row['duration_ns'])} from {duration(row['since_ns'])}{many}"


def _of_kernel(row: Row) -> str:
    """Return the hover of a kernel, or of short ones in a row: the longest of them."""
    lines = [f"<b>{style.label(row['name'] or '-')}</b>", f"op: {style.label(row['op_name'] or '-')}"]
    lines.append(f"module: {style.path_label(row['module_path'])}" if row["module_path"] else "in no module")
    return "<br>".join(lines)


def _of_gap(row: Row) -> str:
    """Return the hover of idle time: why, between which kernels, and where in the Python source the host was."""
    of_whole = "" if row["cause_ns"] == row["duration_ns"] else f" ({duration(row['cause_ns'])} of it)"
    lines = [f"<b>idle: {row['cause']}</b>{of_whole}"]
    if row["kernel_before"] is not None:
        lines += [f"after {style.label(row['kernel_before'])}", f"before {style.label(row['kernel_after'] or '-')}"]
    if row["python_stack"]:
        lines += ["Python:", *(style.label(frame, 80) for frame in row["python_stack"].split(" > ")[-_MOST_FRAMES:])]
    return "<br>".join(lines)


def _by_time(kernels: Sequence[Row]) -> list[tuple[Any, ...]]:
    """Return the rows of streams and groups, the busiest stream first, its lanes together."""
    busy: dict[Any, int] = {}
    for row in kernels:
        busy[_stream(row)[:3]] = busy.get(_stream(row)[:3], 0) + row["duration_ns"]
    return sorted({_stream(row) for row in kernels}, key=lambda key: (-busy[key[:3]], str(key[:3]), key[3]))


def _stream(row: Row) -> tuple[Any, ...]:
    return (row["device_id"], row["stream_id"], row["group_name"], row["lane"])


def _row_name(key: Any, position: int) -> str:
    if key == "idle":
        return "idle"
    if len(key) == 2:
        return "modules" if position == 0 else ""
    _, stream, group, lane = key
    if lane:
        return ""
    if stream is not None:
        return f"stream {stream}"
    return f"group {style.label(group, 12)}" if group is not None else "communication"


def _last(path: str) -> str:
    return style.label(path.rpartition("/")[2], 40)
