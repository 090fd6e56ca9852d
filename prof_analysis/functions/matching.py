"""Matches the modules of two runs: two ordered trees of named nodes, in which each node has a key of its ops.

Nodes of one class below matched nodes are aligned by an edit script, so that an inserted one shifts no other. Of all alignments
it takes the one with the largest sum of weights, and of several such the one that matches the first nodes. What the alignment
leaves over is matched by class in another order, and last through modules that only one run has around it, such as
DistributedDataParallel.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from prof_analysis.functions.aliases import Aliases, renamed

if TYPE_CHECKING:
    import numpy

How = Literal["same", "wrapped", "alias"]
# Larger ones are aligned by order alone: the table of an edit script of 7,000 siblings with 7,000 others takes 50 MB.
_MOST_CELLS = 50_000_000
# The weights of two nodes: of one class, or by an alias; beside that: what is below them has the same classes; the same ops run
# in them; all is the same.
_SAME_CLASS, _ALIAS, _SAME_CLASSES_BELOW, _SAME_OPS, _SAME_SUBTREE = 10, 8, 4, 2, 4
# Of siblings without a partner, so many are looked into for modules that have one.
_MOST_WRAPPERS = 50


@dataclass(frozen=True)
class Tree:
    """An ordered forest: the parent of each node, -1 for an outermost one, its class and the key of its ops.

    A node comes after the one around it, and siblings come in order.
    """

    parents: Sequence[int]
    names: Sequence[str | None]
    keys: Sequence[int | None]

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The nodes directly in each node; those of -1 are the outermost ones."""
        found: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parents):
            found.setdefault(parent, []).append(node)
        return found

    @cached_property
    def paths(self) -> list[str]:
        """The classes of each node and of those around it, outermost first, joined by /."""
        found: list[str] = []
        for name, parent in zip(self.names, self.parents, strict=True):
            found.append(str(name) if parent < 0 else f"{found[parent]}/{name}")
        return found

    def below(self, node: int) -> list[int]:
        """Return the nodes directly in a node."""
        return self.children.get(node, [])

    def inside(self, nodes: Iterable[int]) -> Iterator[int]:
        """Yield nodes and all nodes in them."""
        stack = list(nodes)
        while stack:
            node = stack.pop()
            yield node
            stack += self.below(node)


class Pair(NamedTuple):
    """A node of the base and its partner; how they are one: by class, through modules of one run alone, or by an alias."""

    base: int
    new: int
    how: How


class _Codes(NamedTuple):
    """Numbers of the nodes of a tree; equal numbers, also in the other tree, mean equal things."""

    classes: list[int]
    keys: list[int]
    classes_below: list[int]
    subtrees: list[int]


