"""Command lines that people can copy: the options of a profile as they are spelled there."""

import os
import shlex
from dataclasses import fields

from prof_analysis.common.option_docs import INPUT, MODULES, documented
from prof_analysis.common.options import ProfileOptions

# Options that have another name on the command line.
_WORDS = {"module_domains": "module_domain", "thresholds": "threshold", "sql": "sql_folder"}
# What a shell would not leave as it is between double quotes.
_SIGNS = '"$`\\!'


def word(name: str) -> str:
    """Return the name of an option of a profile on the command line."""
    return f"--{_WORDS.get(name, name).replace('_', '-')}"


def query_line(path: str, options: ProfileOptions, query: str) -> str:
    """Return the command line that runs a query on the profile at a path, with the options that change its rows."""
    words = ["prof-analysis", "sql", "-d", shlex.quote(_readable(path))]
    sections = {name: doc.section for name, (_, doc) in documented(ProfileOptions).items()}
    for field in fields(options):
        value = getattr(options, field.name)
        if sections[field.name] in (INPUT, MODULES) and value != field.default:
            words += [word(field.name), *([] if value is True else [shlex.quote(_spelled(value))])]
    return " ".join([*words, shlex.quote(query) if any(sign in query for sign in _SIGNS) else f'"{query}"'])


def _spelled(value: object) -> str:
    """Return the value of an option as the command line takes it."""
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else _readable(str(value))


def _readable(path: str) -> str:
    """Return a path in UTF-8; bytes that are not UTF-8 are written as \\xff."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
