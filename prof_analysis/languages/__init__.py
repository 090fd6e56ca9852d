"""The language in which people read: English, or another one that has a catalogue of gettext here.

The program thinks in English. What is shown to people passes through said(), which looks it up in the catalogue: a sentence
whole, or by its form, of which the catalogue has the gaps as {name}. So a finding is made, kept and handed to programs in one
language only, and no table, file of data or JSON ever depends on who reads (decision 33).
"""

import os
from collections.abc import Sequence
from functools import cache

ENGLISH, CHINESE = "en", "zh"
LANGUAGES = (ENGLISH, CHINESE)
# The variables that name the language of a process, as gettext reads them.
_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
_OPTION = "--lang"

_chosen: list[str] = []


def choose(words: Sequence[str]) -> None:
    """Show what people read in the language that a command line names with --lang, if it names one."""
    named = [word.removeprefix(f"{_OPTION}=") for before, word in _pairs(words) if _OPTION in (before, word.partition("=")[0])]
    _chosen[:] = [one for one in named[-1:] if one in LANGUAGES]


def without_language(words: Sequence[str]) -> list[str]:
    """Return the words of a command line without those that choose the language."""
    return [word for before, word in _pairs(words) if _OPTION not in (before, word.partition("=")[0])]


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return each word behind the one before it."""
    return list(zip(("", *words), words, strict=False))


def language() -> str:
    """Return the language that is shown."""
    return _chosen[0] if _chosen else _of_environment()


@cache
def _of_environment() -> str:
    named = next((value for name in _VARIABLES if (value := os.environ.get(name))), "")
    return CHINESE if named.lower().startswith(CHINESE) else ENGLISH


def said(text: str) -> str:
    """Return a text as people read it: in the language that is shown, or as it is where the catalogue lacks it."""
    if language() == ENGLISH:
        return text
    from prof_analysis.languages.lookup import catalogue

    return catalogue(language()).said(text)
