"""The suite itself: what it prints at its end is about the tests."""

import ast

from tests.helpers.places import CHECKOUT


def test_no_signature_of_a_test_keeps_a_type_of_duckdb_alive() -> None:
    """DuckDB prints pages of "nanobind: leaked" at the end of a process in which one of its types is still alive.

    After a property test of hypothesis, pytest's session outlives the interpreter, and with it its fixtures and what their
    signatures name. As texts, annotations keep nothing alive: `from __future__ import annotations`.
    """
    files = (CHECKOUT / "tests").rglob("*.py")
    assert [file.name for file in files if names_duckdb(ast.parse(file.read_text(encoding="utf-8")))] == []


def names_duckdb(tree: ast.Module) -> bool:
    """Whether a signature in a file holds a type of DuckDB, and not its name."""
    if any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body):
        return False
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    annotations = [one for function in functions for one in (function.returns, *(a.annotation for a in function.args.args))]
    return any("duckdb." in ast.unparse(one) for one in annotations if one is not None)
