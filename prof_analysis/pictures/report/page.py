"""Makes one HTML file of sections. It loads nothing, so that it works from disk and can be mailed."""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from prof_analysis.common.errors import OutputError, reason_of
from prof_analysis.common.files import replacing
from prof_analysis.languages import language, said
from prof_analysis.pictures.figures.style import theme
from prof_analysis.pictures.report.matters import Matter
from prof_analysis.pictures.report.parts import Modules, Picture, Section
from prof_analysis.pictures.report.pictures import drawing_library, packed
from prof_analysis.pictures.report.spoken import spoken, words

# By this a file is known as a report.
GENERATOR = '<meta name="generator" content="prof-analysis">'
# A name with such an end means a file, not a folder to make.
_OTHER_FILES = (".txt", ".md", ".csv", ".json", ".xml", ".pdf", ".xlsx", ".db", ".svg", ".png", ".zip", ".gz")
_CODE = re.compile(r"`([^`]+)`")
# What would end a script element, or be read as something else than JSON, in JSON.
_ESCAPED = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


@dataclass(frozen=True)
class Page:
    """A page: its title, its subject in a few words, verdict, what matters of each run, its sections, and its foot."""

    title: str
    about: Sequence[str]
    matters: Sequence[tuple[str, Sequence[Matter]]]
    sections: Sequence[Section]
    made: Section
    foot: str
    verdict: Section | None = None


def write_page(page: Page, file: Path) -> Path:
    """Write a page, and return the file. Raises OutputError when it cannot be written."""
    text = html_of(page)
    with replacing(file) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return file


def file_for(path: Path) -> Path:
    """Return the file of a report: the path if it ends in .html, else report.html in this folder, which is made.

    Raises OutputError when the path is that of a file of another kind, when the folder cannot be made, or when the file is
    there and is no report.
    """
    if path.suffix.lower() in _OTHER_FILES and not path.is_dir():
        raise OutputError(f"{path}: a report is an HTML file; give a name that ends in .html, or a folder, with -o", path=path)
    file = path if path.suffix.lower() in (".html", ".htm") and not path.is_dir() else path / "report.html"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError), file.open("rb") as opened:
            if GENERATOR.encode() not in opened.read(2000):
                raise OutputError(
                    f"{file}: is no report of prof-analysis, and is not replaced; give another file with -o", path=file
                )
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{file}: cannot be written ({reason_of(error)}); give another file with -o", path=file) from error
    return file


def html_of(page: Page) -> str:
    """Return a page as HTML, in the language that is shown."""
    page = spoken(page)
    environment = _environment()
    library = drawing_library()
    script = _source("page.js")
    shown = [part for section in page.sections for part in section.parts]
    data = {
        "themes": {name: theme(name == "dark").to_plotly_json() for name in ("light", "dark")},
        "figures": {one.name: one.figure for one in _pictures(shown)},
        "words": words(),
        "costs": next((part.costs for part in shown if isinstance(part, Modules)), None),
    }
    html: str = environment.get_template("page.html.j2").render(
        page=page,
        generator=GENERATOR,
        language=language(),
        sections=(*page.sections, page.made),
        style=_source("page.css"),
        script=script,
        data=as_json(data),
        library=packed(library),
        allowed=" ".join(f"'sha256-{_digest(source)}'" for source in (script, library)),
    )
    return html


def as_json(data: Any) -> str:
    """Return data as JSON that may stand in a script element: none of it can end the element."""
    from plotly.io.json import to_json_plotly

    return str(to_json_plotly(data)).translate(_ESCAPED)


def _pictures(parts: Iterable[object]) -> Iterable[Picture]:
    for part in parts:
        if isinstance(part, Modules):
            yield part.picture
        elif isinstance(part, Picture):
            yield part


def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment: Any = Environment(
        extensions=["jinja2.ext.i18n"],
        loader=PackageLoader("prof_analysis.pictures", "report"),
        autoescape=select_autoescape(("j2",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.install_null_translations()
    environment.globals["gettext"] = said
    environment.filters["breakable"] = _breakable
    return environment


def _breakable(text: str) -> Any:
    """Return a text as HTML in which a long path breaks behind a "/", not within a name, and a command is code."""
    from markupsafe import Markup, escape

    found = Markup("/<wbr>").join(map(escape, text.split("/")))
    return Markup(_CODE.sub(r"<code>\1</code>", str(found)))


def _source(name: str) -> str:
    return (files("prof_analysis.pictures.report") / name).read_text(encoding="utf-8")


def _digest(source: str) -> str:
    """Return the digest by which the page allows a script to run, and no other."""
    return b64encode(sha256(source.encode()).digest()).decode()
