"""Makes SQL of the sentences in the head of a rule: text with figures, which are columns of its SELECT.

{count}                             a column, as its name says: 1.2 ms for `_ns`, 12.3% for `_share`, 3.00 GiB for `_bytes`
{rate:.2f}                          in a format of its own
{count|1 kernel|kernels}            1 kernel, or 5 kernels
{count?takes|take}                  the first words for one, or where it is true, else the others
{unless_critical(time_ns, win_ns)}  a macro
[, with {type}]                     is left out where a figure in it is NULL
<<on an NPU||on a GPU>>             what is said of one kind of device: for_device() of sql/macros/wording.sql
{{ }} [[ ]]                         are the signs themselves

A sentence in front of which stands a condition in parentheses is said where it holds; the first one whose condition holds is
said: (is_recorded), (not is_recorded), (pattern = RMSNorm), (no win_ns), that is, where win_ns is NULL.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from prof_analysis.engine.heads import Directive
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.units import Format

# How a column is shown in a sentence; a truth only as one of two words.
Shown = Format | Literal["truth"]

_CONDITION = re.compile(r"\((?:(not|no) )?(\w+)(?: = ([^()]+))?\)\s+(.+)")
_TOKEN = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{[^{}\[\]]+\}|[\[\]{}]|[^\[\]{}]+")
_FIGURE = re.compile(r"\{(\w+)(?:(:[^|?]+)|([|?])([^|]*)\|([^|]*))?\}")
_CALL = re.compile(r"\{(\w+)\((\w+(?:, \w+)*)\)\}")
_BY_DEVICE = re.compile(r"<<(.*?)\|\|(.*?)>>")
_SHOWN: Mapping[Shown, str] = {
    "text": "{}::VARCHAR",
    "count": "{}::VARCHAR",
    "number": "format('{{:.1f}}', {})",
    "rate": "format('{{:.1f}}', {})",
    "share": "shown_share({})",
    "time": "shown_time({})",
    "change": "signed_time({})",
    "size": "shown_bytes({})",
}


def sentence(said: Sequence[Directive], formats: Mapping[str, Shown], has_figures: bool = True) -> str:
    """Return the SQL of what directives of one word say, each under its condition; the last one has none.

    Raises ValueError, which names the line, for what cannot be read.
    """
    cases = []
    for directive in said:
        condition, text = _condition(directive, formats)
        if (condition is None) is not (directive is said[-1]):
            raise directive.error("the last one alone has no condition, since it is said where no condition holds")
        cases.append((condition, _text(directive, text, formats) if has_figures else quote_text(text)))
    if len(cases) == 1:
        return cases[0][1]
    whens = " ".join(f"WHEN {condition} THEN {text}" for condition, text in cases[:-1])
    return f"CASE {whens} ELSE {cases[-1][1]} END"


def without_condition(text: str) -> str:
    """Return a sentence, or what else a directive has, without the condition in front of it."""
    match = _CONDITION.fullmatch(text)
    return match[4] if match else text


def _condition(directive: Directive, formats: Mapping[str, Shown]) -> tuple[str | None, str]:
    """Return the condition of a sentence as SQL, None where it has none, and the sentence."""
    match = _CONDITION.fullmatch(directive.value)
    if not match:
        return None, directive.value
    sign, name, value, text = match.groups()
    column = _column(directive, name, formats)
    if value is not None:
        return f"{column} = {quote_text(value)}", text
    if sign != "no" and formats[name] != "truth":
        raise directive.error(f"{name} is no BOOLEAN; write ({name} = VALUE), or (no {name}) for where it is NULL")
    return {"not": f"NOT {column}", "no": f"{column} IS NULL"}.get(sign, column), text


def _text(directive: Directive, text: str, formats: Mapping[str, Shown]) -> str:
    """Return the SQL of a sentence with figures, and what it says of one kind of device."""
    first, *others = _BY_DEVICE.split(text)
    parts = [_of_any_device(directive, first, formats)] if first or not others else []
    for npu, gpu, rest in zip(others[::3], others[1::3], others[2::3], strict=True):
        said = (_of_any_device(directive, one, formats) if one else "''" for one in (npu, gpu))
        parts += [f"for_device({', '.join(said)})", *([_of_any_device(directive, rest, formats)] if rest else [])]
    return " || ".join(parts)


def _of_any_device(directive: Directive, text: str, formats: Mapping[str, Shown]) -> str:
    """Return the SQL of a sentence with figures."""
    parts: list[str] = []
    optional: list[str] | None = None
    for token in _TOKEN.findall(text):
        if token == "[" and optional is None:
            optional = []
        elif token == "]" and optional:
            parts.append(f"coalesce({' || '.join(optional)}, '')")
            optional = None
        elif token in ("[", "]", "{", "}"):
            raise directive.error(f"{token} has no other half; write {token}{token} for the sign itself")
        else:
            part = _part(directive, token, formats)
            if optional is not None:
                optional.append(part)
            else:  # What is not known leaves out an optional part, and nothing else.
                parts.append(part if part.startswith("'") else f"coalesce({part}, '(not known)')")
    if optional is not None:
        raise directive.error("[ has no other half; write [[ for the sign itself")
    return " || ".join(parts)


def _part(directive: Directive, token: str, formats: Mapping[str, Shown]) -> str:
    """Return the SQL of a figure, or of the text between two."""
    if token in ("{{", "}}", "[[", "]]") or not token.startswith("{"):
        return quote_text(token[0] if token[:2] in ("{{", "}}", "[[", "]]") else token)
    if call := _CALL.fullmatch(token):
        columns = ", ".join(_column(directive, name, formats) for name in call[2].split(", "))
        return f"{call[1]}({columns})"
    if not (match := _FIGURE.fullmatch(token)):
        raise directive.error(
            f"{token} is no figure; write {{column}}, {{column|one|many}}, {{column?yes|no}} or {{macro(column)}}"
        )
    name, spelled, sign, one, many = match.groups()
    column = _column(directive, name, formats)
    if spelled:
        return f"format({quote_text(f'{{{spelled}}}')}, {column})"
    is_truth, is_count = formats[name] == "truth", formats[name] == "count"
    if sign == "?" and (is_truth or is_count):
        return f"if({column if is_truth else f'{column} = 1'}, {quote_text(one)}, {quote_text(many)})"
    if sign == "|" and is_count:
        return f"if({column} = 1, {quote_text(one)}, {column}::VARCHAR || {quote_text(f' {many}')})"
    if sign or formats[name] not in _SHOWN:
        raise directive.error(
            f"{token} cannot show {name}: {{count|one|many}} and {{count?one|many}} are for counts, {{flag?yes|no}} for a "
            "BOOLEAN, and a moment cannot be shown; name another column"
        )
    return _SHOWN[formats[name]].format(column)


def _column(directive: Directive, name: str, formats: Mapping[str, Shown]) -> str:
    if name not in formats:
        raise directive.error(f"the head documents no column {name}; name one that it documents")
    return quote(name)
