"""The notebooks: their stored outputs are those of their cells, and hold nothing of the machine that made them."""

import json
import re
from base64 import b64decode
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

PLOTLY, PNG = "application/vnd.plotly.v1+json", "image/png"


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
    """Whether a cell shows a picture."""
    return ".plot." in "".join(cell["source"]).splitlines()[-1]


def pictures_of(notebook: Any) -> list[Any]:
    return [output["data"] for cell in code_of(notebook) for output in cell["outputs"] if PLOTLY in output.get("data", {})]


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
        assert bool(cell["outputs"]) != ends(cell), "all but close() show something"
        for output in cell["outputs"] if draws(cell) else ():
            assert {*output["data"]} == {PLOTLY, PNG, "text/plain"}, "interactive, and in pixels for what shows nothing else"
            assert b64decode(output["data"][PNG]).startswith(b"\x89PNG") and len(output["data"][PNG]) > 20_000
    assert all(cell["metadata"] == {} for cell in notebook["cells"]), "no times of execution"
    for output, is_drawn in ((output, draws(cell)) for cell in cells for output in cell["outputs"]):
        assert output["output_type"] in (("display_data",) if is_drawn else ("execute_result", "stream")), output
        assert output.get("name", "stdout") == "stdout", output
        said = {**output, "data": {kind: value for kind, value in output.get("data", {}).items() if kind != PNG}}
        assert not OF_A_MACHINE.search(json.dumps(said)), output
    assert file.stat().st_size < 1_000_000


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
    for cell in code_of(notebook):  # A warning names a file of the kernel, which has another name each time.
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    stored = pictures_of(json.loads(file.read_text(encoding="utf-8")))
    for position, picture in enumerate(pictures_of(notebook)):
        # Pixels depend on fonts and on the browser: the stored ones stay while the picture is the same.
        drawn = next((old[PNG] for old in stored[position : position + 1] if old[PLOTLY] == picture[PLOTLY]), picture.get(PNG))
        assert drawn, "a picture changed: run this with --update where kaleido and Chrome can draw it"
        picture[PNG] = drawn
        picture["text/plain"] = picture["text/plain"].partition(" (")[0]
        for kind in sorted(picture):
            picture[kind] = picture.pop(kind)
    notebook.metadata = metadata_of(notebook)
    assert_is_current(file, nbformat.writes(notebook) + "\n")  # type: ignore[no-untyped-call]
