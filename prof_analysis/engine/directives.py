"""Reads the values of directives that any table may have. Each raises ValueError, which names the line, for a wrong one."""

import itertools
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from prof_analysis.common.capabilities import CAPABILITIES
from prof_analysis.engine.grains import grain_of
from prof_analysis.engine.heads import Directive

_BESIDE = re.compile(r"(\w+) of (\w+) by (\w+(?:, \w+)*)")
_UNIQUE = re.compile(r"(\w+) by (\w+(?:, \w+)*): (\S.*)")
_NUMBERS = {"BIGINT", "UBIGINT", "HUGEINT", "INTEGER", "DOUBLE"}


SEVERAL_RANKS = "several ranks"


@dataclass(frozen=True)
class Beside:
    """The table of msprof-analyze with the rows of one of ours: its name, the recipe that writes it, and what names a row."""

    table: str
    recipe: str
    keys: tuple[str, ...]


def guard_of(directive: Directive) -> str:
    """Return the table that guards one, or SEVERAL_RANKS where one compares ranks."""
    if directive.value == SEVERAL_RANKS:
        if grain_of(directive.line.file.parent.name) != "job":
            raise directive.error("only a table over the ranks of a run compares them; name a table")
        return SEVERAL_RANKS
    if not re.fullmatch(r"\w+\.\w+", directive.value):
        raise directive.is_written_otherwise
    directive.line.file_of(directive.value)
    if grain_of(directive.line.file.parent.name) not in ("rank", "job") or grain_of(directive.value) != "rank":
        raise directive.error(
            "only a table of each rank guards, and only one of each rank or over the ranks of a run; leave it out, or write "
            f"`-- @guard {SEVERAL_RANKS}` for a table over ranks"
        )
    return directive.value


def requires_of(directive: Directive) -> tuple[tuple[str, ...], ...]:
    """Return the capabilities that a rank must have: one of each tuple."""
    if directive.line.file.parent.name != "advice":
        raise directive.error("only a rule, a table in advice/, requires something; leave it out")
    requires = tuple(tuple(name.strip() for name in one.split("|")) for one in directive.value.split(","))
    meant = re.sub(r",? and ", ", ", re.sub(r",? or ", " | ", directive.value))
    for name in itertools.chain(*requires):
        if meant != directive.value:
            raise directive.error(f"write `-- @requires {meant}`")
        if not re.fullmatch(r"\w+", name):
            raise directive.is_written_otherwise
        if name not in CAPABILITIES:
            raise directive.error(f"there is no capability {name}; there are {', '.join(CAPABILITIES)}")
    return requires


def kept_with(directive: Directive, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns with which the cache keeps a table in any case."""
    if grain_of(directive.line.file.parent.name) != "rank":
        raise directive.error("only a table of each rank is kept for other questions; leave it out")
    if directive.value in ("", "all"):
        return tuple(columns) if directive.value else ()
    return _documented(directive, columns)


def sums_of(directive: Directive, types: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that add up; `types` has the type of each column."""
    names = _documented(directive, types)
    if texts := [name for name in names if types[name] not in _NUMBERS]:
        raise directive.error(f"{texts[0]} is {types[texts[0]]}, which does not add up; leave it out")
    return names


def unique_of(directive: Directive, body: str) -> tuple[str, tuple[str, ...], str]:
    """Return the table that an ASOF join finds one row of: its name, its columns, and the reason."""
    if not (match := _UNIQUE.fullmatch(directive.value)):
        raise directive.is_written_otherwise
    name, columns, reason = match.groups()
    if "ASOF" not in body or not re.search(rf"\b{name}\b", body):
        raise directive.error(f"no ASOF join of the SELECT finds rows of {name}; leave it out, or name what one finds")
    return name, tuple(sorted(columns.split(", "))), reason


def beside_of(directive: Directive, columns: Container[str]) -> Beside:
    """Return the table of msprof-analyze that a directive names."""
    if directive.line.file.parent.name != "verify":
        raise directive.error("only a table in verify/ is compared with one of msprof-analyze; leave it out")
    if not (match := _BESIDE.fullmatch(directive.value)):
        raise directive.is_written_otherwise
    table, recipe, keys = match.groups()
    return Beside(table, recipe, _known(directive, tuple(keys.split(", ")), columns))


def _documented(directive: Directive, columns: Container[str]) -> tuple[str, ...]:
    """Return the names that a directive lists. Raises ValueError for one of no column of the head."""
    return _known(directive, directive.names, columns)


def _known(directive: Directive, names: tuple[str, ...], columns: Container[str]) -> tuple[str, ...]:
    if unknown := [name for name in names if name not in columns]:
        raise directive.error(f"the head documents no column {unknown[0]}; name one that it documents")
    return names
