"""Matching the modules of two runs: who is whose partner, and by which rule."""

import random
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from prof_analysis import InputError, compare
from prof_analysis.common.aliases import read_aliases
from prof_analysis.functions.matching import Matching, Tree, matched
from prof_analysis.functions.suggestions import suggested
from tests.helpers.says import says
from tests.helpers.small_profile import Frame, Kernel, Op, Range, write_profile
from tests.helpers.small_runs import Module, module, write_run

HOW = {"same": "", "wrapped": " wrapped", "alias": " alias"}


def tree(text: str) -> Tree:
    """`Net(Layer:1 Layer:2(Norm))` as a tree: a class, after a colon the key of what runs in it, in brackets what is below."""
    parents: list[int] = []
    names: list[str | None] = []
    keys: list[int | None] = []
    around = [-1]
    for word in re.findall(r"[\w:]+|[()]", text):
        if word == "(":
            around.append(len(names) - 1)
        elif word == ")":
            around.pop()
        else:
            name, _, key = word.partition(":")
            parents.append(around[-1])
            names.append(name)
            keys.append(int(key) if key else None)
    return Tree(parents, names, keys)


def pairs(base: str, new: str, aliases: dict[str, str] | None = None) -> str:
    """The pairs as places in the texts, with how they match where that is not by their classes."""
    found = matched(tree(base), tree(new), aliases or {})
    return " ".join(f"{one.base}={one.new}{HOW[one.how]}" for one in found)


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        pytest.param("Net(A B)", "Net(A B)", "0=0 1=1 2=2", id="equal"),
        pytest.param("Net(L:1 L:2 L:3)", "Net(L:1 L:9 L:2 L:3)", "0=0 1=1 2=3 3=4", id="a layer in the middle shifts nobody"),
        pytest.param("Net(L:1 L:9 L:2 L:3)", "Net(L:1 L:2 L:3)", "0=0 1=1 3=2 4=3", id="a layer less"),
        pytest.param("Net(L L L)", "Net(L L)", "0=0 1=1 2=2", id="of equal layers the last one is gone"),
        pytest.param("Net(L:1 L:2)", "Net(L:5 L:6 L:7)", "0=0 1=1 2=2", id="other ops everywhere: the first ones match"),
        pytest.param(
            "Net(L:1(Dense) L:2(Experts))",
            "Net(L:3(Dense) L:4(Dense) L:5(Experts))",
            "0=0 1=1 2=2 3=5 4=6",
            id="other ops everywhere: what is below says which layer is which",
        ),
        pytest.param("Net(A B C)", "Net(B A C)", "0=0 1=2 2=1 3=3", id="another order"),
        pytest.param("Net(A:1 A:2 B)", "Net(B A:2)", "0=0 2=2 3=1", id="another order, and of two the equal one"),
        pytest.param("Net(A)", "Other(A)", "", id="another root: nothing is matched silently"),
        pytest.param("Net(Attn(Q K V) X)", "Net(NpuAttn(Q K V) X)", "0=0 5=5", id="another class: what is in it neither"),
        pytest.param("Net(A B)", "DDP(Net(A B))", "0=1 wrapped 1=2 wrapped 2=3 wrapped", id="around the new run"),
        pytest.param("DDP(Half(Net(A)))", "Net(A)", "2=0 wrapped 3=1 wrapped", id="twice around the base"),
        pytest.param("Net(Linear X)", "Net(Lora(Linear Down Up) X)", "0=0 2=5", id="most of it is new: no wrapper"),
        pytest.param("Net(Linear X)", "Net(Lora(Linear Down) X)", "0=0 1=2 wrapped 2=4", id="half of it is new: a wrapper"),
        pytest.param("Net(Layer(Norm A B C))", "Net(Norm)", "0=0", id="a module gone is no wrapper of another one"),
        pytest.param("Net(A) Loss", "Net(A) Loss", "0=0 1=1 2=2", id="several roots"),
        pytest.param("Net(A) Net(B)", "Net(A)", "0=0 1=1", id="roots of one class"),
        pytest.param("A", "", "", id="no modules"),
    ],
)
def test_partners(base: str, new: str, expected: str) -> None:
    assert pairs(base, new) == expected
    turned = [one.replace(" wrapped", "") for one in re.findall(r"\S+=\S+(?: wrapped)?", expected)]
    if "L L L" not in base:
        back = {f"{one.new}={one.base}" for one in matched(tree(new), tree(base), {})}
        assert back == set(turned), "the same pairs whichever run is the base"


ALIASED = {
    "a class": ("Net(Attn(Q K) X)", "Net(NpuAttn(Q K) X)", {"Attn": "NpuAttn"}, "0=0 1=1 alias 2=2 alias 3=3 alias 4=4"),
    "a part": ("TheNet(TheMLP X)", "NpuTheNet(NpuTheMLP X)", {"The*": "NpuThe*"}, "0=0 alias 1=1 alias 2=2 alias"),
    "a path, there alone": ("Net(A(X) B(X))", "Net(A(Y) B(Y))", {"Net/A/X": "Net/A/Y"}, "0=0 1=1 2=2 alias 3=3"),
    "a path, deeper": ("Net(A(X))", "Net(W(V(X)))", {"Net/A": "Net/W/V"}, "0=0 1=2 alias 2=3 alias"),
    "its own class is still one": ("Net(A A)", "Net(A B)", {"A": "B"}, "0=0 1=1 2=2 alias"),
    "a class that is not there": ("Net(A)", "Net(C)", {"A": "B"}, "0=0"),
}