@dataclass
class Matching:
    """The work of matching two trees: the partner of each node of the base, and which nodes of the new one are taken."""

    base: Tree
    new: Tree
    aliases: Aliases

    def __post_init__(self) -> None:
        known: dict[object, int] = {}
        self.base_codes, self.new_codes = _codes(self.base, known), _codes(self.new, known)
        self.class_codes = {name: known["class", name] for name in {*self.base.names, *self.new.names}}
        self.has_paths = any("/" in one for one in self.aliases)
        self.others: dict[tuple[str | None, str], frozenset[int]] = {}
        self.partner: dict[int, Pair] = {}
        self.taken: set[int] = set()

    def run(self) -> list[Pair]:
        """Match all nodes; return the pairs in the order of the base."""
        self.match_below(-1, -1, "same")
        if self.has_paths:
            self.match_paths()
        return [self.partner[node] for node in sorted(self.partner)]

    def match_below(self, base: int, new: int, how: How) -> None:
        """Match the nodes in two matched ones, and those in these."""
        to_do = [(base, new, how)]
        while to_do:
            base, new, how = to_do.pop()
            to_do += self.match_lists(self.base.below(base), self.new.below(new), how)

    def match_lists(self, base: list[int], new: list[int], how: How, unwrap: str = "either", depth: int = 0) -> list[Pair]:
        """Match siblings, and the rest of them through modules of one run alone; return the new pairs."""
        pairs = [*self.aligned(base, new)]
        pairs += self.in_other_order(_without(base, {a for a, _ in pairs}), _without(new, {b for _, b in pairs}))
        found = [self.note(a, b, how) for a, b in pairs]
        left, other = _without(base, {a for a, _ in pairs}), _without(new, {b for _, b in pairs})
        if depth > 20:
            return found
        if unwrap != "new":
            for node in left[:_MOST_WRAPPERS]:
                other = [one for one in other if one not in self.taken]
                if self.is_wrapper(node, self.base, self.new, other):
                    found += self.match_lists(self.base.below(node), other, _through(how), "base", depth + 1)
        if unwrap != "base":
            for node in [one for one in other if one not in self.taken][:_MOST_WRAPPERS]:
                left = [one for one in left if one not in self.partner]
                if self.is_wrapper(node, self.new, self.base, left):
                    found += self.match_lists(left, self.new.below(node), _through(how), "new", depth + 1)
        return found

    def note(self, a: int, b: int, how: How) -> Pair:
        """Make two nodes a pair."""
        is_alias = self.base.names[a] != self.new.names[b]
        self.partner[a] = Pair(a, b, "alias" if is_alias else how)
        self.taken.add(b)
        return self.partner[a]

    def is_wrapper(self, node: int, own: Tree, other: Tree, nodes: list[int]) -> bool:
        """Return whether at least half of the content of a node is in these nodes of the other tree, too."""
        in_it = Counter(self.called(own, one) for one in own.inside(own.below(node)))
        in_them = Counter(self.called(other, one) for one in other.inside(nodes)) if in_it else Counter[object]()
        return (in_it & in_them).total() * 2 >= max(1, in_it.total())

    def called(self, tree: Tree, node: int) -> object:
        """Return the class of a node by its name in the new run."""
        if tree is self.base and (others := self.other_classes(node)):
            return min(others)
        return self.class_codes[tree.names[node]]

    def other_classes(self, node: int) -> frozenset[int]:
        """Return the classes of the new run that a node of the base has by aliases."""
        if not self.aliases:
            return frozenset()
        name, path = self.base.names[node], self.base.paths[node] if self.has_paths else ""
        if (name, path) not in self.others:
            names = renamed(str(name), self.aliases)
            names += [one.rpartition("/")[2] for one in renamed(path, self.aliases) if "/" in path]
            self.others[name, path] = frozenset(self.class_codes[one] for one in names if one in self.class_codes)
        return self.others[name, path]

    def is_one(self, a: int, b: int) -> bool:
        """Return whether two nodes are of one class, or may be by an alias."""
        return self.base.names[a] == self.new.names[b] or self.class_codes[self.new.names[b]] in self.other_classes(a)

    def aligned(self, base: list[int], new: list[int]) -> Iterator[tuple[int, int]]:
        """Yield the pairs of the best alignment of siblings."""
        of_base, of_new = self.base_codes.subtrees, self.new_codes.subtrees
        first, last = 0, 0
        shorter = min(len(base), len(new))
        while first < shorter and of_base[base[first]] == of_new[new[first]]:
            first += 1
        while last < shorter - first and of_base[base[-1 - last]] == of_new[new[-1 - last]]:
            last += 1
        yield from zip(base[:first], new[:first], strict=True)
        rest, others = base[first : len(base) - last], new[first : len(new) - last]
        if len(rest) == len(others) == 1 or not rest or not others:
            yield from ((a, b) for a, b in zip(rest, others, strict=False) if self.is_one(a, b))
        elif len(rest) * len(others) <= _MOST_CELLS:
            yield from ((rest[i], others[j]) for i, j in self.best(rest, others))
        yield from zip(base[len(base) - last :], new[len(new) - last :], strict=True)

    def best(self, base: list[int], new: list[int]) -> list[tuple[int, int]]:
        """Return the places of the pairs with the largest sum of weights that cross no other pair (Needleman and Wunsch)."""
        import numpy

        def of_new(codes: list[int]) -> "numpy.ndarray":
            return numpy.array([codes[node] for node in new], dtype=numpy.int64)

        mine, others = self.base_codes, _Codes(*map(of_new, self.new_codes))  # type: ignore[arg-type]
        best = numpy.zeros(len(new) + 1, dtype=numpy.int64)
        # Whether the best result of the first i and j nodes is that without the i-th, or else that without the j-th.
        without_base = numpy.zeros((len(base), len(new)), dtype=numpy.bool_)
        without_new = numpy.zeros((len(base), len(new)), dtype=numpy.bool_)
        for i, node in enumerate(base):
            same_class = others.classes == mine.classes[node]  # type: ignore[comparison-overlap]
            weight = _SAME_CLASS * same_class
            for code in sorted(self.other_classes(node)):
                weight = numpy.maximum(weight, _ALIAS * (others.classes == code))  # type: ignore[comparison-overlap]
            weight = weight + (weight > 0) * (
                _SAME_CLASSES_BELOW * (others.classes_below == mine.classes_below[node])  # type: ignore[comparison-overlap]
                + _SAME_OPS * (others.keys == mine.keys[node])  # type: ignore[comparison-overlap]
                + _SAME_SUBTREE * (others.subtrees == mine.subtrees[node])  # type: ignore[comparison-overlap]
            )
            paired = numpy.where(weight > 0, best[:-1] + weight, 0)
            reached = numpy.maximum.accumulate(numpy.maximum(best[1:], paired))
            without_base[i] = reached == best[1:]
            without_new[i] = reached == numpy.concatenate(([0], reached[:-1]))
            best[1:] = reached
        pairs = []
        i, j = len(base), len(new)
        while i and j:
            if without_base[i - 1, j - 1]:
                i -= 1
            elif without_new[i - 1, j - 1]:
                j -= 1
            else:
                i, j = i - 1, j - 1
                pairs.append((i, j))
        return pairs[::-1]

    def in_other_order(self, base: list[int], new: list[int]) -> list[tuple[int, int]]:
        """Return pairs of the rest, in whatever order: first those in which all is the same, then those of one class."""
        pairs: list[tuple[int, int]] = []
        for codes, others in (
            (self.base_codes.subtrees, self.new_codes.subtrees),
            (self.base_codes.classes, self.new_codes.classes),
        ):
            free: dict[int, list[int]] = {}
            for node in reversed(_without(new, {b for _, b in pairs})):
                free.setdefault(others[node], []).append(node)
            for node in _without(base, {a for a, _ in pairs}):
                if free.get(codes[node]):
                    pairs.append((node, free[codes[node]].pop()))
        return pairs

    def match_paths(self) -> None:
        """Match nodes without a partner by aliases of paths, inside any other modules."""
        free: dict[str, list[int]] = {}
        for node in range(len(self.new.names) - 1, -1, -1):
            if node not in self.taken:
                free.setdefault(self.new.paths[node], []).append(node)
        for node, path in enumerate(self.base.paths):
            for other in renamed(path, self.aliases) if "/" in path and node not in self.partner else ():
                candidates = [one for one in free.get(other, []) if one not in self.taken]
                if candidates:
                    self.partner[node] = Pair(node, candidates[-1], "alias")
                    self.taken.add(candidates[-1])
                    self.match_below(node, candidates[-1], "alias")
                    break


