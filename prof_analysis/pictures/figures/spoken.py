"""The words of a picture in the language of those who look at it; names from profiles stay."""

import re
from collections.abc import Mapping
from typing import Any

from prof_analysis.languages import ENGLISH, language, said

# What plotly shows as text.
_TEXTS = ("text", "name", "hovertemplate", "label", "title", "ticktext")
# Marks of HTML, squares of legends, and values that plotly puts in; and what stands between the words of what has no form.
_MARK = re.compile(r"(<[^>]*>|%\{[^}]*\}|■| {2,}|\n)")
_BETWEEN = re.compile(r"(: |; |, | \(|\)$|\)(?=[,;:]))")
# In lists, which have names of modules, ops and kernels, these are words of ours.
_OURS = re.compile(r"\(.*\)|other \(.*\)|all (compute|kernels)")


def spoken(figure: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a figure of plotly, as it is in JSON, with its words in the language that is shown."""
    return figure if language() == ENGLISH else {key: _spoken(key, value) for key, value in figure.items()}


def _spoken(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {inner: _spoken(inner, one) for inner, one in value.items()}
    if isinstance(value, list | tuple):
        return [_spoken(key, one) if isinstance(one, dict) else _in_list(one) for one in value]
    is_text = key.rpartition(".")[2] in _TEXTS and isinstance(value, str)
    return shown_text(value) if is_text else _in_list(value)


def shown_text(text: str) -> str:
    """Return a text of plotly: the texts between its marks as sentences, or if that changes nothing, part by part."""
    return "".join(one if _MARK.fullmatch(one) else _sentence(one) for one in _MARK.split(text))


def _sentence(text: str) -> str:
    whole = said(text)
    return whole if whole != text else "".join(one if _BETWEEN.fullmatch(one) else said(one) for one in _BETWEEN.split(text))


def _in_list(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_in_list(one) for one in value]
    if not isinstance(value, str):
        return value
    return shown_text(value) if "<br>" in value else said(value) if _OURS.fullmatch(value) else value
