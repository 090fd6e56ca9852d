"""Reads the head of a table's file: prose, lines about columns, and directives, which are lines that begin with @.

    -- One row is an op.
    --
    -- @guard trace.op
    --
    -- op_id  BIGINT  identifies the op
    -- @columns start_ns to duration_ns as in trace.op
    --
    -- What else a reader must know.

Prose is only prose. So that no directive is lost in it, these are errors, each with its line: a word behind @ that is no
directive, a directive inside prose or below the head, and a sentence that was a directive when these were sentences.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from prof_analysis.engine.statements import sql_folder

# Directive -> how it is written.
FORMS: Mapping[str, str] = {
    "columns": "@columns FIRST to LAST as in SCHEMA.TABLE",
    "guard": "@guard SCHEMA.TABLE`, or over ranks `-- @guard several ranks",
    "requires": "@requires CAPABILITY, CAPABILITY | CAPABILITY",
    "keep": "@keep`, `-- @keep all` or `-- @keep COLUMN, COLUMN",
    "made": "@made SCHEMA.TABLE with SCHEMA.NEW for SCHEMA.OLD",
    "gathers": "@gathers SCHEMA`, `-- @gathers thresholds of SCHEMA` or `-- @gathers counts of SCHEMA",
    "sum": "@sum COLUMN, COLUMN",
    "unique": "@unique NAME by COLUMN, COLUMN: REASON",
    "title": "@title WHAT WAS FOUND",
    "evidence": "@evidence SENTENCE WITH {COLUMN}",
    "kind": "@kind exact cause`, `-- @kind upper bound` or `-- @kind hint",
    "remedy": "@remedy WHAT AN ENGINEER CAN DO",
    "query": "@query SELECT ...",
    "doc": "@doc PAGE",
    "counts": "@counts TIME",
    "threshold": "@threshold NAME VALUE UNIT: MEANING",
    "yields": "@yields RULE",
    "beside": "@beside TABLE of RECIPE by COLUMN, COLUMN",
}
A_HEAD = "a head is `-- One row is ...`, `--`, and a line `-- name  TYPE  meaning` for each column"
_ONCE = {"guard", "requires", "keep", "made", "gathers", "sum", "counts", "beside"}
_BELOW = re.compile(r"^\s*--\s*@(\w+)", re.MULTILINE)
# What was a directive when these were sentences, and how it is written now.
_OLD = (
    (r"Only when (\w+\.\w+) has (?:any )?rows", "@guard {}"),
    (r"Kept for other questions?, with all columns", "@keep all"),
    (r"Kept for other questions?, with (\w+(?:, \w+)*)", "@keep {}"),
    (r"Kept for other questions?", "@keep"),
    (r"Requires (\w+(?:(?:, (?:and |or )?| or | and )\w+)*)\.", "@requires {}"),
    (r"Made as (\w+\.\w+), with (\w+\.\w+) for (\w+\.\w+)", "@made {} with {} for {}"),
    (r"Made of all tables of (\w+)", "@gathers {}"),
)
_SIGNS_OF_OLD = ("Only when", "Kept for", "Requires ", "Made as", "Made of")


@dataclass(frozen=True)
class Line:
    """A line of a head with those that continue it, its number, and its file."""

    text: str
    number: int
    file: Path

    def error(self, what: str) -> ValueError:
        """Return the error that names this line."""
        return ValueError(f"{self.file}: line {self.number}: {what}")

    def file_of(self, table: str) -> Path:
        """Return the file of a table that it names: in the same folder of tables, or in ours. Raises ValueError for none."""
        schema, _, name = table.partition(".")
        beside = self.file.parents[1] / schema / f"{name}.sql"
        if beside.exists():
            return beside
        if (ours := sql_folder() / schema / f"{name}.sql").exists():
            return ours
        raise self.error(f"there is no table {table}; `prof-analysis tables` lists all")


@dataclass(frozen=True)
class Directive:
    """A directive: its word, its value, which is empty where it has none, and its line."""

    word: str
    value: str
    line: Line

    def error(self, what: str) -> ValueError:
        """Return the error that names its line."""
        return self.line.error(f"@{self.word}: {what}")

    @property
    def is_written_otherwise(self) -> ValueError:
        """The error that says how it is written."""
        return self.error(f"write `-- {FORMS[self.word]}`")

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it lists. Raises ValueError where it lists none, or something else, or one of them twice."""
        names = tuple(name.strip() for name in self.value.split(","))
        if not all(re.fullmatch(r"\w+", name) for name in names):
            raise self.is_written_otherwise
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise self.error(f"names {twice[0]} twice; leave one out")
        return names


