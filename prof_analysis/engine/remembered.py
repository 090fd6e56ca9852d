"""Remembers, between runs, what DuckDB says about the project's SQL: to parse and plan it takes longer than a small profile.

The answers are in one file in the user's cache folder. Its name has a digest of all code and SQL, so other versions have other
files. Nothing of profiles is in it, and nothing of the user's own tables.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from prof_analysis.common.user_cache import cache_folder, write_beside_others
from prof_analysis.engine.code import code_digest

_PREFIX = "plans-"


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


def read(folder: Path) -> None:
    """Add the answers that are kept in a folder to those that are known in this process."""
    _known().update(_read(folder / _name()))


def write(folder: Path) -> None:
    """Keep the answers that are known in this process in a folder too, beside those that others keep there."""
    with suppress(OSError):
        text = json.dumps({**_read(folder / _name()), **_known()})
        write_beside_others(folder / _name(), f"{sha256(text.encode()).hexdigest()}\n{text}", _PREFIX)


def _key(question: str, sql: str) -> str:
    return f"{question} {sha256(sql.encode()).hexdigest()[:32]}"


def _name() -> str:
    return f"{_PREFIX}{code_digest()[:24]}.json"


@cache
def _known() -> dict[str, Any]:
    """Return the answers that are known in this process: at first those of the file."""
    folder = cache_folder()
    return {} if folder is None else _read(folder / _name())


def _read(file: Path) -> dict[str, Any]:
    """Return the answers in a file; none where it is missing or damaged, as the digest in its first line says."""
    with suppress(OSError, ValueError):
        digest, _, text = file.read_text(encoding="utf-8").partition("\n")
        if digest == sha256(text.encode()).hexdigest():
            return dict(json.loads(text))
    return {}
