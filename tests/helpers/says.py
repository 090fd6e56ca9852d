"""Compare what a sentence tells: its figures and names, and the word or two by which it differs from others.

The rest of its words may change without breaking a test. `says()` stands where the sentence would: in a list of warnings, whose
number and order the list still says, in a row of a table, in what an error or stderr must equal.
"""

import re
from typing import Any


class Said:
    """Equal to each text of one line that holds these words, whole and in any order: "1 row" is not in "11 row" or "1 rows"."""

    def __init__(self, *words: object) -> None:
        parts = (word.words if isinstance(word, Said) else (str(word),) for word in words)
        self.words: tuple[str, ...] = tuple(word for part in parts for word in part)
        assert all(self.words) and self.words, "nothing, or an empty word, is in every line"
        # A lookahead a word, so that pytest.raises() and pytest.warns() take it as `match`.
        self.pattern = "".join(f"(?=.*{_whole(word)})" for word in self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(f"{self.pattern}.*\n?", other) is not None

    def __hash__(self) -> int:
        raise TypeError("a set cannot find a sentence by some of its words: compare a list")

    def __repr__(self) -> str:
        return f"says({', '.join(map(repr, self.words))})"


def says(*words: object) -> Any:
    """Return what equals each text of one line that holds these words, and those of what else `says` them."""
    return Said(*words)


def _whole(word: str) -> str:
    """The pattern of a word, not as a part of another word or number."""
    before = r"(?<![\w-])(?<!\d[.,])" if word[0].isdigit() else r"(?<!\w)" if re.match(r"\w", word) else ""
    after = r"(?!\w)(?![.,]\d)" if re.search(r"\w$", word) else ""
    return f"{before}{re.escape(word)}{after}"
