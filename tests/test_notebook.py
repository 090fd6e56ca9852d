"""The notebooks: their stored outputs are those of their cells, and hold nothing of the machine that made them."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from prof_analysis import Profile
from prof_analysis.pictures.figures.plots import ComparisonPlots, ProfilePlots
from prof_analysis.profile.comparison import Comparison
from tests.helpers.pages import assert_is_current
from tests.helpers.places import CHECKOUT

NOTEBOOKS = sorted((CHECKOUT / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
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


def draws(cell: Any) -> bool:
    """Whether a cell shows a picture. Pictures are large, so they are not stored: whoever runs the notebook sees them."""
    return ".plot." in "".join(cell["source"]).splitlines()[-1]


def ends(cell: Any) -> bool:
    return ".close()" in "".join(cell["source"])


@each_notebook
def test_stored_outputs_are_of_these_cells_and_of_no_machine(file: Path) -> None:
    notebook = json.loads(file.read_text(encoding="utf-8"))
    cells = list(code_of(notebook))
    assert notebook["metadata"] == metadata_of(notebook), (
        "a cell was edited: run the slow test below with --update, which stores outputs"
    )
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert ends(cells[-1])
    for cell in cells:
        assert bool(cell["outputs"]) != (draws(cell) or ends(cell)), "all but pictures and close() show something"
    assert all(cell["metadata"] == {} for cell in notebook["cells"]), "no times of execution"
    for output in (output for cell in cells for output in cell["outputs"]):
        assert output["output_type"] in ("execute_result", "stream"), output
        assert output.get("name", "stdout") == "stdout", output
        assert not OF_A_MACHINE.search(json.dumps(output)), output
    assert file.stat().st_size < 100_000


@each_notebook
def test_each_notebook_is_in_the_index_and_asks_for_what_there_is(file: Path) -> None:
    """The quick part of the test below: the questions of its cells are methods."""
    for index in ("docs/notebooks.md", "docs/zh/notebooks.md"):
        assert f"notebooks/{file.name})" in (CHECKOUT / index).read_text(encoding="utf-8")
    for cell in code_of(json.loads(file.read_text(encoding="utf-8"))):
        for name, plot, method in re.findall(r"\b(profile|comparison)\.(plot\.)?(\w+)\(", "".join(cell["source"])):
            of = {"profile": (Profile, ProfilePlots), "comparison": (Comparison, ComparisonPlots)}[name][bool(plot)]
            assert hasattr(of, method), f"{name}.{plot}{method}"


@pytest.mark.slow
@each_notebook
def test_the_notebook_gives_the_outputs_that_are_stored(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLOTLY_RENDERER", "plotly_mimetype")
    notebook = nbformat.reads(file.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    place = {"metadata": {"path": str(file.parent)}}
    nbclient.NotebookClient(notebook, timeout=120, resources=place, record_timing=False).execute()
    for cell in code_of(notebook):
        pictures = [output for output in cell.outputs if output.output_type == "display_data"]
        assert [[*picture.data] for picture in pictures] == [["application/vnd.plotly.v1+json"]] * draws(cell)
        cell.outputs = [output for output in cell.outputs if output not in pictures]
    notebook.metadata = metadata_of(notebook)
    assert_is_current(file, nbformat.writes(notebook) + "\n")  # type: ignore[no-untyped-call]