def matched(base: Tree, new: Tree, aliases: Aliases) -> list[Pair]:
    """Return the pairs of nodes of two trees that are one module, in the order of the base.

    The pairs are the same whichever tree is the base: of ties, both ways round the same one is taken.
    """
    back = {other: name for name, other in aliases.items()}
    if len(back) < len(aliases) or _order(base) <= _order(new):
        return Matching(base, new, aliases).run()
    return sorted(Pair(one.new, one.base, one.how) for one in Matching(new, base, back).run())


def _order(tree: Tree) -> tuple[object, ...]:
    """Return a key that orders any two different trees."""
    keys = [-1 if key is None else key for key in tree.keys]
    return len(tree.names), list(map(str, tree.names)), list(tree.parents), keys


def _through(how: How) -> How:
    return "alias" if how == "alias" else "wrapped"


def _without(nodes: Iterable[int], others: set[int]) -> list[int]:
    return [node for node in nodes if node not in others]


def _codes(tree: Tree, known: dict[object, int]) -> _Codes:
    """Number the classes, keys and subtrees of a tree; `known` has the numbers of things that were met before."""

    def code(thing: object) -> int:
        return known.setdefault(thing, len(known))

    classes = [code(("class", name)) for name in tree.names]
    keys = [code(("key", key)) for key in tree.keys]
    classes_below, subtrees = [0] * len(classes), [0] * len(classes)
    for node in range(len(classes) - 1, -1, -1):
        below = tree.below(node)
        classes_below[node] = code(("below", classes[node], *(classes_below[one] for one in below)))
        subtrees[node] = code(("all", classes[node], keys[node], *(subtrees[one] for one in below)))
    return _Codes(classes, keys, classes_below, subtrees)
