"""The suite itself: what it prints at its end is about the tests."""

import ast
import re

import pytest

from tests.helpers.places import CHECKOUT
from tests.helpers.says import says


def test_no_signature_of_a_test_keeps_a_type_of_duckdb_alive() -> None:
    """DuckDB prints pages of "nanobind: leaked" at the end of a process in which one of its types is still alive.

    After a property test of hypothesis, pytest's session outlives the interpreter, and with it its fixtures and what their
    signatures name. As texts, annotations keep nothing alive: `from __future__ import annotations`.
    """
    files = (CHECKOUT / "tests").rglob("*.py")
    assert [file.name for file in files if names_duckdb(ast.parse(file.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    ("words", "texts", "others"),
    [
        (
            ("a.csv", "2 rows"),
            ["2 rows of a.csv", "of a.csv 2 rows\n"],
            ["2 rows of b.csv", "12 rows of a.csv", "a.csv\n2 rows"],
        ),
        (("5 ns",), ["(5 ns)", "it takes 5 ns, or more"], ["1.5 ns", "1,5 ns", "-5 ns", "5 nsec"]),
        ((0, says("left out")), ["0 are left out", "left out: 0"], ["0.5 are left out", "left over: 0", "0 are left", ""]),
    ],
)
def test_what_a_sentence_tells_is_each_of_its_words_in_one_line(
    words: tuple[object, ...], texts: list[str], others: list[str]
) -> None:
    assert texts == [says(*words)] * len(texts)
    assert [text for text in others if text == says(*words)] == []
    assert not [text for text in texts if re.search(says(*words).pattern, text) is None]
    with pytest.raises(AssertionError, match="empty word"):
        says(*words, "")


def names_duckdb(tree: ast.Module) -> bool:
    """Whether a signature in a file holds a type of DuckDB, and not its name."""
    if any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body):
        return False
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    annotations = [one for function in functions for one in (function.returns, *(a.annotation for a in function.args.args))]
    return any("duckdb." in ast.unparse(one) for one in annotations if one is not None)
