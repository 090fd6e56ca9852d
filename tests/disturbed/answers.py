"""The answers of a profile in a form in which two of them can be compared: without what only locates a row."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from prof_analysis import InputError, ProfAnalysisError, ProfAnalysisWarning, Profile, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import documented_tables
from prof_analysis.profile.asking import ask
from tests.helpers.asking import IDS

# The names of collectives of HCCL end in a number that counts from the beginning of the process, and a number of the group.
ORDINAL = re.compile(r"(hcom_\w+?__\d+)_\d+_")
# When it was recorded, as sentences say it.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
THREAD = "process id * 2^32"
Row = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Answers:
    """What a profile answers: the rows of each table, what it refuses and why, and its warnings."""

    rows: Mapping[str, Counter[Row]]
    refused: Mapping[str, str]
    warnings: frozenset[str]

    @property
    def columns(self) -> dict[tuple[str, str], Counter[Any]]:
        """The known values of each column of each table."""
        values: dict[tuple[str, str], Counter[Any]] = {}
        for table, rows in self.rows.items():
            for row, count in rows.items():
                for column, value in row:
                    values.setdefault((table, column), Counter())[value] += count if value is not None else 0
        return values


def answers_of(path: Path, names: Mapping[str, str] | None = None, questions: Iterable[str] = ANALYSES) -> Answers:
    """Ask a profile all questions. `names` has what stands in texts of it, each with what shall stand there."""
    rows: dict[str, Counter[Row]] = {}
    refused: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        try:
            profile = open_profile(path)
        except ProfAnalysisError as error:
            return Answers({}, dict.fromkeys(questions, _named(str(error), names or {})), frozenset())
        with profile:
            asked = list(_asked(profile, questions, refused, names or {}))
            for table in asked:
                rows[table.name] = Counter(_row(table, row, names or {}) for row in profile.rows(f"FROM {table.name}"))
            # A warning may name a file by its path, and copies lie elsewhere.
            folder = str(path.resolve())
            said = frozenset(_named(one.replace(folder, path.name), names or {}) for one in profile.warnings)
    return Answers(rows, refused, said)


def _asked(profile: Profile, questions: Iterable[str], refused: dict[str, str], names: Mapping[str, str]) -> Iterator[Table]:
    documented = documented_tables()
    wanted: dict[str, None] = {}
    for question in questions:
        analysis = ANALYSES[question]
        try:
            ask(profile._session, analysis)
        except InputError as error:
            refused[question] = _named(str(error), names)
        else:
            wanted |= dict.fromkeys((*analysis.exports, *analysis.of_several_ranks))
    profile.rows(f"SELECT 1 FROM {', '.join(wanted)} LIMIT 0" if wanted else "SELECT 1")
    yield from (documented[name] for name in wanted)


def _row(table: Table, row: Mapping[str, Any], names: Mapping[str, str]) -> Row:
    located = {
        column.shown_name
        for column in table.columns
        if "Unix ns" in column.meaning or THREAD in column.meaning or column.name in {*IDS, "next_id"}
    }
    return tuple((column, _value(value, names)) for column, value in row.items() if column not in located)


def _value(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _named(value, names)
    if isinstance(value, float | Decimal):
        return float(f"{value:.9g}")
    if isinstance(value, list):
        return tuple(_value(one, names) for one in value)
    if isinstance(value, dict):
        return tuple((key, _value(one, names)) for key, one in value.items())
    return value


def _named(text: str, names: Mapping[str, str]) -> str:
    for name, shown in names.items():
        text = text.replace(name, shown)
    return MOMENT.sub("(a moment)", ORDINAL.sub(r"\1_#_", text))


# A rank in its group is called by its place there, whatever its number is.
_NUMBERS_OF_RANKS = ("rank_id", "source_global_rank", "destination_global_rank")


def of_ranks(answers: Answers) -> Answers:
    """Return what is said of single ranks, without their numbers."""
    documented = documented_tables()
    rows = {
        table: Counter(
            {tuple(cell for cell in row if cell[0] not in _NUMBERS_OF_RANKS): count for row, count in of_table.items()}
        )
        for table, of_table in answers.rows.items()
        if documented[table].grain == "rank"
    }
    return Answers(rows, answers.refused, frozenset())


def differences(before: Answers, after: Answers) -> list[str]:
    """Say what is not equal in two answers: tables with the rows that only one of them has, refusals and warnings."""
    found = [
        f"refused only {when}: {name}"
        for when, one, other in _sides(before, after)
        for name in one.refused
        if name not in other.refused
    ]
    for table in before.rows.keys() & after.rows.keys():
        for when, one, other in _sides(before, after):
            only = one.rows[table] - other.rows[table]
            found += [f"{table} only {when}, {only.total()} rows: {dict(row)}" for row in list(only)[:2]]
    for when, one, other in _sides(before, after):
        found += [f"warned only {when}: {warning}" for warning in one.warnings - other.warnings]
    return found


def silent_changes(before: Answers, after: Answers) -> list[str]:
    """Say which figures stand in what is left of a profile that were not in the whole of it, where no warning is new.

    A warning counts if it has a figure: the rows, the time or the ranks that are missing. A row with a reason of its own says
    what it lacks, and so does a table in which a name that told its rows apart is unknown now. Files in which the profiler says
    the same differ by its rounding.
    """
    if any(re.search(r"\d", warning) for warning in after.warnings - before.warnings):
        return []
    known, unsaid = before.columns, _without_reasons(before, after).columns
    nameless = {table for table, column in known if _is_name(known[table, column]) and not unsaid.get((table, column))}
    found = []
    for (table, column), values in unsaid.items():
        before_it = known.get((table, column), Counter())
        new = Counter({value: count for value, count in (values - before_it).items() if not _is_rounding(value, before_it)})
        if table in before.rows and table not in nameless and new:
            found.append(f"{table}.{column}: {dict(list(new.items())[:3])}")
    return found


def _without_reasons(before: Answers, after: Answers) -> Answers:
    """Leave out the rows whose reason is new."""

    def reason(row: Row) -> Any:
        return dict(row).get("reason")

    known = {table: {reason(row) for row in rows} | {None} for table, rows in before.rows.items()}
    rows = {
        table: Counter({row: count for row, count in rows.items() if reason(row) in known.get(table, {None})})
        for table, rows in after.rows.items()
    }
    return Answers(rows, after.refused, after.warnings)


def _is_rounding(value: Any, values: Counter[Any]) -> bool:
    return isinstance(value, int | float) and any(
        isinstance(one, int | float) and one and abs(value - one) <= abs(one) / 1000 for one in values
    )


def _is_name(values: Counter[Any]) -> bool:
    return any(isinstance(value, str) for value in values)


def _sides(before: Answers, after: Answers) -> tuple[tuple[str, Answers, Answers], ...]:
    return ("before", before, after), ("after", after, before)
