"""Remembers, between runs, what DuckDB says about the project's SQL: to parse and plan it takes longer than a small profile.

The answers are in one file in the user's cache folder, whose name has a digest of all code and SQL: other versions have other
files. A wheel brings those about databases. Nothing of profiles is in them, and nothing of the user's own tables.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from prof_analysis.common.user_cache import cache_folder, write_beside_others
from prof_analysis.engine.code import code_digest

_PREFIX = "plans-"
# Only a wheel has it: a checkout changes.
_OF_THE_WHEEL = Path(__file__).parent.parent / "plans.json"
_CODE = "code"


def recall(question: str, sql: str) -> Any | None:
    """Return the answer to a question about a piece of SQL, as JSON gives it; None where it is not known."""
    return _known().get(_key(question, sql))


def keep(answers: Mapping[tuple[str, str], Any]) -> None:
    """Keep answers, each by its question and the SQL that it is about, for this process and, where there is a cache, others."""
    known = _known()
    new = {key: answer for one, answer in answers.items() if (key := _key(*one)) not in known}
    known.update(new)
    if new and (folder := cache_folder()):
        write(folder)


def count() -> int:
    """Return how many answers are known in this process."""
    return len(_known())


def read(folder: Path) -> None:
    """Add the answers that are kept in a folder to those that are known in this process."""
    _known().update(_read(folder / _name()))


def write(folder: Path) -> None:
    """Keep the answers that are known in this process in a folder too, beside those that others keep there."""
    with suppress(OSError):
        write_beside_others(folder / _name(), as_text(_read(folder / _name())), _PREFIX)


def as_text(others: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return what is known in this process, and other answers, as the text of a file."""
    text = json.dumps({**others, **_known(), _CODE: code_digest()})
    return f"{sha256(text.encode()).hexdigest()}\n{text}"


def _key(question: str, sql: str) -> str:
    return f"{question} {sha256(sql.encode()).hexdigest()[:32]}"


def _name() -> str:
    return f"{_PREFIX}{code_digest()[:24]}.json"


@cache
def _known() -> dict[str, Any]:
    """Return the answers that are known in this process: at first those of the file, or those that came with this version."""
    folder = cache_folder()
    return ({} if folder is None else _read(folder / _name())) or _read(_OF_THE_WHEEL)


def _read(file: Path) -> dict[str, Any]:
    """Return the answers in a file; none where it is missing, of other code, or damaged, as its first line says."""
    with suppress(OSError, ValueError):
        digest, _, text = file.read_text(encoding="utf-8").partition("\n")
        if digest == sha256(text.encode()).hexdigest():
            answers = dict(json.loads(text))
            return answers if answers.get(_CODE) == code_digest() else {}
    return {}
