"""The site and llms.txt have every page, links lead to what the site has, and both dialects of Markdown read pages alike."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from docs import gallery, llms, site
from docs.index import CHINESE, ENGLISH, groups
from tests.helpers.places import CHECKOUT
from tests.test_docs import missing
from tests.test_languages import MARKDOWN

PAGES = sorted(page.relative_to(CHECKOUT) for page in (*CHECKOUT.glob("docs/*.md"), *CHECKOUT.glob("docs/zh/*.md")))


def files(part: Any) -> Iterator[str]:
    """Yield the files that a part of the navigation names."""
    if isinstance(part, str):
        yield part
    else:
        for inner in part.values() if isinstance(part, dict) else part:
            yield from files(inner)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_page_is_in_the_navigation_and_each_of_its_links_exists(language: str) -> None:
    known = site.places()
    named = list(files(tomllib.loads(f"nav = {site.navigation(language, known)}")["nav"]))
    staged = {str(place.file): page for page, place in known.items() if place.language == language}
    assert len(named) == len(set(named))
    assert set(named) == staged.keys()
    assert [page for page in staged.values() if not (CHECKOUT / page).exists()] == []
    assert {page for page in PAGES if (page.parts[1] == "zh") == (language == "zh")} - {site.FRONT["zh"]} <= {*staged.values()}


def test_the_navigation_has_the_groups_of_the_list() -> None:
    nav = tomllib.loads(f"nav = {site.navigation('en', site.places())}")["nav"]
    headings = [key for part in nav for key, inner in part.items() if isinstance(inner, list)]
    assert headings == ["To begin", "Questions", "Formats that are read", "What is written", "Reference", "Contribute"]
    assert len(groups(ENGLISH)) == len(groups(CHINESE))


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[steps](step-time.md#free-time)", "[steps](step-time.md#free-time)"),
        ("[here](#b)", "[here](#b)"),
        ("[中文](zh/tutorial.md)", "[中文](zh/tutorial/){ .twin hreflang=zh }"),
        ("[README](../README.md#install)", "[README](index.md#install)"),
        ("[how](../CONTRIBUTING.md)", "[how](CONTRIBUTING.md)"),
        ("[`why`](decisions/0001-sql-files-are-the-engine.md)", "[`why`](decisions/0001-sql-files-are-the-engine.md)"),
        ("[file](../sql/op/statistic.sql)", "[file](https://host/sql/op/statistic.sql)"),
        ("![picture](module-stats.svg)", "![picture](pictures/module-stats.svg)"),
        ("[plotly](https://plotly.com)", "[plotly](https://plotly.com)"),
        ("```\n[code](../sql)\n```", "```\n[code](../sql)\n```"),
    ],
)
def test_a_link_leads_to_the_page_of_the_site(link: str, shown: str) -> None:
    assert site.with_links(link, Path("docs/tutorial.md"), site.places(), "https://host") == shown


def test_a_file_that_is_no_page_is_plain_text_where_no_repository_is_known() -> None:
    assert site.with_links("see [`op`](../sql/op/a.sql)", Path("docs/faq.md"), site.places(), None) == "see `op`"


def test_a_chinese_page_leads_to_the_english_one_where_there_is_no_other() -> None:
    known = site.places()
    assert known[Path("docs/zh/step-time.md")] == ("zh", PurePosixPath("step-time.md"))
    link = "[原因](../decisions/0024-a-step-is-what-the-host-launched.md)"
    shown = "[原因](../decisions/0024-a-step-is-what-the-host-launched/)"
    assert site.with_links(link, Path("docs/zh/step-time.md"), known, None) == shown


def test_a_dead_link_of_the_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<a href="../b/">b</a> <a href="https://c">c</a> <img src="no.svg">')
    (tmp_path / "index.html").write_text('<a href="a/#part">a</a>')
    assert site.dead_links(tmp_path) == ["a/index.html: broken link ../b/", "a/index.html: broken link no.svg"]


def test_a_page_that_the_site_shows_otherwise_is_found(tmp_path: Path) -> None:
    known = {Path("docs/decisions/README.md"): site.Place("en", PurePosixPath("decisions/README.md"))}
    rows = (CHECKOUT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8").count("\n| [")
    (tmp_path / "decisions").mkdir()
    cells = "<td>one</td>" * 2 * rows
    page = tmp_path / "decisions" / "index.html"
    page.write_text(f"<li>navigation</li><article>{cells}</article>")
    assert site.misread(tmp_path, known) == []
    page.write_text(f"<article>{cells}<li>one</li></article>")
    assert site.misread(tmp_path, known) == ["docs/decisions/README.md: 0 li in CommonMark, 1 in the site"]


def test_llms_txt_is_that_of_the_list_of_pages() -> None:
    is_current = llms.FILE.read_text(encoding="utf-8") == llms.text()
    assert is_current, "llms.txt is older than docs/README.md: run `python -m docs.llms` and commit it"
    links = re.findall(r"\]\((.+?)\): (.*)", llms.text())
    assert [page for page, about in links if not (CHECKOUT / page).exists() or not about] == []


def test_each_picture_of_the_gallery_has_the_code_that_makes_it() -> None:
    marks = {page: site.PICTURE.findall((CHECKOUT / page).read_text(encoding="utf-8")) for page in PAGES}
    pages = {page for page, names in marks.items() if names}
    assert pages == {Path("docs/gallery.md"), Path("docs/zh/gallery.md")}
    assert all(marks[page] == list(gallery.pictures()) for page in pages)


@pytest.mark.slow  # three profiles and nine pictures
def test_the_gallery_is_made(tmp_path: Path) -> None:
    heights = gallery.write(tmp_path)
    assert {file.stem for file in tmp_path.glob("*.html")} == heights.keys() == gallery.pictures().keys()
    assert [name for name, height in heights.items() if height is None] == ["report"]
    assert (tmp_path / "plotly.min.js").exists()


def test_nested_lists_are_indented_by_four_spaces() -> None:
    """Fewer nest on a repository host alone."""
    assert missing(shallow_items) == []


def shallow_items(page: Path) -> Iterator[str]:
    text = site.CODE.sub("", page.read_text(encoding="utf-8"))
    yield from re.findall(r"(?m)^ {1,3}(?:[-*]|\d+\.) .{20}", text)


def test_bold_is_bold() -> None:
    """A sign of punctuation before the closing ** and a letter behind it, and CommonMark shows the stars."""
    assert missing(lost_stars) == []


def lost_stars(page: Path) -> Iterator[str]:
    for token in MARKDOWN.parse(page.read_text(encoding="utf-8")):
        yield from (one.content[:60] for one in token.children or () if one.type == "text" and "**" in one.content)