@dataclass(frozen=True)
class Head:
    """The head of a file: what a row is, a line for each column or @columns, the other directives; and what is below it."""

    summary: str
    columns: tuple[Line, ...]
    directives: tuple[Directive, ...]
    body: str

    def one(self, word: str) -> Directive | None:
        """Return the directive with this word; None where there is none."""
        return next(iter(self.all(word)), None)

    def all(self, word: str) -> Sequence[Directive]:
        """Return the directives with this word."""
        return [directive for directive in self.directives if directive.word == word]


def read_head(file: Path, text: str) -> Head:
    """Read the head at the beginning of a file. Raises ValueError, which names the line, for a directive that cannot be one."""
    head, body = split_head(text)
    refuse_below(file, body, len(head))
    paragraphs: list[list[Line]] = [[]]
    directives: list[Directive] = []
    prose = list(head)
    for line in _joined(file, head):
        text = line.text.lstrip()
        if is_directive := text.startswith("@"):
            directives.append(_directive(line, directives))
            for number in range(line.number, line.number + 1 + line.text.count("\n")):
                prose[number - 1] = ""
        if not text:
            paragraphs.append([])
        elif not is_directive or directives[-1].word == "columns":
            paragraphs[-1].append(line)
    _refuse_in_prose(file, "\n".join(prose))
    summary, columns = [*filter(None, paragraphs), [], []][:2]
    for directive in directives:
        if directive.word == "columns" and directive.line not in columns:
            raise directive.error("stands outside the lines of columns; put it among them, below an empty line `--`")
    return Head(
        " ".join(" ".join(line.text for line in summary).split()),
        tuple(columns),
        tuple(directive for directive in directives if directive.word != "columns"),
        body.strip(),
    )


def split_head(text: str) -> tuple[list[str], str]:
    """Return the lines of the comment at the beginning of a file, without its signs, and what is below."""
    lines = text.splitlines()
    length = next((number for number, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return [line.removeprefix("--").removeprefix(" ") for line in lines[:length]], "\n".join(lines[length:])


def refuse_below(file: Path, sql: str, lines_above: int = 0) -> None:
    """Raise ValueError for a directive in a comment of SQL, where it says nothing."""
    for below in _BELOW.finditer(sql) if "@" in sql else ():
        if get_close_matches(below[1].lower(), FORMS, 1, 0.8):
            number = lines_above + sql.count("\n", 0, below.start(1)) + 1
            raise Line("", number, file).error(f"@{below[1]} is not in the head of a table; put it there, above the SELECT")


def _joined(file: Path, head: Sequence[str]) -> Iterator[Line]:
    """Yield the lines of a head, each with those that continue it: they begin with two blanks."""
    number = 0
    while number < len(head):
        end = number + 1
        while head[number] and end < len(head) and head[end].startswith("  ") and not head[end].lstrip().startswith("@"):
            end += 1
        yield Line("\n".join(head[number:end]), number + 1, file)
        number = end


def _directive(line: Line, before: Sequence[Directive]) -> Directive:
    match = re.fullmatch(r"@(\w+)(?:\s+(\S.*))?", " ".join(line.text.split()))
    word = match[1] if match else line.text.split()[0].removeprefix("@")
    if match is None or word not in FORMS:
        near = get_close_matches(word.lower(), FORMS, 1, 0.6)
        known = f"did you mean @{near[0]}?" if near else f"there are {', '.join(f'@{one}' for one in FORMS)}"
        raise line.error(f"there is no directive @{word}; {known}")
    if word in _ONCE and any(one.word == word for one in before):
        raise line.error(f"@{word} is given twice; make one line of both")
    return Directive(word, match[2] or "", line)


def _refuse_in_prose(file: Path, prose: str) -> None:
    """Raise ValueError for a directive inside prose, and for a sentence that was one."""

    def at(match: re.Match[str]) -> Line:
        return Line("", prose.count("\n", 0, match.start()) + 1, file)

    for match in re.finditer(r"(?<![`\w])@(\w+)", prose) if "@" in prose else ():
        if match[1] in FORMS:
            raise at(match).error(f"@{match[1]} is inside prose; begin a line of the head with it")
    # To search for each sentence in each head takes 0.1 s.
    in_one_line = prose.replace("\n", " ")
    for sentence, new in _OLD if any(sign in in_one_line for sign in _SIGNS_OF_OLD) else ():
        was = re.search(sentence.replace(" ", r"\s+"), prose)
        # Nothing but a rule ever required something.
        if was and ("requires" not in new or file.parent.name == "advice"):
            values = [re.sub(r",?\s+and\s+", ", ", re.sub(r",?\s+or\s+", " | ", value)) for value in was.groups()]
            said = " ".join(was[0].split())
            raise at(was).error(f"`{said}` is only prose; write `-- {new.format(*values)}` as a line of its own")
