"""Every page is there in English and in Chinese, and both say the same: what one of them gains, the other one must gain too."""

import os
import re
from collections.abc import Callable
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.helpers.pages import assert_is_current
from tests.helpers.places import CHECKOUT
from tests.test_docs import anchor

DOCS = CHECKOUT / "docs"
FRONT = CHECKOUT / "README.md"
PAGES = sorted({FRONT, *DOCS.glob("*.md")} - {DOCS / "README.zh.md"})
CHINESE = {page: DOCS / "README.zh.md" if page == FRONT else DOCS / "zh" / page.name for page in PAGES}
ENGLISH = {chinese: page for page, chinese in CHINESE.items()}

# Written from the heads of rules, which are English: a new rule need not be translated at once.
RULES = DOCS / "rules.md"

MARKDOWN = MarkdownIt("commonmark").enable("table")
HAN = re.compile(r"[\u4e00-\u9fff]")


class Part(NamedTuple):
    """A heading, paragraph, cell or block of code, with what a translation leaves as it is."""

    markup: str  # Around it, as in ul li p
    code: tuple[str, ...]  # What is written as code; of a block all of it, without the words of comments.
    numbers: tuple[str, ...]
    links: tuple[str, ...]  # Where they lead: page and number of the heading, of a Chinese page those of the English one.


def language_line(page: Path) -> str:
    """Return the line below a page's title, which leads to the other language."""
    word, other = ("中文", CHINESE[page]) if page in CHINESE else ("English", ENGLISH[page])
    return f"[{word}]({Path(os.path.relpath(other, page.parent)).as_posix()})\n"


def target(link: str, page: Path) -> str:
    """Return where a link leads, in words that are the same in both languages."""
    if re.match(r"https?:", link):
        return link
    path, _, part = unquote(link).partition("#")
    file = Path(os.path.normpath(page.parent / path)) if path else page
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE) if part else []
    english = ENGLISH.get(file, file)
    place = f"#{part if english == RULES else [anchor(heading) for heading in headings].index(part)}" if part else ""
    return f"{english.relative_to(CHECKOUT).as_posix()}{place}"


@cache
def parts(page: Path) -> list[tuple[Part, Token]]:
    """Return the parts of a page in order, each with its token."""
    text = page.read_text(encoding="utf-8").replace(language_line(page), "\n", 1)
    found: list[tuple[Part, Token]] = []
    around: list[str] = []
    for token in MARKDOWN.parse(text):
        if token.nesting == 1:
            around.append(token.tag)
        elif token.nesting == -1:
            around.pop()
        elif token.type == "inline":
            inside = token.children or []
            code = {one.content for one in inside if one.type == "code_inline"}
            words = " ".join(one.content for one in inside if one.type == "text")
            numbers = set(re.findall(r"\d+(?:[.,]\d+)*", words))
            links = [target(str(one.attrs["href" if one.type == "link_open" else "src"]), page) for one in inside if one.attrs]
            found.append((Part(" ".join(around), *(tuple(sorted(some)) for some in (code, numbers, links))), token))
        elif token.type != "html_block":  # Marks for tests.
            block = re.sub(r"(?m)(^|\s)# .*$", r"\1#", token.content) if token.info else token.content
            found.append((Part(" ".join([*around, token.type, token.info]), (block,), (), ()), token))
    return found


def place(found: tuple[Part, Token] | None) -> str:
    return f"line {found[1].map[0] + 1}, {found[0]}" if found and found[1].map else "the page has ended"


def each_page(look: Callable[[Path], None]) -> list[str]:
    """Return what is wrong with pages, all at once."""
    wrong = []
    for page in PAGES:
        try:
            look(page)
        except AssertionError as error:
            wrong.append(f"{page.relative_to(CHECKOUT)}: {error}")
    return wrong


def test_both_languages_say_the_same() -> None:
    """Blocks without a language, which are answers of commands, are those of the English page; --update copies them."""
    assert each_page(assert_both_say_the_same) == []


def assert_both_say_the_same(page: Path) -> None:
    chinese = CHINESE[page]
    assert chinese.exists(), f"{page.name} has no Chinese page; write {chinese.relative_to(CHECKOUT)}"
    for one in (page, chinese):
        second = "".join(one.read_text(encoding="utf-8").splitlines(keepends=True)[2:3])
        assert second == language_line(one), f"line 3 of {one.relative_to(CHECKOUT)} leads to the other language"
    assert_answers_are_equal(page, chinese)
    for english, translated in zip_longest(translated_parts(page), parts(chinese)):
        is_equal = english is not None and translated is not None and english[0] == translated[0]
        assert is_equal, f"the languages of {page.name} differ:\nEnglish: {place(english)}\nChinese: {place(translated)}"


def translated_parts(page: Path) -> list[tuple[Part, Token]]:
    """Return the parts of an English page; of the page of rules without the rules that the Chinese page lacks."""
    if page != RULES:
        return parts(page)
    names = {token.content for part, token in parts(CHINESE[RULES]) if part.markup == "h2"}
    found: list[tuple[Part, Token]] = []
    is_translated = True
    for part, token in parts(RULES):
        if part.markup == "h2":
            is_translated = token.content in names
        found += [(part, token)] if is_translated else []
    return found


def assert_answers_are_equal(page: Path, chinese: Path) -> None:
    """Compare the blocks without a language with those of the English page."""
    block = re.compile(r"(?ms)^```(.*?)\n.*?^```$")
    text = chinese.read_text(encoding="utf-8")
    originals = list(block.finditer(page.read_text(encoding="utf-8")))
    if [one[1] for one in originals] == [one[1] for one in block.finditer(text)]:
        following = iter(originals)
        assert_is_current(chinese, block.sub(lambda copy: copy[0] if (original := next(following))[1] else original[0], text))


def letters(token: Token) -> str:
    """Return the letters and digits of a paragraph or cell, where its links lead left out."""
    return re.sub(r"\W", "", "".join(one.content for one in token.children or [] if one.type in ("text", "code_inline")))


def test_the_chinese_page_is_chinese() -> None:
    """What has no Chinese character is a name, such as that of a column, and is the same on both pages."""
    assert each_page(assert_is_chinese) == []


def assert_is_chinese(page: Path) -> None:
    for (_, english), (_, chinese) in zip(translated_parts(page), parts(CHINESE[page]), strict=False):
        if english.type == chinese.type == "inline" and not HAN.search(chinese.content):
            assert letters(chinese) == letters(english)
            prose = " ".join(one.content for one in english.children or [] if one.type == "text")
            assert len(re.findall(r"\b[a-z]{2,}\b", prose)) < 5, f"still English: {chinese.content}"


def test_links_of_a_chinese_page_lead_to_chinese_pages() -> None:
    assert each_page(assert_links_are_chinese) == []


def assert_links_are_chinese(page: Path) -> None:
    text = CHINESE[page].read_text(encoding="utf-8").replace(language_line(CHINESE[page]), "", 1)
    links = {Path(os.path.normpath(CHINESE[page].parent / link)) for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", text)}
    assert not links & CHINESE.keys(), "there is a Chinese page of it"


def test_no_chinese_page_is_left_over() -> None:
    assert set(DOCS.glob("zh/**/*.md")) <= set(CHINESE.values())
