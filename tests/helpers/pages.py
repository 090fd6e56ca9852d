"""Pages that show what the program prints: tests compare them, and `pytest --update` writes them anew."""

import re
import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from typer.testing import Result

from fixtures import generate
from tests.helpers.places import CHECKOUT

# Set by --update: pages that are older than the program are written anew.
updates = False
QUESTION = re.compile(r"<!-- question -->\n```\n\$ (.+?)\n(.*?)```", re.DOTALL)


def assert_is_current(file: Path, made: str) -> None:
    """Compare a file of the checkout with what it should hold; with --update it is written anew, and must be looked at."""
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    if updates and made != old:
        file.write_text(made, encoding="utf-8")
        return
    name = file.relative_to(CHECKOUT)
    assert made == old, f"{name} is not that of today: run this test with --update, look at the page, and commit it"


def assert_answers_are_of_today(page: Path, command: Callable[..., Result]) -> None:
    """Ask each question of a page in the current folder, in their order, and compare the answer with that of the page."""

    def answered(block: re.Match[str]) -> str:
        return f"<!-- question -->\n```\n$ {block[1]}\n{_answer(shlex.split(block[1]), command)}```"

    assert_is_current(page, QUESTION.sub(answered, page.read_text(encoding="utf-8")))


def _answer(words: list[str], command: Callable[..., Result]) -> str:
    if words[:3] == ["python", "-m", "fixtures.generate"]:
        said = StringIO()
        with redirect_stdout(said):
            generate.main(words[3:])
        return said.getvalue()
    assert words[0] == "prof-analysis"
    result = command(*words[1:])
    assert result.exit_code == 0, result.stderr
    return result.stdout
