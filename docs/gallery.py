"""Write the pictures of docs/gallery.md into a folder, each as a page of HTML, by the code that the page shows.

python -m docs.gallery FOLDER
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docs.index import CHECKOUT
from fixtures import generate

PAGE = Path(__file__).with_suffix(".md")
# The line of code of each picture, which its mark follows.
PICTURE = re.compile(r"```python\n([^\n]+)\n```\n(?:(?!```|<!--).)+<!-- picture: (\w+) -->", re.DOTALL)


def pictures() -> dict[str, str]:
    """Return the line of code that makes each picture of the page."""
    return {name: code for code, name in PICTURE.findall(PAGE.read_text(encoding="utf-8"))}


def write(folder: Path) -> dict[str, int | None]:
    """Write all pictures into a folder, beside the plotly that they share; return their heights, None for a whole page."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.absolute()
    old = Path.cwd()
    with TemporaryDirectory() as scratch:
        shutil.copytree(CHECKOUT / "fixtures" / "sample", Path(scratch, "fixtures", "sample"))
        os.chdir(scratch)  # The page names profiles as in a folder of the user's own.
        try:
            for line in _block("profiles").splitlines():
                generate.main(shlex.split(line)[3:])
            known: dict[str, Any] = {}
            exec(_block("open"), known)
            return {name: _write(folder / f"{name}.html", code, known) for name, code in pictures().items()}
        finally:
            os.chdir(old)


def _block(mark: str) -> str:
    """Return the block of the page behind a mark."""
    return PAGE.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n```")[2].partition("\n")[2].partition("```")[0]


def _write(file: Path, code: str, known: dict[str, Any]) -> int | None:
    """Write one picture: what a line of code returns, or the page that it writes."""
    made = eval(code, known)
    if not hasattr(made, "write_html"):
        shutil.move("report.html", file)
        return None
    made.write_html(file, include_plotlyjs="directory")
    return int(made.layout.height)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
