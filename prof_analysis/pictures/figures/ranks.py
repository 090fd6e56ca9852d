"""The picture of ranks and modules: where a rank computes longer than the others, and which ranks others wait for."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

import plotly.graph_objects as go

from prof_analysis.analyses.words import count, duration, several
from prof_analysis.pictures.figures.style import DIVERGING, OfflineFigure, framed, path_label, rank_label, scale_of, short_path
from prof_analysis.pictures.figures.tree import Row

_MOST_MODULES = 30
_MOST_RANKS = 256
_MOST_MARKS = 24
_WIDEST = 0.5


def ranks(rows: Iterable[Row], slow: Iterable[Row] = ()) -> OfflineFigure:
    """Return a heat map of ranks and modules: the own computing time of a module against the median of the ranks of the run.

    `rows` have own_computing_ns of a rank and module, and the step_count of the rank, as in module.time; the times are divided
    by the steps where all ranks have some. `slow` are the ranks of across.slow_rank that others wait for. The 30 modules with
    the most computing time are shown, and of more than 256 ranks the slow ones and those that differ most.
    """
    rows = list(rows)
    per_step = all(row["step_count"] for row in rows)
    profiles = {(row.get("run"), row["profile"]): row for row in rows}
    cost: dict[tuple[str, str], int] = {}
    value: dict[tuple[Any, Any], Row] = {}
    for row in rows:
        module = (row["parent_module"], row["module"])
        cost[module] = cost.get(module, 0) + row["own_computing_ns"]
        value[(row.get("run"), row["profile"]), module] = row
    modules = sorted((one for one in cost if cost[one]), key=lambda one: -cost[one])[:_MOST_MODULES]
    time_of = {key: row["own_computing_ns"] / (row["step_count"] if per_step else 1) for key, row in value.items()}
    times: dict[tuple[Any, Any], list[float]] = {}
    for (rank, module), time in time_of.items():
        times.setdefault((rank[0], module), []).append(time)
    middle = {key: median(values) for key, values in times.items()}
    is_slow = {(row.get("run"), row["profile"]) for row in slow}
    shown = _shown(profiles, modules, time_of, middle, is_slow)
    heat, cells = [], []
    for module in modules:
        line = [_against(time_of.get((rank, module)), middle.get((rank[0], module))) for rank in shown]
        heat.append(line)
        path = path_label("/".join(filter(None, module)))
        cells.append(
            [
                [
                    value[rank, module]["own_computing_ns"] if (rank, module) in value else None,
                    rank_label(profiles[rank]),
                    path,
                    duration(time_of.get((rank, module))),
                    duration(middle.get((rank[0], module))),
                    "-" if change is None else f"{change:+.1%}",
                ]
                for rank, change in zip(shown, line, strict=True)
            ]
        )
    widest = min(_WIDEST, max((abs(one) for line in heat for one in line if one is not None), default=0)) or 0.01
    figure = OfflineFigure(
        go.Heatmap(
            x=list(range(len(shown))),
            y=list(range(len(modules))),
            z=heat,
            customdata=cells,
            zmin=-widest,
            zmax=widest,
            colorscale=scale_of(DIVERGING),
            colorbar={"tickformat": "+.0%", "title": {"text": "against<br>median"}, "thickness": 12},
            xgap=1 if len(shown) <= 64 else 0,
            ygap=1,
            hoverongaps=False,
            hovertemplate="rank %{customdata[1]}<br><b>%{customdata[2]}</b><br>own computing: %{customdata[3]}"
            f"{' per step' if per_step else ''}<br>median of the ranks: %{{customdata[4]}}"
            "<br>against the median: %{customdata[5]}<extra></extra>",
        )
    )
    notes = [
        f"own computing time of modules, {several(len(profiles), 'rank')}",
        f"▼ others wait for {several(len(is_slow), 'rank')}" if is_slow else "",
        f"{count(len(shown))} of {count(len(profiles))} ranks: those that differ most" if len(shown) < len(profiles) else "",
        f"the {len(modules)} heaviest of {count(len(cost))} modules" if len(modules) < len(cost) else "",
    ]
    framed(figure, "Ranks against their median", "; ".join(filter(None, notes)), 150 + 22 * max(6, len(modules)))
    every = -(-len(shown) // 24)
    ticks = [place for place, one in enumerate(shown) if place % every == 0 or (one in is_slow and len(is_slow) <= _MOST_MARKS)]
    return figure.update_layout(
        xaxis={
            "title": {"text": "rank"},
            "tickvals": ticks,
            "ticktext": [("▼ " if shown[place] in is_slow else "") + rank_label(profiles[shown[place]]) for place in ticks],
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={
            "tickvals": list(range(len(modules))),
            "ticktext": [short_path(*module) for module in modules],
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"size": 11},
        },
    )


def _shown(
    profiles: dict[Any, Row], modules: Sequence[Any], time_of: dict[Any, float], middle: dict[Any, float], is_slow: set[Any]
) -> list[Any]:
    """Return the ranks that are shown, in their order: all, or the slow ones and those that differ most."""
    if len(profiles) <= _MOST_RANKS:
        return list(profiles)

    def differs(rank: Any) -> float:
        known = [(time_of.get((rank, module)), middle.get((rank[0], module))) for module in modules]
        return sum(abs(one - other) for one, other in known if one is not None and other is not None)

    first = sorted(profiles, key=lambda rank: (rank not in is_slow, -differs(rank)))[:_MOST_RANKS]
    chosen = set(first)
    return [rank for rank in profiles if rank in chosen]


def _against(one: float | None, middle: float | None) -> float | None:
    return None if one is None or not middle else one / middle - 1
