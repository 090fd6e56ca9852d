"""Build the site from the pages of docs/ and those that docs/README.md names beside them.

python -m docs.site [--into site] [--repository https://HOST/OWNER/NAME/blob/main]

Each language is a site of its own: English at the root, Chinese in zh/. The pages stay as they are; copies of them get the
links of the site. A link to a file that is no page leads to the repository, or is plain text when no repository is given.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

from docs import gallery, llms, tables
from docs.index import CHECKOUT, CHINESE, ENGLISH, Entry, groups

FRONT = {"en": Path("README.md"), "zh": Path("docs/README.zh.md")}
INDEX = {"en": ENGLISH, "zh": CHINESE}
TABLES = Path("docs/tables")
# Of these groups and pages the site shows what is below them too.
BELOW = {Path("docs/decisions/README.md"): "docs/decisions/0*.md", Path("docs/tables.md"): "docs/tables/*.md"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)")
CODE = re.compile(r"(?ms)(^ *```.*?^ *```$)")
PICTURE = re.compile(r"<!-- picture: (\w+) -->")
TITLE = re.compile(r"(?m)^# (.+)$")


class Place(NamedTuple):
    """Where the site has a page: its language, and its file below the pages of this language."""

    language: str
    file: PurePosixPath

    @property
    def folder(self) -> PurePosixPath:
        """Return where its links start from, below the site."""
        return PurePosixPath("zh" if self.language == "zh" else "", self.file.parent)

    @property
    def address(self) -> PurePosixPath:
        """Return the folder of the built page, below the site."""
        return self.folder if self.file.name in ("index.md", "README.md") else self.folder / self.file.stem


def places() -> dict[Path, Place]:
    """Return the place of each page, by its path in the checkout."""
    found = {FRONT[language]: Place(language, PurePosixPath("index.md")) for language in FRONT}
    found |= {INDEX[language]: Place(language, PurePosixPath("pages.md")) for language in INDEX}
    named = [entry.page for language in ("en", "zh") for entries in groups(INDEX[language]).values() for entry in entries]
    below = [file.relative_to(CHECKOUT) for files in BELOW.values() for file in sorted(CHECKOUT.glob(files))]
    for page in (*named, *below):
        if page not in found:
            language = "zh" if page.parts[:2] == ("docs", "zh") else "en"
            folder = {"zh": "docs/zh", "en": "docs" if page.parts[0] == "docs" else "."}[language]
            found[page] = Place(language, PurePosixPath(page.relative_to(folder).as_posix()))
    return found


def navigation(language: str, known: dict[Path, Place]) -> str:
    """Return the pages in the groups of the list of pages, as TOML."""
    parts = [_item("prof-analysis", FRONT[language], known)]
    for group, entries in groups(INDEX[language]).items():
        own = [_entry(entry, known) for entry in entries if known[entry.page].language == language]
        parts.append(f"{{ {_quoted(group)} = [{', '.join(own)}] }}")
    return f"[{', '.join([*parts, _item(_title(INDEX[language]), INDEX[language], known)])}]"


def _entry(entry: Entry, known: dict[Path, Place]) -> str:
    """Return a page in the navigation, with those below it."""
    if entry.page not in BELOW:
        return _item(entry.title, entry.page, known)
    below = sorted(CHECKOUT.glob(BELOW[entry.page]))
    items = [_item(_title(file), file.relative_to(CHECKOUT), known) for file in below]
    return f"{{ {_quoted(entry.title)} = [{', '.join([_item(entry.title, entry.page, known), *items])}] }}"


def _item(title: str, page: Path, known: dict[Path, Place]) -> str:
    return f"{{ {_quoted(title)} = {_quoted(str(known[page].file))} }}"


def _quoted(text: str) -> str:
    """Return a text as one of TOML, without the signs of Markdown."""
    return json.dumps(text.replace("`", ""), ensure_ascii=False)


def _title(page: Path) -> str:
    match = TITLE.search((CHECKOUT / page).read_text(encoding="utf-8"))
    return match[1] if match else page.stem


def with_links(text: str, page: Path, known: dict[Path, Place], repository: str | None) -> str:
    """Return the text of a page with the links of the site; those within code stay."""

    def led(link: re.Match[str]) -> str:
        return _led(link, page, known, repository)

    parts = CODE.split(text)
    parts[::2] = (LINK.sub(led, part) for part in parts[::2])
    return "".join(parts)


def _led(link: re.Match[str], page: Path, known: dict[Path, Place], repository: str | None) -> str:
    """Return a link of a page as the site has it."""
    sign, text, path, part = link[1], link[2], unquote(link[3]), link[4] or ""
    if not path or sign:
        return link[0] if not sign else f"{sign}[{text}]({_from(known[page], _picture(page, path))})"
    to = Path(os.path.normpath(page.parent / path))
    if to.parent == Path("sql") and to not in known:
        to = TABLES / f"{to.name}.md"  # A schema is a page of the site.
    if to not in known:
        return f"[{text}]({repository}/{to.as_posix()}{part})" if repository else text
    here, there = known[page], known[to]
    if here.language == there.language:
        return f"[{text}]({PurePosixPath(os.path.relpath(there.file, here.file.parent))}{part})"
    twin = f"{{ .twin hreflang={there.language} }}" if there.file == here.file else ""
    return f"[{text}]({_from(here, there.address)}/{part}){twin}"


def _picture(page: Path, path: str) -> PurePosixPath:
    """Return where the site has a picture of the repository."""
    return PurePosixPath("pictures", Path(os.path.normpath(page.parent / path)).name)


def _from(here: Place, there: PurePosixPath) -> PurePosixPath:
    """Return the way from a page to a file of the site."""
    return PurePosixPath(os.path.relpath(there, here.folder))


def stage(folder: Path, known: dict[Path, Place], repository: str | None, heights: dict[str, int | None]) -> None:
    """Write the pages of both languages into a folder, with frames for the pictures of the gallery."""
    for page, place in known.items():
        text = with_links((CHECKOUT / page).read_text(encoding="utf-8"), page, known, repository)
        if TABLES in page.parents:
            # Names and first sentences are searched; 100,000 words of columns would be all that a search finds.
            text = re.sub(r"(?ms)^(\| Column \|.+?)(?=\n\n|\Z)", r"<div markdown data-search-exclude>\n\n\1\n\n</div>", text)
        text = PICTURE.sub(partial(_framed, place, heights), text)
        file = folder / place.language / place.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for language in FRONT:
        for name in ("site.css", "site.js"):
            shutil.copy(CHECKOUT / "docs" / name, folder / language)


def _framed(place: Place, heights: dict[str, int | None], mark: re.Match[str]) -> str:
    """Return the frame of a picture of the gallery, or a link to it if it is a page of its own."""
    picture = mark[1]
    address = _from(place, PurePosixPath("pictures", f"{picture}.html"))
    if heights[picture] is None:
        return f'<p><a href="{address}">{address.name}</a></p>'
    return f'<iframe src="{address}" title="{picture}" loading="lazy" height="{heights[picture]}"></iframe>'


def build(into: Path, repository: str | None) -> None:
    """Build the site into a folder, which is replaced."""
    if into.exists() and not (into / "llms.txt").exists():
        sys.exit(f"{into} is there and is no site: remove it, or give another folder by --into")
    if find_spec("zensical") is None:
        sys.exit("zensical is not installed: pip install -e '.[site]'")
    tables.write(CHECKOUT / TABLES)
    known = places()
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        stage(folder, known, repository, gallery.write(folder / "pictures"))
        template = (CHECKOUT / "docs" / "zensical.toml").read_text(encoding="utf-8")
        for language, below, english, chinese in (("en", "", "./", "./zh/"), ("zh", "zh/", "../", "./")):
            settings = {"language": language, "site": f"site/{below}", "english": english, "chinese": chinese}
            text = template.replace("@nav@", navigation(language, known))
            for word, value in settings.items():
                text = text.replace(f"@{word}@", value)
            config = folder / f"{language}.toml"
            config.write_text(text, encoding="utf-8")
            subprocess.run([sys.executable, "-m", "zensical", "build", "--strict", "--config-file", config], check=True)
        site = folder / "site"
        shutil.move(folder / "pictures", site)
        for picture in CHECKOUT.glob("*/*.svg"):
            shutil.copy(picture, site / "pictures")
        addresses = {page: f"{place.address}/" for page, place in known.items()}
        (site / "llms.txt").write_text(llms.text(addresses), encoding="utf-8")
        (site / "llms-full.txt").write_text(llms.all_pages(), encoding="utf-8")
        if wrong := [*dead_links(site), *misread(site, known)]:
            sys.exit("\n".join(wrong))
        shutil.rmtree(into, ignore_errors=True)
        shutil.move(site, into)


class _Links(HTMLParser):
    """Collects where the links and pictures of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.found |= {value for name, value in attrs if name in ("href", "src") and value}


