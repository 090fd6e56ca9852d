"""The notebook of the quickstart: its stored outputs are those of its cells, and hold nothing of the machine that made them."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import nbclient
import nbformat
import pytest

from tests.helpers.places import CHECKOUT

NOTEBOOK = CHECKOUT / "notebooks" / "quickstart.ipynb"
# A path from the root, a time of day, an object without a text of its own.
OF_A_MACHINE = re.compile(r"(?<![\w.<])/(?:home|root|tmp|usr|work|Users|mnt|opt|var)/|\d\d:\d\d:\d\d|\w+ at 0x[0-9a-f]{6,}")


def code_of(notebook: Any) -> Iterator[Any]:
    return (cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def digest_of(notebook: Any) -> str:
    """A digest of the code that made the outputs: whoever edits a cell must run the notebook."""
    return sha256("\n\n".join("".join(cell["source"]) for cell in code_of(notebook)).encode()).hexdigest()


def metadata_of(notebook: Any) -> dict[str, Any]:
    return {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "outputs_of": digest_of(notebook),
    }


def test_stored_outputs_are_of_these_cells_and_of_no_machine() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = list(code_of(notebook))
    assert notebook["metadata"] == metadata_of(notebook), "a cell was edited: run the slow test below, which stores outputs"
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert [bool(cell["outputs"]) for cell in cells] == [True] * (len(cells) - 1) + [False], "all but close() show something"
    assert all(cell["metadata"] == {} for cell in notebook["cells"]), "no times of execution"
    for output in (output for cell in cells for output in cell["outputs"]):
        assert output["output_type"] in ("execute_result", "stream"), output
        assert output.get("name", "stdout") == "stdout", output
        assert not OF_A_MACHINE.search(json.dumps(output)), output


@pytest.mark.slow
def test_the_notebook_gives_the_outputs_that_are_stored() -> None:
    """Outputs that are older than the program are written anew, and the test fails: look at them and commit them."""
    stored = NOTEBOOK.read_text(encoding="utf-8")
    notebook = nbformat.reads(stored, as_version=4)  # type: ignore[no-untyped-call]
    place = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(notebook, timeout=120, resources=place, record_timing=False).execute()
    notebook.metadata = metadata_of(notebook)
    made = nbformat.writes(notebook) + "\n"  # type: ignore[no-untyped-call]
    if made != stored:
        NOTEBOOK.write_text(made, encoding="utf-8")
    assert made == stored, "the outputs of the notebook were not those of today and are written anew: look at them, commit them"
    assert "Qwen2Attention" in made
