"""The modules of a page: the icicle, the table of its sectors, and their costs by op, kernel type and shapes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from prof_analysis.analyses.answer import Source, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import as_text, several
from prof_analysis.engine.units import Format
from prof_analysis.pictures.figures.modules import modules, root_of
from prof_analysis.pictures.figures.plots import ProfilePlots
from prof_analysis.pictures.figures.tree import Sector, all_of, is_backward_of, path_of, sector_id
from prof_analysis.pictures.report.parts import Modules, plain_cell, table
from prof_analysis.pictures.report.pictures import picture_of

Row = Mapping[str, Any]
# A column of the costs of a module: its heading, format, and the value of a row.
CostColumn = tuple[str, Format, Callable[[Row], Any]]
_MOST_COSTS = 3000
_TEXT = (
    "Icicle of modules: the width of each is its compute time with all modules inside it. "
    "The table of modules has the same figures; choosing a module there zooms the picture."
)
_COSTS: Sequence[CostColumn] = (
    ("op", "text", lambda row: row["op_name"]),
    ("kernel time", "time", lambda row: row["duration_ns"]),
    ("kernels", "count", lambda row: row["kernel_count"]),
    ("calls", "count", lambda row: row["call_count"]),
    ("efficiency", "share", lambda row: row["efficiency"]),
    ("bound", "text", lambda row: row["bound"]),
    ("in module", "text", lambda row: row["module"]),
    ("kernel type", "text", lambda row: row["type"]),
    ("input shapes", "text", lambda row: row["input_shapes"]),
    ("kind", "text", lambda row: row["kind"]),
)


def modules_of(profile: Tables) -> Modules:
    """Return the modules of all runs of a profile."""
    rows, outside, ranks, steps = ProfilePlots(profile).module_rows()
    root = root_of(rows, outside)
    tree = in_tree(root)
    time = root.name.removeprefix("all ")
    columns: dict[str, Source] = {
        "module": ("tree", lambda row: row["line"]),
        time: ("time", lambda row: row["total"]),
        f"share of {time}": ("share", lambda row: row["share"]),
        "own": ("time", lambda row: row["own"]),
        **_if_known(tree, "per step and rank", "computing_per_step_ns", "time"),
        **_if_known(tree, "communication", "communication_ns", "time"),
        **_if_known(tree, "calls", "calls", "count"),
        **_if_known(tree, "MFU", "mfu", "share"),
        **_if_known(tree, "efficiency", "efficiency", "share"),
        **_if_known(tree, "bound", "bound", "text"),
    }
    shown = table(table_of("across.module_time", tree, columns), "All modules", [row["id"] for row in tree])
    costs = costs_of(profile.rows("FROM across.module_cost_by_shapes"), _COSTS, root)
    return Modules(picture_of("modules", _TEXT, modules(root, ranks, steps)), shown, costs)


def _if_known(rows: Sequence[Row], header: str, column: str, format_: Format) -> dict[str, Source]:
    """Return a shown column where a row has a value in it."""
    return {header: (format_, lambda row: row.get(column))} if any(row.get(column) for row in rows) else {}


def in_tree(root: Sector) -> list[dict[str, Any]]:
    """Return a row for each sector, each before those inside it, with its depth and name as `line`.

    It has the id of the sector, its `total` and `own` time, the `share` of the total in all, and what its own row has.
    """
    found: list[dict[str, Any]] = []
    ahead = [(root, 0)]
    while ahead:
        one, depth = ahead.pop()
        share = one.total / root.total if root.total else None
        found.append({**one.row, "id": one.id, "line": (depth, one.name), "total": one.total, "own": one.own, "share": share})
        ahead += [(inside, depth + 1) for inside in reversed(one.inside)]
    return found


def costs_of(rows: Iterable[Row], columns: Sequence[CostColumn], root: Sector) -> dict[str, Any]:
    """Return the rows of the table of costs, each behind the id of its sector; of many, those of one sector in one row."""
    shown_as = {id_: one.id for one in all_of(root) for id_ in (one.id, *one.folded_ids)}
    found: list[list[Any]] = []
    rest: dict[str, list[Row]] = {}
    for row in rows:
        sector = _sector_of(row, shown_as)
        if len(found) < _MOST_COSTS:
            found.append([sector, *(_cell(get(row), format_) for _, format_, get in columns)])
        else:
            rest.setdefault(sector, []).append(row)
    for sector, folded in rest.items():
        line: list[Any] = [sector, f"other ({several(len(folded), 'row')})"]
        for _, format_, get in columns[1:]:
            is_sum = format_ in ("time", "change", "count")
            line.append(_cell(sum(get(row) or 0 for row in folded) if is_sum else None, format_))
        found.append(line)
    numbers = [place for place, (_, format_, _) in enumerate(columns) if format_ != "text"]
    return {"columns": [header for header, _, _ in columns], "numbers": numbers, "rows": found}


def _cell(value: Any, format_: Format) -> Any:
    """Return a cell as text, a number with the value by which it is sorted."""
    return plain_cell(as_text(value, format_)) if format_ == "text" or value is None else [as_text(value, format_), value]


def _sector_of(row: Row, shown_as: Mapping[str, str]) -> str:
    """Return the id of the sector that shows the module of a row; where none does, that of the next module around it."""
    path = "" if row["module"] is None else path_of(row)
    while path:
        if shown := shown_as.get(sector_id(row.get("run"), path, is_backward_of(row))):
            return shown
        path = path.rpartition("/")[0]
    return "all"
