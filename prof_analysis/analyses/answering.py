"""Answers the questions of analyses: facts, tables whose columns have formats, and sentences, however they are shown."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from prof_analysis.analyses import ANALYSES, answers, schema
from prof_analysis.analyses.answer import Answer, Block, Facts, heaviest_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import several
from prof_analysis.common.option_docs import Doc
from prof_analysis.engine.units import without_unit

if TYPE_CHECKING:
    from prof_analysis.engine.table_file import Column


def _file_of(command: str) -> Any:
    """Return the file of an analysis."""
    return import_module(f"{answers.__name__}.{ANALYSES[command].name}")


def options_of(command: str) -> Mapping[str, tuple[Any, Doc]]:
    """Return the options that the function of an analysis takes beyond the number of rows and what a row is.

    Each with its type and its documentation, or that of the option of a profile that has its name.
    """
    taken = get_type_hints(getattr(_file_of(command), ANALYSES[command].name), include_extras=True)
    hints = {name: hint for name, hint in taken.items() if name not in ("profile", "top", "by", "return")}
    return {name: get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, Doc("")) for name, hint in hints.items()}


def schema_of(command: str) -> schema.Schema:
    """Return the schema of `summary` in the output of an analysis with --json, whatever a row is."""
    listed = {by: rows for by, rows in ANALYSES[command].rows.items() if rows.is_listed}
    of_listed = [
        schema.answer(
            level={"const": by, "description": "what a row is, as --by has it"},
            rows_shown=schema.rows("rows of the table", rows.over_ranks or rows.table),
        )
        for by, rows in listed.items()
    ]
    own: schema.Schema = dict(ANALYSES[command].keys())
    return {"anyOf": [*own.get("anyOf", [own]), *of_listed]} if of_listed else own


def answer_of(profile: Tables, command: str, top: int, by: str | None = None, **shown: Any) -> Answer:
    """Return the answer of a command about a profile, with at most `top` rows of each list.

    `by` is what a row is, by default what is usual; `shown` has further options. Where it finds nothing, people read that in
    place of tables without rows.
    """
    analysis = ANALYSES[command]
    if by is not None and analysis.rows[by].is_listed:
        facts, blocks = _listed(profile, command, top, by)
    else:
        function = getattr(_file_of(command), analysis.name)
        facts, blocks = function(profile, top, **({} if by is None or len(analysis.rows) < 2 else {"by": by}), **shown)
    if not profile.has_answer(command):
        blocks = [said(f"none found: {profile.said_of_nothing(command)}")]
    return Answer(command, facts, tuple(blocks), tuple(profile.warnings), tuple(profile.failures))


def answer_over_runs(profile: Tables, command: str) -> Answer | None:
    """Return what a command says of several runs together; None where it says nothing of them, or where there is one."""
    if not profile.runs or ANALYSES[command].over_runs is None:
        return None
    facts, blocks = _file_of(command).over_runs(profile)
    return Answer(command, facts, tuple(blocks), tuple(profile.warnings), tuple(profile.failures))


def _listed(profile: Tables, command: str, top: int, by: str) -> tuple[Facts, list[Block]]:
    """Return the first rows of the table of a choice, with the columns that its head documents."""
    from prof_analysis.engine.tables import documented_tables

    chosen = ANALYSES[command].rows[by]
    table = chosen.over_ranks or chosen.table
    rows = heaviest_of(profile, table, top)
    documented = documented_tables()[chosen.table]
    names_ranks = documented.grain == "rank" or any(column.shown_name == "profile" for column in documented.columns)
    of_ranks = chosen.table if names_ranks else ANALYSES[command].counted_table
    facts: Facts = {**size_of(profile, table, of_ranks), "level": by, "rows_shown": rows}
    columns = _headings(documented_tables()[table].columns)
    line = f"{several(facts['rows'], 'row')} of {table}, of {several(facts['ranks'], 'rank')}"
    if rows:
        return facts, [table_of(table, rows, columns), said(line)]
    is_alone = documented_tables()[table].compares_ranks and len(profile.rank_rows()) == 1
    reason = f"--by {by} compares ranks, and only one is here" if is_alone else f"no rows of {table}"
    return facts, [said(f"none found: {reason}")]


def _headings(columns: "Iterable[Column]") -> dict[str, str]:
    """Return columns by their headings: their names, but without the unit of times, which are shown in the unit that fits."""
    found: dict[str, str] = {}
    for one in columns:
        is_time = one.format in ("time", "change")
        heading = (without_unit(one.shown_name) if is_time else one.shown_name).replace("_", " ")
        found[one.shown_name.replace("_", " ") if heading in found else heading] = one.shown_name
    return found
