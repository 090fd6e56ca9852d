"""The answers of commands: facts, tables whose columns have formats, and sentences, however they are shown."""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import getmembers, isfunction
from pkgutil import iter_modules
from typing import Any

from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answers.answer import Answer, Block, Facts, said
from prof_analysis.analyses.asked import Tables


def _answers() -> Mapping[str, Callable[..., tuple[Facts, list[Block]]]]:
    """Return the function of each analysis: the one in a file of this room that is named like the command."""
    files = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]
    functions = {name: one for file in files for name, one in getmembers(file, isfunction) if one.__module__ == file.__name__}
    return {command: functions[command.replace("-", "_")] for command in ANALYSES}


# Command -> the function that returns its facts, which include the first rows of tables, and the blocks that show them.
ANSWERS = _answers()


def answer_of(profile: Tables, command: str, top: int, **shown: Any) -> Answer:
    """Return the answer of a command about a profile, with at most `top` rows of each list; `shown` has further options.

    Where it finds nothing, people read that in place of tables without rows.
    """
    facts, blocks = ANSWERS[command](profile, top, **shown)
    if not profile.has_answer(command):
        blocks = [said(f"none found: {profile.said_of_nothing(command)}")]
    return Answer(command, facts, tuple(blocks), tuple(profile.warnings), tuple(profile.failures))
