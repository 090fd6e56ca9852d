"""Write the catalogues of the languages: what people read, as the code says it, each with its translation.

python -m docs.catalogue

It adds what is new to prof_analysis/languages/*/LC_MESSAGES/prof_analysis.po, takes out what is gone, and writes the .mo file,
which the program reads, beside it. A text that nobody reads, such as a part of SQL, has the flag `not-shown`; any other one
without a translation fails a test.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from prof_analysis.engine.heads import read_head
from prof_analysis.engine.sentences import without_condition
from prof_analysis.engine.statements import sql_folder
from prof_analysis.languages.lookup import CATALOGUES, DOMAIN
from prof_analysis.pictures.report.spoken import WORDS

CHECKOUT = Path(__file__).parent.parent
NOT_SHOWN = "not-shown"
_SAID_IN_HEADS = ("title", "evidence", "remedy")
# Two words, one after the other, that are no names: such a text may be one for people.
_WORDS = re.compile(r"(?<![\w.])[a-z]{2,}[,:;]? [a-z(]{2,}|[a-z]{3,} \{|\} [a-z]{2,}|^[A-Z][a-z]+ [a-z]{2,}")
_SQL = re.compile(
    r"^\s*\(?(SELECT|FROM|WITH|CREATE|ORDER BY|WHERE|UNION|JOIN|COPY|DROP|INSERT|AS|CASE|GROUP BY|LIMIT|SET|ATTACH)\b"
    r"|^\s*(PIVOT|CALL|AND)\b"
    r"|\w::[a-zA-Z]|\b(FROM|JOIN) \{|^--|SELECT (\*|\w+[,)])|GROUP BY ALL|\bAS \w+[,)]|SELECT \{|\n *(FROM|SELECT|WHERE) "
)
# Rooms whose texts are for programs, or for those who write tables of their own.
_ROOMS_NOT_READ = ("languages", "functions")
_FORMAT_GAP = re.compile(r"\{[^{}]*\}")
_GAP = "\0"


def file_of(language: str) -> Path:
    """Return the file of the catalogue of a language."""
    return CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def texts() -> Mapping[str, Sequence[str]]:
    """Return the texts of the code that may be for people, each with the files that have it."""
    found: dict[str, list[str]] = {}
    for file in sorted((CHECKOUT / "prof_analysis").rglob("*.py")):
        place = file.relative_to(CHECKOUT).as_posix()
        if file.relative_to(CHECKOUT).parts[1] not in _ROOMS_NOT_READ:
            for text in _of_python(ast.parse(file.read_text(encoding="utf-8"))):
                if text.startswith("{0|1 ") or (_WORDS.search(text) and not _SQL.search(text)):
                    _add(found, text, place)
    for file in sorted((CHECKOUT / "prof_analysis").rglob("*.j2")):
        for text in re.findall(r'_\("([^"]+)"', file.read_text(encoding="utf-8")):
            _add(found, text, file.relative_to(CHECKOUT).as_posix())
    for text in WORDS:
        _add(found, text.replace("{}", "{{}}"), "prof_analysis/pictures/report/page.js")
    for file in sorted(sql_folder().rglob("*.sql")):
        place = file.relative_to(CHECKOUT).as_posix()
        for text in _of_sql(file):
            _add(found, text, place)
    return found


def _add(found: dict[str, list[str]], text: str, place: str) -> None:
    text = text.strip()
    places = found.setdefault(text, [])
    if place not in places:
        places.append(place)


def _of_python(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of Python, without docstrings but those of commands; {0} is the first gap of an f-string."""
    ignored: set[ast.AST] = set()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "takes_options"]
    commands = {one.id for call in calls for one in call.args if isinstance(one, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            is_command = isinstance(node, ast.FunctionDef) and (
                node.name in commands or any(map(_is_command, node.decorator_list))
            )
            if is_command:
                yield from _paragraphs(ast.get_docstring(node) or "")
            ignored.add(node.body[0].value)  # type: ignore[attr-defined]  # A docstring is an expression.
        elif isinstance(node, ast.JoinedStr):
            ignored.update(node.values)
            parts = (str(one.value) if isinstance(one, ast.Constant) else _GAP for one in node.values)
            yield from _paragraphs("".join(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in ignored:
            yield from _paragraphs(node.value)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "several":
            yield from _noun(node)


def _is_command(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in ("command", "callback")


def _noun(call: ast.Call) -> Iterator[str]:
    """Yield a number with its noun, which several() shows."""
    words = [str(one.value) for one in call.args[1:] if isinstance(one, ast.Constant)]
    for noun in words[:1]:
        yield f"{{0|1 {noun}|{noun}{(*words[1:], 's')[0]}}}"


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text, as they are printed: each in one line."""
    for paragraph in text.split("\n\n"):
        yield _numbered(" ".join(paragraph.split()) if "\n\n" in text else paragraph)


def _numbered(text: str) -> str:
    """Return a text as a template: its gaps by number, and signs that have a meaning there doubled."""
    parts = re.sub(r"[\[\]{}]", lambda match: match[0] * 2, text).split(_GAP)
    return parts[0] + "".join(f"{{{number}}}{part}" for number, part in enumerate(parts[1:]))


def _of_sql(file: Path) -> Iterator[str]:
    """Yield the texts of SQL: the sentences in heads as they are, and what the SELECT says."""
    text = file.read_text(encoding="utf-8")
    if file.parent.name != "macros":
        head = read_head(file, text)
        for directive in head.directives:
            if directive.word in _SAID_IN_HEADS:
                yield without_condition(directive.value)
        bodies: Iterable[str] = [head.body]
    else:
        bodies = _macros(text)
    for body in bodies:
        for found in _of_tree(_tree(body)):
            if re.search(r"[a-z]{2,}[,:;]? [a-z(]{2,}|[a-z]{3,} \{|\} [a-z]{2,}", found):
                yield found


def _macros(text: str) -> Iterator[str]:
    """Yield the bodies of macros as queries."""
    for statement in re.split(r"(?=^CREATE MACRO)", text, flags=re.MULTILINE)[1:]:
        if match := re.fullmatch(r"CREATE MACRO.*?\) AS\s+(TABLE\s+)?(.*?);\s*(--.*)?", statement, re.DOTALL):
            yield match[2] if match[1] else f"SELECT {match[2]}"


def _tree(query: str) -> Any:
    (found,) = _parser().execute("SELECT json_serialize_sql($query)", {"query": query}).fetchone() or ("{}",)
    return json.loads(found)


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def _of_tree(node: Any) -> Iterator[str]:
    """Yield the texts in a parse tree; what || or format() joins is one text."""
    if isinstance(node, list):
        for one in node:
            yield from _of_tree(one)
    elif isinstance(node, dict):
        if _is_joined(node):
            gaps: list[Any] = []
            yield _numbered("".join(_flat(node, gaps)))
            yield from _of_tree(gaps)
        elif (text := _literal(node)) is not None:
            yield _numbered(text)
        else:
            for one in node.values():
                yield from _of_tree(one)


def _is_joined(node: Mapping[str, Any]) -> bool:
    return node.get("function_name") == "||" or (
        node.get("function_name") == "format" and _literal(_arguments(node)[0]) is not None
    )


def _arguments(node: Mapping[str, Any]) -> Sequence[Any]:
    return [one["expression"] for one in node["arguments"]]


def _literal(node: Mapping[str, Any]) -> str | None:
    if node.get("function_name") == "||":
        texts = list(map(_literal, _arguments(node)))
        return None if None in texts else "".join(map(str, texts))
    literal = node.get("literal") if node.get("class") == "CONSTANT" else None
    return str(literal["text"]) if literal and literal["kind"] == "STRING" else None


def _flat(node: Mapping[str, Any], gaps: list[Any]) -> Iterator[str]:
    """Yield the parts of a joined text; what fills a gap is put into the list."""
    if (text := _literal(node)) is not None:
        yield text
    elif node.get("function_name") == "||":
        for one in _arguments(node):
            yield from _flat(one, gaps)
    elif _is_joined(node):
        first, *filling = _arguments(node)
        whole = (_literal(first) or "").replace("{{", "\1").replace("}}", "\2")
        yield _FORMAT_GAP.sub(_GAP, whole).replace("\1", "{").replace("\2", "}")
        gaps += filling
    else:
        gaps.append(node)
        yield _GAP


def read(language: str) -> Catalog:
    """Return the catalogue of a language as it is."""
    with file_of(language).open("rb") as file:
        return read_po(file, locale=language)


def updated(language: str) -> Catalog:
    """Return the catalogue of a language with the texts of the code: with their translations, if it has them."""
    known = {str(message.id): message for message in read(language) if message.id}
    catalogue = Catalog(locale=language, charset="utf-8")
    for text, places in sorted(texts().items()):
        _put(catalogue, text, known.pop(text, None), places)
    for text, was in sorted(known.items()):
        if not was.locations:  # Words that stand alone in the code: they are added by hand.
            _put(catalogue, text, was, [])
    return catalogue


def _put(catalogue: Catalog, text: str, was: Message | None, places: Sequence[str]) -> None:
    flags = {NOT_SHOWN} if was is not None and NOT_SHOWN in was.flags else set()
    catalogue.add(text, "" if was is None else was.string, locations=[(place, 0) for place in places], flags=flags)


def compiled(catalogue: Catalog) -> bytes:
    """Return what the program reads."""
    catalogue.creation_date = catalogue.revision_date = datetime(2026, 1, 1, tzinfo=UTC)  # The same at each time.
    made = BytesIO()
    write_mo(made, catalogue)
    return made.getvalue()


def write(language: str) -> None:
    """Write the catalogue of a language, and what the program reads."""
    catalogue = updated(language)
    with file_of(language).open("wb") as file:
        write_po(file, catalogue, width=128, sort_output=False, omit_header=True, include_lineno=False)
    file_of(language).with_suffix(".mo").write_bytes(compiled(read(language)))


if __name__ == "__main__":
    write("zh")
