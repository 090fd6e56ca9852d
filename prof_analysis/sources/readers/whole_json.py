"""Finds the whole JSON objects in a damaged text, in linear time."""

import json
from dataclasses import dataclass
from typing import Any

# A parser that fails counts the lines of its whole input, so the input is short, and longer only where an object needs more.
_SLICE_CHARACTERS = 2**12
_GROWTH = 16
# A parser that stops this near to the end of a slice may fail only because of the cut: in a number, `Infinity` or an escape.
_NEAR_END = 16
# How often the whole text may be parsed in vain: nested objects that are not closed are each parsed to the end of the text.
# After that, only objects that fit into one slice are found.
_PARSED_IN_VAIN = 4


@dataclass(frozen=True)
class Found:
    """An object or None, and the position from which to look for the next one."""

    value: dict[str, Any] | None
    go_on_at: int


class WholeObjects:
    """Parser of the objects in a text, each from the position where it seems to begin."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder()
        self._left_to_waste = _PARSED_IN_VAIN * len(text)

    def at(self, begin: int) -> Found:
        """Return the object that begins at the brace at this position."""
        size = _SLICE_CHARACTERS
        while True:
            part = self._text[begin : begin + size]
            is_rest = begin + size >= len(self._text)
            try:
                value, length = self._decoder.raw_decode(part)
                return Found(value, begin + length)
            except json.JSONDecodeError as error:
                is_cut = error.pos >= len(part) - _NEAR_END or error.msg.startswith("Unterminated string")
                self._left_to_waste -= len(part) if is_cut else error.pos
                if not is_cut or is_rest or self._left_to_waste < 0:
                    return Found(None, begin + 1)
                size *= _GROWTH
            except RecursionError:
                brace = self._text.find("}", begin)
                return Found(None, brace if brace >= 0 else len(self._text))
