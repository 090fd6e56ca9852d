"""Sentences with gaps: reads the words out of the gaps of one, and puts them into those of another.

{0} {count}              a gap, by its place or the name of what fills it; a macro of SQL, {macro(a, b)}, is one too
{count|1 kernel|kernels} 1 kernel, or 5 kernels
{count?takes|take}       one of two words
[, with {type}]          is said or not
<<on an NPU||on a GPU>>  is said of one kind of device, or of both
{{ }} [[ ]]              are the signs themselves

Heads of rules are written so (engine/sentences.py), and so are the texts of Python and SQL in the catalogue.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count

_TOKEN = re.compile(r"\{\{|\}\}|\[\[|\]\]|<<|\|\||>>|\{[^{}]+\}|[\[\]]|(?:(?!\{\{|<<|\|\||>>)[^\[\]{}])+|.", re.DOTALL)
_GAP = re.compile(r"\{(\w+)(?:\([^)]*\)|(:name)|:[^|?{}]*|([|?])([^|]*)\|([^|]*))?\}")


# What fills a gap: in the expression before it is known how much else a form says; in a clause; in a form that says little.
_GAP_HERE = "<gap>"
_CLAUSE, _PART = r"(?:(?![;.:] |\n).)*?", r"(?:(?![;.:,)] | \(|\n).)*?"
_FIGURE = r"(?:[\d.,%+-]\S*(?: [^\s,;]+)?|[^\s,;]*[/_.][^\s,;]*)??"
_LITTLE, _MORE = 13, 24
# Of a form with one gap, so many letters in front of it say enough.
_LABEL = 8


@dataclass(frozen=True)
class _Gap:
    """A gap with its name; with a sign it is filled by one of two words, behind | with the number before the second.

    {0:name} in a translation is filled with a name, which is not looked up.
    """

    name: str
    is_name: bool = False
    sign: str = ""
    one: str = ""
    many: str = ""


@dataclass(frozen=True)
class _Optional:
    parts: Sequence["Part"]


@dataclass(frozen=True)
class _ByDevice:
    npu: Sequence["Part"]
    gpu: Sequence["Part"]


Part = str | _Gap | _Optional | _ByDevice


def parts_of(template: str) -> Sequence[Part]:
    """Return the parts of a template."""
    return list(_until(iter(_TOKEN.findall(template)), ""))


def _until(tokens: Iterator[str], end: str) -> Iterator[Part]:
    """Yield the parts before a token, which is taken too."""
    for token in tokens:
        if token == end:
            return
        if token in ("{{", "}}", "[[", "]]"):
            yield token[0]
        elif token == "[":
            yield _Optional(list(_until(tokens, "]")))
        elif token == "<<":
            npu = list(_until(tokens, "||"))
            yield _ByDevice(npu, list(_until(tokens, ">>")))
        elif match := _GAP.fullmatch(token):
            name, is_name, *words = match.groups()
            yield _Gap(name, is_name is not None, *(word or "" for word in words))
        else:
            yield token


def _names_in(optional: _Optional) -> Sequence[str]:
    return [part.name for part in optional.parts if isinstance(part, _Gap)]


@dataclass(frozen=True)
class Form:
    """A template as what finds its sentences.

    `longest` is the longest text that each sentence has, and `size` the length of all such texts. `meaning` says of each group
    of an expression what it fills, and with which word if it is not the one that was found. Gaps of `narrow` hold no end of a
    clause, and figures and names alone where little else stands around them; the last gap of `wide` holds all that is there.
    """

    narrow: str
    wide: str
    meaning: Mapping[str, tuple[str, str | None]]
    longest: str
    size: int

    def words_of(self, sentence: str, is_narrow: bool) -> Mapping[str, str] | None:
        """Return what fills the gaps of a sentence, by name; None where the sentence has another form."""
        if self.longest not in sentence:
            return None
        match = _compiled(self.narrow if is_narrow else self.wide).fullmatch(sentence)
        if not match:
            return None
        found: dict[str, str] = {}
        for group, (name, word) in self.meaning.items():
            if (text := match[group]) is not None:
                found.setdefault(name, text if word is None else word)
        return found


@cache  # Compiled where a sentence may have the form: for all forms it would take longer than most commands.
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.DOTALL)


def form_of(parts: Sequence[Part]) -> Form:
    """Return what finds the sentences of a template with these parts."""
    meaning: dict[str, tuple[str, str | None]] = {}
    always, sometimes = [""], [0]
    devices = count()

    def group(name: str, expression: str, word: str | None = None) -> str:
        meaning[f"g{len(meaning)}"] = (name, word)
        return f"(?P<g{len(meaning) - 1}>{expression})"

    def joined(parts: Sequence[Part], is_always: bool = False) -> str:
        return "".join(made(part, is_always) for part in parts)

    def made(part: Part, is_always: bool) -> str:
        if isinstance(part, str):
            always[-1] += part * is_always
            sometimes[0] += len(part) * (not is_always)
            return re.escape(part)
        always.append("")
        if isinstance(part, _Optional):
            return f"(?:{''.join(group(f'[{name}', '') for name in _names_in(part))}{joined(part.parts)})?"
        if isinstance(part, _ByDevice):
            device = f"<<{next(devices)}"
            both = joined((*part.npu, " or ", *part.gpu)) if part.npu and part.gpu else ""
            of_both = f"{group(device, both, 'both')}|" if both else ""
            return f"(?:{of_both}{group(device, joined(part.npu), 'npu')}|{group(device, joined(part.gpu), 'gpu')})"
        one, many = re.escape(part.one), re.escape(part.many)
        if part.sign == "?":
            words = (group(f"{part.name}?", one, "1"), many)
            first, second = words if len(one) > len(many) else words[::-1]  # An empty word would be found everywhere.
            return f"(?:{first}|{second})"
        if part.sign == "|":
            return rf"(?:{one}|{group(part.name, '[0-9,.-]+')} {many})"
        return group(part.name, _GAP_HERE)

    expression = joined(parts, True)
    size = sum(map(len, always))
    is_labelled = expression.count(_GAP_HERE) == 1 and len(always[0]) >= _LABEL
    said = size + sometimes[0]
    kept = _CLAUSE if said > _MORE or is_labelled else _PART if said > _LITTLE else _FIGURE
    narrow = expression.replace(_GAP_HERE, kept)
    wide = ".*?".join(expression.replace(_GAP_HERE, _CLAUSE, expression.count(_GAP_HERE) - 1).split(_GAP_HERE))
    return Form(narrow, wide, meaning, max(always, key=len), size)


def filled(template: str, words: Mapping[str, str], read: Callable[[str], str], either: str) -> str:
    """Return a template with words in its gaps, as `read` gives them; `either` joins what is said of two kinds of device."""
    devices = count()

    def joined(parts: Sequence[Part]) -> str:
        return "".join(map(made, parts))

    def made(part: Part) -> str:
        if isinstance(part, str):
            return part
        if isinstance(part, _Optional):
            return joined(part.parts) if any(f"[{name}" in words for name in _names_in(part)) else ""
        if isinstance(part, _ByDevice):
            device = words.get(f"<<{next(devices)}", "both")
            chosen = [one for name, one in (("npu", part.npu), ("gpu", part.gpu)) if device in (name, "both") and one]
            return either.join(map(joined, chosen))
        if part.sign == "?":
            is_one = f"{part.name}?" in words or words.get(part.name) == "1"
            return part.one if is_one else part.many
        if part.sign == "|":
            return f"{words[part.name]} {part.many}" if words.get(part.name, "1") != "1" else part.one
        return (str if part.is_name else read)(words.get(part.name, ""))

    return joined(parts_of(template))
