"""Reads what a user added to a recording with add_metadata() and add_metadata_json(), as texts to show."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from prof_analysis.common.input_files import SETTINGS_BYTES
from prof_analysis.sources.ascend_beside import recorded
from prof_analysis.sources.rank import json_object
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query

_OF_THE_PROFILER = ("parallel_group_info", "distributed_args", recorded.SETTINGS, "trace_id")
_OF_THE_SCHEMA = "SCHEMA_VERSION"
_MOST_KEYS = 50
_MOST_LETTERS = 200


def in_files(folders: Iterable[Path]) -> tuple[str, ...]:
    """Return the keys with their values of the first profiler_metadata.json in these folders; none where it has none."""
    files = [file for folder in folders if (file := folder / recorded.METADATA).is_file()]
    return _as_texts(json_object(files[0])) if files else ()


def in_database(file: SqliteFile) -> tuple[str, ...]:
    """Return the keys with their values in META_DATA, where the profiler puts them too."""
    if not {"name", "value"} <= file.tables.get("META_DATA", {}).keys():
        return ()
    content: dict[str, Any] = {}
    small = f"typeof(name) = 'text' AND length(CAST(value AS BLOB)) <= {SETTINGS_BYTES}"
    for name, value in query(file, f"SELECT name, value FROM META_DATA WHERE {small} ORDER BY rowid"):
        content[str(name)] = value
        with suppress(ValueError, RecursionError):
            content[str(name)] = json.loads(str(value))
    return _as_texts(content)


def _as_texts(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a text for each key of the user, as in `lr: 0.001`: of many the first ones, and of long values the beginning."""
    own = {key: value for key, value in content.items() if key not in _OF_THE_PROFILER and not key.startswith(_OF_THE_SCHEMA)}
    texts = [f"{_cut(key)}: {_cut(value if isinstance(value, str) else json.dumps(value))}" for key, value in own.items()]
    more = [f"{len(texts) - _MOST_KEYS} more keys"] if len(texts) > _MOST_KEYS else []
    return (*texts[:_MOST_KEYS], *more)


def _cut(text: str) -> str:
    """Return the beginning of a long text, and how much more there is; lone surrogates are not UTF-8."""
    shown = text[:_MOST_LETTERS].encode("utf-8", "replace").decode("utf-8")
    more = len(text) - _MOST_LETTERS
    return f"{shown}... ({more:,} more)" if more > 0 else shown