@pytest.mark.parametrize(("base", "new", "aliases", "expected"), ALIASED.values(), ids=list(ALIASED))
def test_partners_by_alias(base: str, new: str, aliases: dict[str, str], expected: str) -> None:
    assert pairs(base, new, aliases) == expected


SUGGESTED = {
    "on all levels": ("Net(Attn(Q))", "NpuNet(NpuAttn(Q))", {"Net": "NpuNet", "Attn": "NpuAttn"}),
    "the same ops": ("Net(A:7 X)", "Net(Zzz:7 X)", {"A": "Zzz"}),
    "another one is gone": ("Net(Gone Attention)", "Net(NpuAttention)", {"Attention": "NpuAttention"}),
    "nothing alike": ("Net(A X)", "Net(Zzz X)", {}),
    "nothing at its place": ("Net(A B)", "Net(A)", {}),
}


@pytest.mark.parametrize(("base", "new", "expected"), SUGGESTED.values(), ids=list(SUGGESTED))
def test_suggestions(base: str, new: str, expected: dict[str, str]) -> None:
    assert suggested(tree(base), tree(new), {}) == expected
    if expected:
        assert len(matched(tree(base), tree(new), expected)) > len(matched(tree(base), tree(new), {}))


def best_weight(weights: list[list[int]]) -> int:
    """The largest sum of weights that cross no other, by trying everything."""

    @cache
    def best(a: int, b: int) -> int:
        if a == len(weights) or b == len(weights[a]):
            return 0
        return max(best(a + 1, b), best(a, b + 1), weights[a][b] + best(a + 1, b + 1))

    return best(0, 0)


def test_an_alignment_is_the_best_of_all() -> None:
    drawn = random.Random(3)
    for _ in range(150):
        siblings = [[(drawn.choice("AB"), drawn.randint(1, 3)) for _ in range(drawn.randint(0, 6))] for _ in range(2)]
        base, new = (tree(f"Net({' '.join(f'{name}:{key}' for name, key in some)})") for some in siblings)
        weights = [[(20 if a == b else 14) if a[0] == b[0] else 0 for b in siblings[1]] for a in siblings[0]]
        found = list(Matching(base, new, {}).aligned(base.below(0), new.below(0)))
        assert all(a < c and b < d for (a, b), (c, d) in pairwise(found)), siblings
        assert sum(weights[a - 1][b - 1] for a, b in found) == best_weight(weights), siblings
        assert all(weights[a - 1][b - 1] for a, b in found), siblings


def test_thousands_of_siblings_take_no_minutes() -> None:
    drawn, size = random.Random(5), 2000
    keys = [[None, *(drawn.randint(0, 900) for _ in range(size))] for _ in range(2)]
    base, new = (Tree([-1, *[0] * size], ["Net", *["L"] * size], one) for one in keys)
    assert len(matched(base, new, {})) == size + 1


def layer(*times: int) -> Module:
    return module("Layer", module("Norm", ("norm", times[0])), module("Linear", *(("mm", time) for time in times[1:])))


@pytest.mark.slow
def test_rules_and_names_of_modules_over_runs(tmp_path: Path) -> None:
    """A layer is inserted, ops are others, a wrapper is around, a class is renamed: each has its own run beside the base."""
    base = write_run(tmp_path / "before", [[module("Net", layer(1, 2), layer(1, 2, 3))]])
    inserted = write_run(tmp_path / "inserted", [[module("Net", layer(1, 2), module("Layer", ("add", 9)), layer(1, 2, 3))]])
    other_ops = write_run(tmp_path / "other_ops", [[module("Net", layer(1, 2, 5), layer(1, 2, 3))]])
    wrapped = write_run(tmp_path / "wrapped", [[module("DDP", module("Net", layer(1, 2), layer(1, 2, 3)))]])
    shared = {"Norm": "RMSNorm"}
    renamed = write_run(
        tmp_path / "renamed", [[module("Net", module("Layer", module("RMSNorm", ("norm", 1))), layer(1, 2, 3))]]
    )
    with compare(base, inserted, other_ops, wrapped, renamed, alias=shared, cache="none") as comparison:
        assert comparison.runs == ("inserted", "other_ops", "wrapped", "renamed")
        found = comparison.rows("SELECT run, rule, base_path, new_path FROM runs.module_match ORDER BY match_id")
    rules: dict[str, list[tuple[str, str | None, str | None]]] = {}
    for row in found:
        rules.setdefault(row["run"], []).append((row["rule"], row["base_path"], row["new_path"]))
    first, second = "Net[0]/Layer[0]", "Net[0]/Layer[1]"
    third = "Net[0]/Layer[2]"
    names = ["", "/Norm[0]", "/Linear[0]"]
    assert rules["inserted"] == [
        ("instance", "Net[0]", "Net[0]"),
        *(("instance", first + name, first + name) for name in names),
        ("only new", None, second),
        *(("sequence", second + name, third + name) for name in names),
    ]
    assert {rule for rule, _, _ in rules["other_ops"]} == {"instance"}
    assert rules["wrapped"] == [
        ("only new", None, "DDP[0]"),
        *(
            ("wrapped", path, f"DDP[0]/{path}")
            for path in ("Net[0]", *(one + name for one in (first, second) for name in names))
        ),
    ]
    assert [one for one in rules["renamed"] if one[0] != "instance"] == [
        ("alias", f"{first}/Norm[0]", f"{first}/RMSNorm[0]"),
        ("only base", f"{first}/Linear[0]", None),
    ]


