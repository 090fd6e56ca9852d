"""Modules as the sectors of an icicle: their nesting, their costs with all inside, and small ones folded together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from prof_analysis.analyses.tree import BACKWARD

Row = Mapping[str, Any]
MOST_SECTORS = 1000


@dataclass
class Sector:
    """A module, or several folded ones: its own figure, and that with all inside it. The outermost sector has no parent.

    `sums` has further figures: first its own ones, and after summed() those with all inside it. `folded_ids` has the ids of the
    sectors that were folded into this one.
    """

    id: str
    name: str
    path: str
    own: int
    parent: "Sector | None" = None
    row: Row = field(default_factory=dict)
    total: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    folded_ids: tuple[str, ...] = ()
    inside: "list[Sector]" = field(default_factory=list)


def sector_id(run: str | None, path: str, is_backward: bool) -> str:
    """Return the id of the sector of a module; it depends on its names alone, so that pictures of other days have the same."""
    text = "\0".join((run or "", path, BACKWARD * is_backward))
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def is_backward_of(row: Row) -> bool:
    """Return whether a row is the backward of its module."""
    return bool(row["module"].startswith(BACKWARD))


def path_of(row: Row) -> str:
    """Return the names of a module and of those around it, joined by '/', without the mark of a backward."""
    name = row["module"].removeprefix(BACKWARD)
    return f"{row['parent_module']}/{name}" if row["parent_module"] else str(name)


def tree_of(root: Sector, rows: Iterable[Row], own: str, run: str | None = None, sums: Iterable[str] = ()) -> Sector:
    """Hang a sector for each row below the root, and return the root.

    `own` names the column of what a module costs itself, `sums` those of further figures of its own.

    A module lies in the one that has the path around it, in the backward in the backward of that one; where no row has this
    path, in the next one around it. In a comparison `new_path` is a second path. What a module costs with all inside it is
    added up from the rows, so that each sector holds those inside it exactly, whatever the names are.
    """
    known: dict[tuple[bool, str], Sector] = {}
    sectors = []
    for row in rows:
        path, is_backward = path_of(row), is_backward_of(row)
        one = Sector(
            sector_id(run, path, is_backward), row["module"], path, row[own], row=row, sums={name: row[name] for name in sums}
        )
        sectors.append((one, is_backward))
        known.setdefault((is_backward, path), one)
    for one, is_backward in sectors:  # The path in the base comes first.
        if new_path := one.row.get("new_path"):
            known.setdefault((is_backward, new_path), one)
    for one, is_backward in sectors:
        one.parent = _around(one, is_backward, known) or root
    taken: set[str] = set()
    for one, _ in sectors:
        while one.id in taken:  # Names with '/' make equal paths of different modules.
            one.id += "'"
        taken.add(one.id)
        if one.parent is not None:
            one.parent.inside.append(one)
    return root


def summed(root: Sector) -> Sector:
    """Compute the cost of each sector with all inside it, put the largest first, and return the root."""
    for one in reversed(all_of(root)):
        one.total = one.own + sum(inner.total for inner in one.inside)
        one.sums = _added([one, *one.inside])
        one.inside.sort(key=lambda inner: (-inner.total, inner.path, inner.name))
    return root


def folded(root: Sector, most: int = MOST_SECTORS) -> Sector:
    """Fold the smallest sectors of each module into one called other, which keeps their sum, until at most `most` are left."""
    sectors = all_of(root)
    if len(sectors) <= most:
        return root
    kept = {id(one) for one in sorted(sectors, key=lambda one: -one.total)[: most // 2]}
    for one in sectors:
        small = [inner for inner in one.inside if id(inner) not in kept]
        if id(one) in kept and small:
            ids = tuple(each.id for inner in small for each in all_of(inner))
            name = f"other ({len(ids):,} module{'s' * (len(ids) != 1)})"
            other = Sector(f"{one.id}+", name, one.path, sum(inner.total for inner in small), one, folded_ids=ids)
            other.total, other.sums = other.own, _added(small)
            one.inside = [*(inner for inner in one.inside if id(inner) in kept), other]
    return root


def all_of(root: Sector) -> list[Sector]:
    """Return a sector and all inside it, each before those inside it."""
    found = [root]
    for one in found:
        found += one.inside
    return found


def _added(sectors: Iterable[Sector]) -> dict[str, float]:
    """Return the sums of the further figures of sectors."""
    sums: dict[str, float] = {}
    for one in sectors:
        for name, value in one.sums.items():
            sums[name] = sums.get(name, 0) + value
    return sums


def _around(one: Sector, is_backward: bool, known: Mapping[tuple[bool, str], Sector]) -> Sector | None:
    """Return the sector of the module around a module; None for an outermost one."""
    path = one.row["parent_module"]
    while path:
        around = known.get((is_backward, path))
        if around is not None and not _is_inside(around, one):
            return around
        path = path.rpartition("/")[0]
    return None


def _is_inside(one: Sector | None, other: Sector) -> bool:
    """Return whether a sector is another one, or lies in it as far as is known yet."""
    while one is not None:
        if one is other:
            return True
        one = one.parent
    return False