def dead_links(site: Path) -> list[str]:
    """Return the links of all pages that lead to no file of the site."""
    dead = []
    for page in site.rglob("*.html"):
        links = _Links()
        links.feed(page.read_text(encoding="utf-8"))
        for link in sorted(links.found):
            parts = urlsplit(link)
            if not parts.scheme and parts.path and page.name != "404.html":
                file = page.parent / unquote(parts.path)
                if not (file / "index.html" if file.is_dir() else file).exists():
                    dead.append(f"{page.relative_to(site)}: broken link {link}")
    return dead


def misread(site: Path, known: dict[Path, Place]) -> list[str]:
    """Return the pages that the site shows otherwise than a repository host: Zensical does not read CommonMark."""
    commonmark = MarkdownIt("commonmark").enable("table")
    wrong = []
    for page, place in known.items():
        built = (site / place.address / "index.html").read_text(encoding="utf-8")
        article = re.sub(
            r"(?s)<table class=\"highlight.*?</table>", "", built.partition("<article")[2].partition("</article>")[0]
        )
        text = commonmark.render((CHECKOUT / page).read_text(encoding="utf-8"))
        for tag in ("li", "td", "strong", "em", "pre"):
            counts = [len(re.findall(f"<{tag}[ >]", one)) for one in (text, article)]
            if counts[0] != counts[1]:
                wrong.append(f"{page}: {counts[0]} {tag} in CommonMark, {counts[1]} in the site")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser("docs.site", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=CHECKOUT / "site")
    parser.add_argument("--repository", help="where links to files that are no pages lead")
    given = parser.parse_args()
    build(given.into, given.repository)
    sys.stdout.write(f"wrote {given.into}\n")
