"""Pages that show commands and their answers."""

import re
import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from typer.testing import Result

from fixtures import generate
from tests.helpers.places import CHECKOUT

QUESTION = re.compile(r"<!-- question -->\n```\n\$ (.+?)\n(.*?)```", re.DOTALL)


def assert_answers_are_of_today(page: Path, command: Callable[..., Result]) -> None:
    """Ask each question of a page in the current folder, in their order, and compare the answer with that of the page.

    A page that is older than the program is written anew, and the test fails: look at it and commit it.
    """

    def answered(block: re.Match[str]) -> str:
        return f"<!-- question -->\n```\n$ {block[1]}\n{_answer(shlex.split(block[1]), command)}```"

    old = page.read_text(encoding="utf-8")
    new = QUESTION.sub(answered, old)
    if new != old:
        page.write_text(new, encoding="utf-8")
    name = page.relative_to(CHECKOUT)
    assert new == old, f"answers in {name} were not those of today and are written anew: look at them and commit them"


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
