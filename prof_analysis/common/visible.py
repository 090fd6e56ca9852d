"""Texts from profiles for the screen: characters that control a terminal or begin a new line are written out.

Names of modules, ops and folders come from files that anybody may have written.
"""

import re

# C0, DEL and C1; characters that end a line, change its direction or have no width, by which two names look alike; surrogates,
# which are bytes of a name that is not UTF-8. Those of no width that join or part letters (U+200C, U+200D) belong to languages.
_STEERING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]",
)
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str) -> str:
    r"""Return a text as one line without characters that control a terminal: they are written like \x1b and \u202e."""
    return _STEERING.sub(_written_out, text)


def visible_lines(text: str) -> str:
    """Return a text without characters that control a terminal, but keep its lines."""
    return "\n".join(map(visible, text.split("\n")))


def visible_json(text: str) -> str:
    """Return equivalent JSON without characters that control a terminal: they are written like \\u009b."""
    return _STEERING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def _written_out(sign: re.Match[str]) -> str:
    code = ord(sign[0])
    return _SHORT.get(sign[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
