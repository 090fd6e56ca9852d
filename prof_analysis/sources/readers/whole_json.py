"""Finds the whole JSON objects in a damaged text, in a time that grows with its length and not with its square."""

import json
from dataclasses import dataclass
from typing import Any

# A parser that fails counts the lines of all the text that it was given, so it is given little, and more only where that ends
# too early.
_SLICE_CHARACTERS = 2**12
_GROWTH = 16
# How near to the end of a slice the parser stops when only the slice is to blame: inside a number, `Infinity` or an escape.
_NEAR_END = 16
# How often all the text may be parsed in vain, since of objects that lie in each other and are not closed each is parsed to the
# end. From then on only objects of a slice are found.
_PARSED_IN_VAIN = 4


@dataclass(frozen=True)
class Found:
    """An object, None where there is none, and where to look for the next."""

    value: dict[str, Any] | None
    go_on_at: int


class WholeObjects:
    """Parses objects of a text, each from where it seems to begin."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder()
        self._left_to_waste = _PARSED_IN_VAIN * len(text)

    def at(self, begin: int) -> Found:
        """The object that begins at a place, which has its first brace."""
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
