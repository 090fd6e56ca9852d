"""The answer of `verify`: how many rows agree, table by table, which do not, and which differences are known."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from prof_analysis.analyses.answer import Answer, Block, Facts, ShownColumn, ShownTable, said
from prof_analysis.analyses.words import ShownFormat, several
from prof_analysis.profile.profile import Profile
from prof_analysis.verify.comparing import AGREES, DIFFERS, KNOWN, ONLY_HERE, ONLY_THERE, Difference
from prof_analysis.verify.verifying import Verified

_COUNTS = {"agree": AGREES, "known": KNOWN, "differ": DIFFERS, "only here": ONLY_HERE, "only there": ONLY_THERE}
_MISSING = {ONLY_HERE: ("is there", "missing"), ONLY_THERE: ("missing", "is there")}
_PAGE = "docs/differences.md"


def answer_of(profile: Profile, found: Verified, top: int) -> Answer:
    """Return the tables with the numbers of their rows, the first that differ, the known differences, and what is left out."""
    differing = [(one.pair.beside.table, row) for one in found.compared for row in one.differences if row.case is None]
    facts: Facts = {
        "msprof_analyze": found.version,
        "rows": {name.replace(" ", "_"): found.count(how) for name, how in _COUNTS.items()},
        "tables": _tables(found),
        "differences": [_fact(table, row) for table, row in differing[:top]],
        "known_differences": _cases(found),
        "without_output": [{"recipe": recipe, "reason": reason} for recipe, reason in found.without_rows.items()],
    }
    blocks: list[Block] = [_summary(facts["tables"]), said(_sentence(found))]
    if differing:
        blocks += [_listing(differing, top), said(f"{min(top, len(differing)):,} of {several(len(differing), 'such row')}")]
    if cases := facts["known_differences"]:
        shown = tuple((row["case"], row["rows"], row["table"]) for row in cases)
        blocks += [_shown({"known difference": "text", "rows": "count", "table": "text"}, shown), said(f"explained in {_PAGE}")]
    if lines := list(_left_out(found)):
        blocks.append(said(*lines))
    return Answer("verify", facts, tuple(blocks), tuple(profile.warnings), tuple(profile.failures))


def _tables(found: Verified) -> list[dict[str, Any]]:
    return [
        {
            "recipe": one.pair.beside.recipe,
            "table": one.pair.beside.table,
            "table_here": one.pair.table,
            **{name.replace(" ", "_"): one.count(how) for name, how in _COUNTS.items()},
            "columns": list(one.columns),
            "columns_only_there": list(one.only_there),
        }
        for one in found.compared
    ]


def _cases(found: Verified) -> list[dict[str, Any]]:
    counts = Counter((row.case, one.pair.beside.table) for one in found.compared for row in one.differences if row.case)
    return [{"case": case, "rows": count, "table": table} for (case, table), count in counts.most_common()]


def _fact(table: str, row: Difference) -> dict[str, Any]:
    values = [{"column": name, "here": here, "there": there} for name, (here, there) in row.values.items()]
    return {"table": table, "row": dict(row.names), "how": row.how, "values": values}


def _sentence(found: Verified) -> str:
    name = f"msprof-analyze {found.version}" if found.version else "msprof-analyze"
    agreeing, missing = found.count(AGREES), found.count(ONLY_HERE, ONLY_THERE)
    parts = [f"{several(agreeing, 'row')} agree{_s(agreeing)} with {name}"]
    parts += [_differing(found.count(KNOWN), "in a known way"), _differing(found.count(DIFFERS), "in another way")]
    return f"{', '.join(parts)}, {missing:,} {'is' if missing == 1 else 'are'} missing in one of both"


def _differing(number: int, how: str) -> str:
    return f"{number:,} differ{_s(number)} {how}"


def _s(number: int) -> str:
    return "s" * (number == 1)


def _summary(tables: list[dict[str, Any]]) -> ShownTable:
    columns: dict[str, ShownFormat] = {"table": "text", **dict.fromkeys(_COUNTS, "count")}
    rows = tuple((row["table"], *(row[name.replace(" ", "_")] for name in _COUNTS)) for row in tables)
    return _shown(columns, rows)


def _listing(differing: list[tuple[str, Difference]], top: int) -> ShownTable:
    """Return a line for each column of a row that differs, or for a row that one of both lacks."""
    lines: list[tuple[str | None, ...]] = []
    for table, row in differing[:top]:
        name = ", ".join("-" if value is None else value for value in row.names.values())
        if not row.values:
            lines.append((name, "", *_MISSING[row.how], table))
        for column, (here, there) in row.values.items():
            lines.append((name, column, here, there, table))
    columns: dict[str, ShownFormat] = dict.fromkeys(("row", "column", "here", "msprof-analyze", "table"), "text")
    return _shown(columns, tuple(lines))


def _shown(columns: dict[str, ShownFormat], rows: tuple[tuple[Any, ...], ...]) -> ShownTable:
    return ShownTable(tuple(ShownColumn(header, format_) for header, format_ in columns.items()), rows)


def _left_out(found: Verified) -> Iterator[str]:
    for one in found.compared:
        if one.only_there:
            yield f"{one.pair.beside.table}: no counterpart here: {', '.join(one.only_there)}"
    for recipe, reason in found.without_rows.items():
        yield f"{recipe}: not compared: {reason}"
