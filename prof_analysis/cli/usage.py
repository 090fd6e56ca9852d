"""Explains in one sentence an error in the words of a command line, and the right words."""

import re
from pathlib import Path
from shlex import quote
from typing import Any

_TOO_MUCH = "one word too many"
# What typer says of a value -> what we say.
_PLAINLY = (
    (r"Input should be greater than or equal to (\d+)", r"give \1 or more"),
    (r"Input should be a valid integer, unable to parse string as an integer", "give a whole number"),
    (r"Value error, ('.*?') is not one of (.*)", lambda match: f"{match[1]}: give one of {match[2].replace(chr(39), '')}"),
    (r"Got unexpected extra argument\(s\) \((.*)\)", rf"\1: {_TOO_MUCH}"),
)


def said_of(error: Any) -> str:
    """Return the sentence for an error that typer found."""
    message = " ".join(error.format_message().split()).rstrip(".")
    for pattern, plainly in _PLAINLY:
        message = re.sub(pattern, plainly, message)
    return f"{message}{_what_to_do(message, _words_of(getattr(error, 'ctx', None)))}"


def _words_of(context: Any) -> str:
    """Return the words of the command that an error is about."""
    words: list[str] = []
    while context is not None and context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    return " ".join(("prof-analysis", *words))


def _what_to_do(message: str, command: str) -> str:
    """Return the end of the sentence; nothing if it already says what was meant."""
    end = ""
    if message.startswith("No such option"):
        end = f"; `{command} --help` lists its options"
    elif unknown := re.fullmatch(r"No such command '(.*)'", message):
        first = f"; begin with a command, such as prof-analysis ranks {quote(unknown[1])}"
        end = first if Path(unknown[1]).exists() else f"; `{command} --help` lists the commands"
    elif message.endswith(_TOO_MUCH) and command.endswith((" sql", " table")):
        end = "; give the profile with -d PATH, and a query in quotes"
    elif message.startswith("Missing argument"):
        end = f"; `{command} --help` has examples"
    return end
