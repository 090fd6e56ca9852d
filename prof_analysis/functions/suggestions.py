"""Suggests aliases of modules, and gives matching and suggestions to SQL."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from prof_analysis.functions.aliases import Aliases
from prof_analysis.functions.matching import Matching, Pair, Tree, matched

_LIKE_NAMES = 0.6
# Of modules without a partner in one module, so many classes are compared with each other.
_MOST_CLASSES = 30


def suggested(base: Tree, new: Tree, aliases: Aliases) -> dict[str, str]:
    """Return likely aliases beside the given ones: new names by those of the base, found in matched modules and then in these.

    Two modules without a partner in matched ones are likely one if they have like names, the same ops, or mostly the same
    classes inside. Where none are, the largest outermost modules are.
    """
    found: dict[str, str] = {}
    while True:
        matching = Matching(base, new, {**aliases, **found})
        pairs = matching.run()
        more = dict(_likely(matching, [Pair(-1, -1, "same"), *pairs]))
        if not pairs and not more:
            more = dict(_outermost(matching))
        if not more.keys() - found.keys():
            return found
        found = {**more, **found}


def _likely(matching: Matching, pairs: list[Pair]) -> Iterator[tuple[str, str]]:
    base, new = matching.base, matching.new
    for pair in pairs:
        left = _first_of_class(base, (node for node in base.below(pair.base) if node not in matching.partner))
        others = _first_of_class(new, (node for node in new.below(pair.new) if node not in matching.taken))
        for a in left:
            if (other := next((b for b in others if _may_be_one(matching, a, b)), None)) is not None:
                others.remove(other)
                yield str(base.names[a]), str(new.names[other])


def _outermost(matching: Matching) -> Iterator[tuple[str, str]]:
    """Yield the outermost modules with the most modules inside: a renamed model has nothing in common before they are one."""
    largest = []
    for tree in (matching.base, matching.new):
        named = [node for node in tree.below(-1) if tree.names[node] is not None]
        largest += [str(tree.names[node]) for node in sorted(named, key=lambda node: -sum(1 for _ in tree.inside([node])))[:1]]
    if len(largest) == 2:
        yield largest[0], largest[1]


def _may_be_one(matching: Matching, a: int, b: int) -> bool:
    base, new = matching.base, matching.new
    in_a = Counter(matching.called(base, one) for one in base.inside(base.below(a)))
    in_b = Counter(matching.called(new, one) for one in new.inside(new.below(b)))
    has_same_inside = bool(in_a) and (in_a & in_b).total() * 2 >= max(in_a.total(), in_b.total())
    has_same_ops = base.keys[a] is not None and base.keys[a] == new.keys[b]
    return has_same_inside or has_same_ops or _are_like(str(base.names[a]), str(new.names[b]))


def _first_of_class(tree: Tree, nodes: Iterable[int]) -> list[int]:
    """Return the first node of each class that has a name, of at most so many classes."""
    first: dict[str, int] = {}
    for node in nodes:
        if (name := tree.names[node]) is not None:
            first.setdefault(name, node)
    return list(first.values())[:_MOST_CLASSES]


def _are_like(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio() >= _LIKE_NAMES


AsLists = Mapping[str, Any]


def matched_nodes(base: AsLists, new: AsLists, aliases: list[str]) -> list[dict[str, Any]]:
    """Return matched() as SQL calls it: with trees as their lists, and base and new names of aliases in turn."""
    return [pair._asdict() for pair in matched(Tree(**base), Tree(**new), _in_pairs(aliases))]


def suggested_aliases(base: AsLists, new: AsLists, aliases: list[str]) -> list[dict[str, str]]:
    """Return suggested() as SQL calls it, like matched_nodes()."""
    found = suggested(Tree(**base), Tree(**new), _in_pairs(aliases))
    return [{"base": name, "new": other} for name, other in found.items()]


def _in_pairs(aliases: list[str]) -> Aliases:
    return dict(zip(aliases[::2], aliases[1::2], strict=True))
