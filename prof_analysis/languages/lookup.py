"""Looks up in a catalogue what is said: a text whole, by its form, or part by part."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from gettext import GNUTranslations
from itertools import chain
from pathlib import Path

from prof_analysis.languages.templates import Form, filled, form_of, parts_of

CATALOGUES = Path(__file__).parent
DOMAIN = "prof_analysis"
_LETTERS = re.compile(r"[A-Za-z]{2}")
# ruff: noqa: RUF001 (the signs of Chinese look like those of English)
# Between the parts of a text that has no form of its own, from the widest to the narrowest, and what stands there in Chinese.
_BETWEEN = (("\n", "\n"), (". ", "。"), ("; ", "；"), (": ", "："), (", ", "，"))
_ENDS = {".": "。", ":": "：", ";": "；", ",": "，"}
_COLON, _CLAUSE_END = re.compile(": "), re.compile(r"([;.,]) ")
# Chinese has no blanks between its signs, and none beside those of punctuation.
_BLANK = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])|(?<=[，。；：（）、]) | (?=[，。；：（）、])")
# A form with so many letters of its own may hold whole sentences in its last gap.
_WIDE = 24
_AND = re.compile(" and ")
_LISTED = re.compile(r"([^\s,]+(?:, [^\s,]+)*) and ([^\s,]+)")
# A word and its amount, or the other way round; words with another one in parentheses; what stands before any name.
_AMOUNT = re.compile(r"([a-z][A-Za-z ]*?) (-|[\d+-].*)")
_FIGURE = re.compile(r"([\d.,]+%?(?: (?:ns|us|ms|s|B|[KMGT]iB|GB/s))?) (.+)")
_NUMBERED = re.compile(r"(\d+\. )(.+)")
_EXPLAINED = re.compile(r"(.+) \(([^()]+)\)")
_WHOSE = re.compile(r"(.+) \(((?:ranks?|folders?) [^()]+)\)")
_NAMED = re.compile(r"(Answer for|[Rr]un|ranks?|folders?|after|before) (\S+(?:, \S+)*)")
_NAMED_AS = {"answer for": "回答：", "run": "运行", "rank": "rank", "folder": "目录", "after": "之前是", "before": "之后是"}


class Catalogue:
    """The texts of a language: those without gaps, and the forms of the others, of which the one that says most comes first."""

    def __init__(self, language: str) -> None:
        with (CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.mo").open("rb") as file:
            texts: Mapping[str, str] = vars(GNUTranslations(file))["_catalog"]
        self._whole: dict[str, str] = {}
        forms: list[tuple[Form, str]] = []
        for key, text in texts.items():
            if not key or not text:
                continue
            parts = parts_of(key)
            if all(isinstance(part, str) for part in parts):
                self._whole["".join(map(str, parts))] = filled(text, {}, str, "")
            else:
                forms.append((form_of(parts), text))
        self._forms = sorted(forms, key=lambda one: -one[0].size)
        self._known: dict[str, str] = {}

    def said(self, text: str) -> str:
        """Return a text in the language; as it is where the catalogue lacks it."""
        return _BLANK.sub("", self._said(text))

    def _said(self, text: str) -> str:
        if text not in self._known:
            core = text.strip()
            found = (self._found(core) or self._by_parts(core)) if _LETTERS.search(core) else None
            self._known[text] = text.replace(core, found) if found else text
        return self._known[text]

    def _found(self, text: str) -> str | None:
        """Return the translation of a text that is there whole or by its form, if need be without its capital; else None."""
        found = self._looked_up(text) or (self._looked_up(text[:1].lower() + text[1:]) if " " in text else None)
        return found or (self._whole.get(f"{text}.") or "").removesuffix("。") or None

    def _looked_up(self, text: str) -> str | None:
        if (whole := self._whole.get(text)) is not None:
            return whole
        for is_narrow in (True, False):
            for form, template in self._forms:
                if not is_narrow and form.size <= _WIDE:
                    break
                if (words := form.words_of(text, is_narrow)) is not None:
                    return filled(template, words, self._said, " 或 ")
        return None

    def _by_parts(self, text: str) -> str | None:
        """Return a text whose parts are looked up, each by itself; None where the catalogue has none of them."""
        return next(filter(None, chain(self._with_more(text), self._split(text), self._in_few_words(text))), None)

    def _with_more(self, text: str) -> Iterator[str]:
        """Yield a text of which a part is found, and there is something in front of it or behind it."""
        if (numbered := _NUMBERED.fullmatch(text)) and (rest := self._said(numbered[2])) != numbered[2]:
            yield numbered[1] + rest
        if text[-1:] in _ENDS and text[-2:] != "::" and (begin := self._said(text[:-1])) != text[:-1]:
            yield begin + _ENDS[text[-1]]
        if text[1:2] == " " and text[0] in _ENDS:
            yield _ENDS[text[0]] + self._said(text[2:])
        if (whose := _WHOSE.fullmatch(text)) and (about := self._said(whose[1])) != whose[1]:
            yield f"{about}（{self._said(whose[2])}）"
        for colon in _COLON.finditer(text):
            if found := self._found(text[colon.end() :]):
                yield f"{self._said(text[: colon.start()])}：{found}"
        for end in reversed([*_CLAUSE_END.finditer(text)]):
            if found := self._found(text[: end.start()]):
                yield f"{found}{_ENDS[end[1]]}{self._said(text[end.end() :])}"

    def _split(self, text: str) -> Iterator[str]:
        """Yield a text as its clauses, or as two things joined by and."""
        for sign, shown in _BETWEEN:
            parts = text.split(sign)
            if len(parts) > 1 and (said := [self._said(part) for part in parts]) != parts:
                yield shown.join(said)
        for word in _AND.finditer(text):
            if (first := self._found(text[: word.start()])) and (second := self._found(text[word.end() :])):
                yield f"{first} 和 {second}"
        if listed := _LISTED.fullmatch(text):
            yield f"{self._said(listed[1])} 和 {self._said(listed[2])}"

    def _in_few_words(self, text: str) -> Iterator[str]:
        """Yield a text that is a word with a name, with a figure, or with another word in parentheses."""
        if named := _NAMED.fullmatch(text):
            yield f"{_NAMED_AS[named[1].lower().removesuffix('s')]} {named[2]}"
        if (amount := _AMOUNT.fullmatch(text)) and amount[1] in self._whole:
            yield f"{self._whole[amount[1]]} {self._said(amount[2])}"
        if (figure := _FIGURE.fullmatch(text)) and (rest := self._found(figure[2])):
            yield f"{figure[1]} {rest}"
        if (explained := _EXPLAINED.fullmatch(text)) and explained[2] in self._whole:
            yield f"{self._said(explained[1])}（{self._whole[explained[2]]}）"


catalogue = cache(Catalogue)
