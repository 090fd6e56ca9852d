"""Command lines that people can copy: the options of a profile as they are spelled there."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from prof_analysis.common.option_docs import ANSWER, INPUT, MODULES, documented
from prof_analysis.common.options import ProfileOptions

# Options that have another name on the command line.
_WORDS = {"module_domains": "module_domain", "thresholds": "threshold", "sql": "sql_folder"}
# What a shell would not leave as it is between double quotes.
_SIGNS = '"$`\\!'


def word(name: str) -> str:
    """Return the name of an option of a profile on the command line."""
    return f"--{_WORDS.get(name, name).replace('_', '-')}"


def query_line(paths: Sequence[str], options: ProfileOptions, query: str) -> str:
    """Return the command line that runs a query on the profile at these paths, with the options that change its rows."""
    quoted = shlex.quote(query) if any(sign in query for sign in _SIGNS) else f'"{query}"'
    return " ".join(
        ["prof-analysis sql", *(f"-d {shlex.quote(_readable(path))}" for path in paths), *_spelled(options), quoted]
    )


def question_line(paths: Sequence[str], options: ProfileOptions, command: str) -> str:
    """Return the command line that asks a question about the profile at these paths, with what changes its answer."""
    return " ".join([f"prof-analysis {command}", *(shlex.quote(_readable(path)) for path in paths), *_spelled(options, ANSWER)])


def _spelled(options: ProfileOptions, *sections: str) -> Iterator[str]:
    """Yield the words of the options that are not as usual: those of what is read and of modules, and of further sections."""
    section_of = {name: doc.section for name, (_, doc) in documented(ProfileOptions).items()}
    for field in fields(options):
        value = getattr(options, field.name)
        if section_of[field.name] in (INPUT, MODULES, *sections) and value != field.default:
            yield word(field.name)
            if isinstance(value, Mapping):
                yield shlex.quote(",".join(f"{name}={one}" for name, one in value.items()))
            elif value is not True:
                yield shlex.quote(",".join(map(str, value)) if isinstance(value, tuple | list) else _readable(str(value)))


def _readable(path: str) -> str:
    """Return a path in UTF-8; bytes that are not UTF-8 are written as \\xff."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