@pytest.mark.slow
def test_a_layer_at_another_place_with_other_ops(tmp_path: Path) -> None:
    base = write_run(tmp_path / "a", [[module("Net", module("A", ("x", 1)), module("L", ("mm", 1), ("add", 1)))]])
    new = write_run(tmp_path / "b", [[module("Net", module("L", ("y", 1)), module("A", ("x", 1)), module("L", ("mm", 1)))]])
    with compare(base, new, cache="none") as comparison:
        found = comparison.rows("SELECT rule, base_path, new_path FROM runs.module_match ORDER BY match_id")
    assert [tuple(row.values()) for row in found] == [
        ("instance", "Net[0]", "Net[0]"),
        ("only new", None, "Net[0]/L[0]"),
        ("instance", "Net[0]/A[0]", "Net[0]/A[0]"),
        ("path", "Net[0]/L[0]", "Net[0]/L[1]"),
    ]


@pytest.mark.slow
def test_other_models_have_nothing_to_compare(tmp_path: Path) -> None:
    base = write_run(tmp_path / "a", [[module("Net", ("mm", 1))]])
    new = write_run(tmp_path / "b", [[module("Unet", ("conv", 1))]])
    message = says("b: ", "no module in common", "a (Unet against Net)", "runs of one model", "name what corresponds").pattern
    with compare(base, new, cache="none") as comparison:
        with pytest.raises(InputError, match=message):
            comparison.modules()
        assert comparison.suggest_aliases(tmp_path / "names.csv") == 1
    assert (tmp_path / "names.csv").read_text(encoding="utf-8").splitlines() == ["base,new,run", "Net,Unet,new"]
    with compare(base, new, alias=tmp_path / "names.csv", cache="none") as comparison:
        assert comparison.modules().rule.tolist() == ["alias"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a,b\n", "names.csv: the first line .* base,new", id="head"),
        pytest.param("base,new\nA\n", "names.csv: line 2: give two names", id="one name"),
        pytest.param("base,new\n\nA*,B\n", r"names.csv: line 3: A\* and B have different", id="parts"),
        pytest.param("base,new\nA,B\nA,B\nA,C\n", "names.csv: line 4: A is B .*; give one name", id="two names"),
        pytest.param("base,new\n\x00\xff", "is no csv file in UTF-8|give two names", id="no text"),
        pytest.param(None, r"names.csv: cannot be read \(No such file", id="no file"),
    ],
)
def test_a_file_of_aliases_that_cannot_be_used(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "names.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=message):
        compare(tmp_path, tmp_path, alias=tmp_path / "names.csv")


def test_a_file_of_aliases_as_spreadsheets_write_it(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_bytes('\ufeffbase,new,note\r\n"A, the first", B ,x\r\n\'=C,D\r\n'.encode())
    assert read_aliases(tmp_path / "names.csv") == {"A, the first": "B", "=C": "D"}


@pytest.mark.slow
def test_modules_of_the_tracer_match_those_that_mstx_marks(tmp_path: Path) -> None:
    """The tracer also sees the wrapper of the framework, and numbers its modules in its own way."""
    op = Op("mm", 130, 140, (Kernel("mm", 1000, 1010),))
    for name, ranges, frames in (
        ("a", [Range("Net", 100, 200), Range("Linear", 120, 150)], []),
        ("b", [], [Frame(f"nn.Module: {one}", at, 300 - at) for one, at in (("DDP_0", 90), ("Net_4", 100), ("Linear_7", 120))]),
    ):
        write_profile(tmp_path / name / "rank0_ascend_pt", [op], ranges, frames=frames, steps=[(3, 50, 400)])
    with compare(tmp_path / "a", tmp_path / "b", cache="none") as comparison:
        frame = comparison.modules().sort_values("match_id")
    assert frame[["rule", "module", "base_total_ns", "new_total_ns"]].values.tolist() == [
        ["only new", "DDP[0]", 0, 10],
        ["wrapped", "Net[0]", 10, 10],
        ["wrapped", "Linear[0]", 10, 10],
    ]
