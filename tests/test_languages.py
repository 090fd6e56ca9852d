"""Every page is there in English and in Chinese, and both say the same: what one of them gains, the other one must gain too."""

import os
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.helpers.places import CHECKOUT
from tests.test_docs import anchor

DOCS = CHECKOUT / "docs"
FRONT = CHECKOUT / "README.md"
ENGLISH_ALONE = {DOCS / "tables.md"}  # Generated from the heads in sql/.
PAGES = sorted({FRONT, *DOCS.glob("*.md")} - {DOCS / "README.zh.md"} - ENGLISH_ALONE)
CHINESE = {page: DOCS / "README.zh.md" if page == FRONT else DOCS / "zh" / page.name for page in PAGES}
ENGLISH = {chinese: page for page, chinese in CHINESE.items()}

MARKDOWN = MarkdownIt("commonmark").enable("table")
HAN = re.compile(r"[\u4e00-\u9fff]")


class Part(NamedTuple):
    """A heading, paragraph, cell or block of code, with what a translation leaves as it is."""

    kind: str  # Markup around it, as in ul li p
    code: frozenset[str] | str  # What is written as code; of a block all of it, without the words of comments.
    numbers: frozenset[str]
    links: tuple[str, ...]  # Where they lead: page and number of the heading, of a Chinese page those of the English one.


def tokens_of(page: Path) -> list[Token]:
    text = page.read_text(encoding="utf-8")
    return [token for token in MARKDOWN.parse(text.replace(language_line(page), "\n", 1)) if token.type != "html_block"]


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
    place = f"#{[anchor(heading) for heading in headings].index(part)}" if part else ""
    return f"{ENGLISH.get(file, file).relative_to(CHECKOUT)}{place}"


def parts(page: Path) -> Iterator[tuple[Part, Token]]:
    around: list[str] = []
    for token in tokens_of(page):
        if token.nesting == 1:
            around.append(token.tag)
        elif token.nesting == -1:
            around.pop()
        elif token.type == "inline":
            inside = token.children or []
            links = [str(one.attrs["href" if one.type == "link_open" else "src"]) for one in inside if one.attrs]
            text = " ".join(one.content for one in inside if one.type == "text")
            yield (
                Part(
                    " ".join(around),
                    frozenset(one.content for one in inside if one.type == "code_inline"),
                    frozenset(re.findall(r"\d+(?:[.,]\d+)*", text)),
                    tuple(sorted(target(link, page) for link in links)),
                ),
                token,
            )
        else:
            code = re.sub(r"(?m)(^|\s)# .*$", r"\1#", token.content) if token.info else token.content
            yield Part(f"{' '.join(around)} {token.type} {token.info}", code, frozenset(), ()), token


def line(found: tuple[Part, Token] | None) -> str:
    return f"line {found[1].map[0] + 1}, {found[0]}" if found and found[1].map else "nothing"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(CHECKOUT).as_posix())
def test_both_languages_say_the_same(page: Path) -> None:
    """Blocks without a language, which are answers of commands, are written into the Chinese page, and the test fails."""
    chinese = CHINESE[page]
    assert chinese.exists(), f"{page.name} has no Chinese page; write {chinese.relative_to(CHECKOUT)}"
    for one in (page, chinese):
        assert one.read_text(encoding="utf-8").split("\n\n")[1] + "\n" == language_line(one)
    copy_answers(page, chinese)
    for here, there in zip_longest(parts(page), parts(chinese)):
        is_equal = here is not None and there is not None and here[0] == there[0]
        assert is_equal, f"{page.name} and its Chinese page differ:\nEnglish {line(here)}\nChinese {line(there)}"


def copy_answers(page: Path, chinese: Path) -> None:
    """Write the blocks without a language, as the English page has them, into the Chinese one."""
    block = re.compile(r"(?ms)^```(.*?)\n.*?^```$")
    text = chinese.read_text(encoding="utf-8")
    originals = list(block.finditer(page.read_text(encoding="utf-8")))
    if [one[1] for one in originals] == [one[1] for one in block.finditer(text)]:
        following = iter(originals)
        new = block.sub(lambda copy: copy[0] if (original := next(following))[1] else original[0], text)
        if new != text:
            chinese.write_text(new, encoding="utf-8")
        assert new == text, f"answers in {chinese.name} were not those of {page.name} and are written anew: commit them"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(CHECKOUT).as_posix())
def test_the_chinese_page_is_chinese(page: Path) -> None:
    for (_, english), (part, chinese) in zip(parts(page), parts(CHINESE[page]), strict=False):
        words = [one.content for one in english.children or [] if one.type == "text"]
        is_prose = part.kind.endswith("p") and len(re.findall(r"\b[a-z]{2,}\b", " ".join(words))) > 4
        assert HAN.search(chinese.content) or not is_prose, f"still English: {chinese.content}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(CHECKOUT).as_posix())
def test_links_of_a_chinese_page_lead_to_chinese_pages(page: Path) -> None:
    text = CHINESE[page].read_text(encoding="utf-8").replace(language_line(CHINESE[page]), "", 1)
    links = {Path(os.path.normpath(CHINESE[page].parent / link)) for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", text)}
    assert not links & CHINESE.keys(), "there is a Chinese page of it"


def test_no_chinese_page_is_left_over() -> None:
    assert set(DOCS.glob("zh/**/*.md")) <= set(CHINESE.values())
