"""Reads the file of a table: its head, which documents the table and its columns, and its SELECT.

The folder of a table declares its grain (grains.py). Lines of the head that begin with @ are directives (heads.py):

@guard trace.copy                    where trace.copy has no rows, the table is empty, and what only it needs is not built
@guard several ranks                 the same for a table over ranks, where each run has one rank
@requires kernels, counters | memory a rule of advice is judged on ranks that recorded kernels, and counters or memory
@keep start_ns, end_ns               the cache keeps it for other questions, at least with these columns; `all`: with all
@columns a, c to f as in mfu.op      it has these columns of mfu.op, which documents them; tables over ranks have what users see
@made a.b with c.new for c.old       it has the body of a.b, in which c.new stands for c.old
@gathers advice                      it has the rows of all tables in this folder, also of users' own, that have its columns but
                                     the first, which has their names
@sum kernel_count, total_ns          these columns add up: each kernel, operator or ns is in one row
@unique gap by start_ns: they ...    an ASOF join finds one row of gap by these columns, and why, where no GROUP BY says so
@beside CannApiSum of cann_api_sum by name   this recipe of msprof-analyze writes this table; what names a row of both

and what only rules of advice say (rules.py).

Warnings about the figures of a table are in a file next to it: `sql/step/overlap_audit.warning.sql` is one SELECT on the table
as users see it, and each of its rows is a warning: `profile` (NULL for all ranks together), `severity` ('warning': figures are
missing or may be wrong; 'note': they are right, but say less than they could) and `sentence`.

Beside a table of verify/, `sql/verify/step.known.sql` is a SELECT that names the known case of rows of both that do not agree
(verify/comparing.py).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from prof_analysis.engine.directives import (
    SEVERAL_RANKS,
    Beside,
    beside_of,
    guard_of,
    kept_with,
    requires_of,
    sums_of,
    unique_of,
)
from prof_analysis.engine.grains import Grain, grain_of
from prof_analysis.engine.heads import A_HEAD, FORMS, Head, Line, read_head, refuse_below, split_head
from prof_analysis.engine.parsing import needs_and_order
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.rules import Threshold, counts_of, said_by, thresholds_of, yields_of
from prof_analysis.engine.sentences import Shown
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.units import Format, format_of, unit_of

TEXT_ID = "TEXT_ID"
WARNING = ".warning.sql"
KNOWN = ".known.sql"
_COLUMN = re.compile(r"(\w+) +((?:[A-Z_]+|(?:ENUM|STRUCT|DECIMAL)\([^)]*\))(?:\[\])?) +(.+)")
_INHERITED = re.compile(r"@columns (\w+(?: to \w+)?(?:, \w+(?: to \w+)?)*) as in (\w+\.\w+)")
_MADE = re.compile(r"(\w+\.\w+) with (\w+\.\w+) for (\w+\.\w+)")


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
    def shown(self) -> Shown:
        """How a sentence shows its values."""
        return "truth" if self.type == "BOOLEAN" else "size" if self.unit == "bytes" else self.format

    @property
    def format(self) -> Format:
        """The format in which people read its values."""
        return format_of(self.shown_name, self.shown_type, self.meaning)


@dataclass(frozen=True)
class Table:
    """A table: its name, its head, and the SELECT that makes it.

    `guard` is a table: where that has no rows, this one stays empty, and what only it needs is not built; the same holds for a
    table that compares ranks (`compares_ranks`) where there is one. `warning` is a SELECT
    on it that gives warnings about its figures, in the columns profile, severity and sentence. `is_kept`: the cache keeps it
    for other questions, with the columns `kept_with` in any case. `gathers`: its rows are those of all tables of its folder
    that have its columns but the first one, which has their names; or their thresholds, or which time they count. `requires`:
    what a rank must have recorded so that its rows can be judged: one of each of these. `sums` are the columns that add up.
    `unique` has what an ASOF join of the body finds one row of although no GROUP BY says so: its name and columns, and why.
    `beside` says which table of msprof-analyze has the same rows.

    Of a rule (rules.py): `said` is the SQL of what its head says of each row, by the column of a finding; which time its win
    `counts`; its `thresholds`; and to which rules it `yields`, each with the condition.
    """

    name: str
    summary: str
    columns: tuple[Column, ...]
    body: str
    guard: str | None = None
    compares_ranks: bool = False
    warning: str | None = None
    is_kept: bool = False
    kept_with: tuple[str, ...] = ()
    gathers: str = ""
    requires: tuple[tuple[str, ...], ...] = ()
    sums: tuple[str, ...] = ()
    unique: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    beside: Beside | None = None
    said: tuple[tuple[str, str], ...] = ()
    counts: str = ""
    thresholds: tuple[Threshold, ...] = ()
    yields: tuple[tuple[str, str], ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """The tables that its body reads."""
        return needs_and_order(self.body)[0]

    @property
    def read(self) -> frozenset[str]:
        """The tables that are read to make it: those that its body reads, and its guard."""
        return self.needs | {self.guard} if self.guard else self.needs

    @property
    def never_has_rows(self) -> bool:
        """Whether nothing gives it rows, as for a table of trace.* that its source does not make."""
        return not self.needs and self.body == empty_select(self.columns)

    def without_rows(self) -> "Table":
        """Return the same table with a body that gives no rows, for where it is known that it has none."""
        return replace(self, body=empty_select(self.columns), guard=None)

    @property
    def is_ordered(self) -> bool:
        """Whether its body orders the rows."""
        return needs_and_order(self.body)[1]

    @property
    def grain(self) -> Grain:
        """The grain that its folder declares."""
        return grain_of(self.name)


def read_table(file: Path) -> Table:
    """Read a table from its file. Raises ValueError for a head that cannot be read; it names the line."""
    # Of ours, many heads name columns of one that is read already.
    return _read_ours(file) if _is_ours(file) else _read(file)


def _is_ours(file: Path) -> bool:
    return file.parents[1] == sql_folder()


@cache
def _read_ours(file: Path) -> Table:
    return _read(file)


def _read(file: Path) -> Table:
    head = read_head(file, file.read_text(encoding="utf-8-sig"))  # Some editors put a mark in front.
    columns = tuple(column for line in head.columns for column in _columns(line))
    warning = file.with_suffix(WARNING)
    table = Table(
        f"{file.parent.name}.{file.stem}",
        head.summary,
        columns,
        head.body,
        warning=_warning(warning) if warning.exists() else None,
    )
    if not head.directives:
        return table
    kept = head.one("keep")
    guard = guard_of(one) if (one := head.one("guard")) else None
    formats = {column.name: column.shown for column in columns}
    return replace(
        table,
        body=_body(head),
        guard=None if guard == SEVERAL_RANKS else guard,
        compares_ranks=guard == SEVERAL_RANKS,
        is_kept=kept is not None,
        kept_with=kept_with(kept, [column.name for column in columns]) if kept else (),
        gathers=gathers.value if (gathers := head.one("gathers")) else "",
        requires=requires_of(requires) if (requires := head.one("requires")) else (),
        sums=sums_of(summed, {one.shown_name: one.shown_type for one in columns}) if (summed := head.one("sum")) else (),
        unique=tuple(unique_of(unique, head.body) for unique in head.all("unique")),
        beside=beside_of(beside, formats) if (beside := head.one("beside")) else None,
        said=said_by(table.name, head, formats, _is_ours(file)),
        counts=counts_of(head),
        thresholds=thresholds_of(head),
        yields=tuple(yields_of(head, formats)),
    )


def _columns(line: Line) -> Sequence[Column]:
    """Return the columns that a line of a head documents."""
    text = re.sub(r"\n\s+", " ", line.text)
    if match := _COLUMN.fullmatch(text):
        return [Column(*match.groups())]
    if not text.startswith("@"):
        meant = f"write `-- @columns {text}`" if _INHERITED.fullmatch(f"@columns {text}") else A_HEAD
        raise line.error(f"documents no column: {text}; {meant}")
    if match := _INHERITED.fullmatch(text):
        return _inherited(line, *match.groups())
    raise line.error(f"write `-- {FORMS['columns']}`")


def _inherited(line: Line, parts: str, table: str) -> Sequence[Column]:
    """Return the named columns of another table, also those from one to another one, as the table of the line sees them."""
    other = line.file_of(table)
    columns = read_table(other).columns
    if grain_of(line.file.parent.name) in ("job", "runs") and grain_of(other.parent.name) not in ("job", "runs"):
        columns = tuple(Column(column.shown_name, column.shown_type, column.meaning) for column in columns)
    names = [column.name for column in columns]
    found: list[Column] = []
    for part in parts.split(", "):
        first, _, last = part.partition(" to ")
        if first not in names or (last and last not in names[names.index(first) + 1 :]):
            raise line.error(
                f"the head inherits {part} of {table}, which does not have these columns in this order; "
                f"`prof-analysis tables {table}` shows them"
            )
        found += columns[names.index(first) : names.index(last or first) + 1]
    return found


def _body(head: Head) -> str:
    """Return the SELECT of a table; nothing for one that gathers others, whose body is made when all tables are known."""
    if (directive := head.one("made") or head.one("gathers")) is None:
        return head.body
    if head.body:
        raise directive.error("gives the table its rows, but below the head is a SELECT; leave one of them out")
    if directive.word == "gathers":
        if directive.value.rpartition(" of ")[0] not in ("", "thresholds", "counts"):
            raise directive.is_written_otherwise
        if directive.value.rpartition(" of ")[2] != (folder := directive.line.file.parent.name):
            raise directive.error(f"a table gathers those of its own folder; write `-- @gathers {folder}`")
        return ""
    if not (match := _MADE.fullmatch(directive.value)):
        raise directive.is_written_otherwise
    name, new, old = match.groups()
    made_as, _, _ = (directive.line.file_of(table) for table in (name, new, old))
    body = split_head(made_as.read_text(encoding="utf-8-sig"))[1].strip()
    made, count = re.subn(
        rf"\b{re.escape(old)}\b(\s+AS\b)?", lambda found: new + (found[1] or f" AS {old.partition('.')[2]}"), body
    )
    if not count:
        raise directive.error(f"{name} does not read {old}; `sql/{name.replace('.', '/')}.sql` shows what it reads")
    return made


def _warning(file: Path) -> str:
    text = file.read_text(encoding="utf-8-sig")
    refuse_below(file, text)
    return split_head(text)[1].strip()


def empty_select(columns: Iterable[Column]) -> str:
    """Return the query that gives these columns and no row."""
    return "SELECT " + ", ".join(f"NULL::{c.stored_type} AS {quote(c.name)}" for c in columns) + " WHERE false"
