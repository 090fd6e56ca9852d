"""Reads the file of a table: its head, which documents the table and its columns, and its SELECT.

The folder of a table declares its grain (`_GRAINS`): one rank, the ranks of a run, all runs, or logs.

Lines of the head that begin with @ are directives (heads.py):

@guard trace.copy                    where trace.copy has no rows, the table is empty, and what only it needs is not built
@requires kernels, counters | memory a rule of advice is judged on ranks that recorded kernels, and counters or memory
@keep start_ns, end_ns               the cache keeps it for other questions, at least with these columns; `all`: with all
@columns flops to mfu as in mfu.op   it has these columns of mfu.op, which documents them; tables over ranks have what users see
@made a.b with c.new for c.old       it has the body of a.b, in which c.new stands for c.old
@gathers advice                      it has the rows of all tables in this folder, also of users' own, that have its columns but
                                     the first, which has their names
@sum kernel_count, total_ns          these columns add up: each kernel, operator or ns is in one row
@unique gap by start_ns: they ...    an ASOF join finds one row of gap by these columns, and why, where no GROUP BY says so

Warnings about the figures of a table are in a file next to it: `sql/step/overlap_audit.warning.sql` is one SELECT on the table
as users see it, and each of its rows is a warning: `profile` (NULL for all ranks together), `severity` ('warning': figures are
missing or may be wrong; 'note': they are right, but say less than they could) and `sentence`.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from prof_analysis.common.capabilities import CAPABILITIES
from prof_analysis.engine.heads import FORMS, Directive, Head, Line, read_head, refuse_below, split_head
from prof_analysis.engine.parsing import needs_and_order
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.units import Format, format_of, unit_of

TEXT_ID = "TEXT_ID"
WARNING = ".warning.sql"
# What a table is about: one rank, the ranks of one run, all runs, or logs.
Grain = Literal["rank", "job", "runs", "log"]
# The folders whose tables are not about one rank.
_GRAINS: Mapping[str, Grain] = {"across": "job", "advice": "job", "runs": "runs", "vllm": "log"}
_COLUMN = re.compile(r"(\w+) +((?:[A-Z_]+|(?:ENUM|STRUCT)\([^)]*\))(?:\[\])?) +(.+)")
_INHERITED = re.compile(r"@columns (\w+) to (\w+) as in (\w+\.\w+)")
_MADE = re.compile(r"(\w+\.\w+) with (\w+\.\w+) for (\w+\.\w+)")
_UNIQUE = re.compile(r"(\w+) by (\w+(?:, \w+)*): (\S.*)")
_NUMBERS = {"BIGINT", "UBIGINT", "HUGEINT", "INTEGER", "DOUBLE"}


@dataclass(frozen=True)
class Column:
    """A documented column. A TEXT_ID is a BIGINT inside the engine; users see a text, and its name without `_id`."""

    name: str
    type: str
    meaning: str

    @property
    def stored_type(self) -> str:
        """The type inside the engine."""
        return "BIGINT" if self.type == TEXT_ID else self.type

    @property
    def shown_name(self) -> str:
        """The name that users see."""
        return self.name.removesuffix("_id") if self.type == TEXT_ID else self.name

    @property
    def shown_type(self) -> str:
        """The type that users see."""
        return "VARCHAR" if self.type == TEXT_ID else self.type

    @property
    def unit(self) -> str | None:
        """The unit of its values; None for texts and plain numbers."""
        return unit_of(self.shown_name)

    @property
    def format(self) -> Format:
        """The format in which people read its values."""
        return format_of(self.shown_name, self.shown_type, self.meaning)


@dataclass(frozen=True)
class Table:
    """A table: its name, its head, and the SELECT that makes it.

    `guard` is a table: where that has no rows, this one stays empty, and what only it needs is not built. `warning` is a SELECT
    on it that gives warnings about its figures, in the columns profile, severity and sentence. `is_kept`: the cache keeps it
    for other questions, with the columns `kept_with` in any case. `gathers`: its rows are those of all tables of its folder
    that have its columns but the first one, which has their names. `requires`: what a rank must have recorded so that its rows
    can be judged: one of each of these. `sums` are the columns that add up. `unique` has what an ASOF join of the body finds
    one row of although no GROUP BY says so: its name and columns, and the reason.
    """

    name: str
    summary: str
    columns: tuple[Column, ...]
    body: str
    guard: str | None = None
    warning: str | None = None
    is_kept: bool = False
    kept_with: tuple[str, ...] = ()
    gathers: bool = False
    requires: tuple[tuple[str, ...], ...] = ()
    sums: tuple[str, ...] = ()
    unique: tuple[tuple[str, tuple[str, ...], str], ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """The tables that its body reads."""
        return needs_and_order(self.body)[0]

    @property
    def read(self) -> frozenset[str]:
        """The tables that are read to make it: those that its body reads, and its guard."""
        return self.needs | {self.guard} if self.guard else self.needs

    @property
    def is_ordered(self) -> bool:
        """Whether its body orders the rows."""
        return needs_and_order(self.body)[1]

    @property
    def grain(self) -> Grain:
        """The grain that its folder declares."""
        return _grain(self.name.partition(".")[0])


def read_table(file: Path) -> Table:
    """Read a table from its file. Raises ValueError for a head that cannot be read; it names the line."""
    head = read_head(file, file.read_text(encoding="utf-8-sig"))  # Some editors put a mark in front.
    columns = [column for line in head.columns for column in _columns(line)]
    beside = file.with_suffix(WARNING)
    kept = head.one("keep")
    return Table(
        name=f"{file.parent.name}.{file.stem}",
        summary=head.summary,
        columns=tuple(columns),
        body=_body(head),
        guard=_guard(guard) if (guard := head.one("guard")) else None,
        warning=_warning(beside) if beside.exists() else None,
        is_kept=kept is not None,
        kept_with=_kept_with(kept, columns) if kept else (),
        gathers=head.one("gathers") is not None,
        requires=_requires(requires) if (requires := head.one("requires")) else (),
        sums=_sums(summed, columns) if (summed := head.one("sum")) else (),
        unique=tuple(_unique(unique, head.body) for unique in head.all("unique")),
    )


def _columns(line: Line) -> Sequence[Column]:
    """Return the columns that a line of a head documents."""
    text = re.sub(r"\n\s+", " ", line.text)
    if match := _COLUMN.fullmatch(text):
        return [Column(*match.groups())]
    if not text.startswith("@"):
        meant = f"; write `-- @columns {text}`" if _INHERITED.fullmatch(f"@columns {text}") else ""
        raise line.error(f"documents no column: {text}{meant}")
    if match := _INHERITED.fullmatch(text):
        return _inherited(line, *match.groups())
    raise line.error(f"write `-- {FORMS['columns']}`")


def _inherited(line: Line, first: str, last: str, table: str) -> Sequence[Column]:
    """Return the columns from the first to the last named one of another table, as the table of the line sees them."""
    other = _file_of(line, table)
    columns = read_table(other).columns
    if _grain(line.file.parent.name) in ("job", "runs") and _grain(other.parent.name) not in ("job", "runs"):
        columns = tuple(Column(column.shown_name, column.shown_type, column.meaning) for column in columns)
    names = [column.name for column in columns]
    if first not in names or last not in names[names.index(first) + 1 :]:
        raise line.error(
            f"the head inherits {first} to {last} of {table}, which does not have these columns in this order; "
            f"`prof-analysis tables {table}` shows them"
        )
    return columns[names.index(first) : names.index(last) + 1]


def _file_of(line: Line, table: str) -> Path:
    """Return the file of a table that a line names: in the same folder of tables, or in ours. Raises ValueError for none."""
    schema, _, name = table.partition(".")
    beside = line.file.parents[1] / schema / f"{name}.sql"
    if beside.exists():
        return beside
    if (ours := sql_folder() / schema / f"{name}.sql").exists():
        return ours
    raise line.error(f"there is no table {table}; `prof-analysis tables` lists all")


def _body(head: Head) -> str:
    """Return the SELECT of a table; nothing for one that gathers others, whose body is made when all tables are known."""
    if (directive := head.one("made") or head.one("gathers")) is None:
        return head.body
    if head.body:
        raise directive.error("gives the table its rows, but below the head is a SELECT; leave one of them out")
    if directive.word == "gathers":
        if directive.value != (folder := directive.line.file.parent.name):
            raise directive.error(f"a table gathers those of its own folder; write `-- @gathers {folder}`")
        return ""
    if not (match := _MADE.fullmatch(directive.value)):
        raise directive.is_written_otherwise
    name, new, old = match.groups()
    made_as, _, _ = (_file_of(directive.line, table) for table in (name, new, old))
    body = split_head(made_as.read_text(encoding="utf-8-sig"))[1].strip()
    made, count = re.subn(
        rf"\b{re.escape(old)}\b(\s+AS\b)?", lambda found: new + (found[1] or f" AS {old.partition('.')[2]}"), body
    )
    if not count:
        raise directive.error(f"{name} does not read {old}; `sql/{name.replace('.', '/')}.sql` shows what it reads")
    return made


def _guard(directive: Directive) -> str:
    if not re.fullmatch(r"\w+\.\w+", directive.value):
        raise directive.is_written_otherwise
    _file_of(directive.line, directive.value)
    if _grain(directive.line.file.parent.name) != "rank" or _grain(directive.value.partition(".")[0]) != "rank":
        raise directive.error("only a table of each rank has a guard, and it must be a table of each rank; leave it out")
    return directive.value


def _requires(directive: Directive) -> tuple[tuple[str, ...], ...]:
    if directive.line.file.parent.name != "advice":
        raise directive.error("only a rule, a table in advice/, requires something; leave it out")
    requires = tuple(tuple(name.strip() for name in one.split("|")) for one in directive.value.split(","))
    for name in itertools.chain(*requires):
        if not re.fullmatch(r"\w+", name):
            raise directive.is_written_otherwise
        if name not in CAPABILITIES:
            raise directive.error(f"there is no capability {name}; there are {', '.join(CAPABILITIES)}")
    return requires


def _kept_with(directive: Directive, columns: Sequence[Column]) -> tuple[str, ...]:
    if _grain(directive.line.file.parent.name) != "rank":
        raise directive.error("only a table of each rank is kept for other questions; leave it out")
    if directive.value in ("", "all"):
        return tuple(column.name for column in columns) if directive.value else ()
    return _documented(directive, {column.name: column for column in columns})


def _sums(directive: Directive, columns: Sequence[Column]) -> tuple[str, ...]:
    by_name = {column.shown_name: column for column in columns}
    names = _documented(directive, by_name)
    if texts := [name for name in names if by_name[name].shown_type not in _NUMBERS]:
        raise directive.error(f"{texts[0]} is {by_name[texts[0]].shown_type}, which does not add up; leave it out")
    return names


def _documented(directive: Directive, columns: Mapping[str, Column]) -> tuple[str, ...]:
    """Return the names that a directive lists. Raises ValueError for one of no column of the head."""
    if unknown := [name for name in directive.names if name not in columns]:
        raise directive.error(f"the head documents no column {unknown[0]}; name one that it documents")
    return directive.names


def _unique(directive: Directive, body: str) -> tuple[str, tuple[str, ...], str]:
    if not (match := _UNIQUE.fullmatch(directive.value)):
        raise directive.is_written_otherwise
    name, columns, reason = match.groups()
    if "ASOF" not in body or not re.search(rf"\b{name}\b", body):
        raise directive.error(f"no ASOF join of the SELECT finds rows of {name}; leave it out, or name what one finds")
    return name, tuple(sorted(columns.split(", "))), reason


def _warning(file: Path) -> str:
    text = file.read_text(encoding="utf-8-sig")
    refuse_below(file, text)
    return split_head(text)[1].strip()


def _grain(schema: str) -> Grain:
    return _GRAINS.get(schema, "rank")


def empty_select(columns: Iterable[Column]) -> str:
    """Return the query that gives these columns and no row."""
    return "SELECT " + ", ".join(f"NULL::{c.stored_type} AS {quote(c.name)}" for c in columns) + " WHERE false"
