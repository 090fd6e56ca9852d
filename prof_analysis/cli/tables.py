"""The command `tables`: it lists tables, finds those that words are about, and documents the columns of one."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prof_analysis.cli.help import LOOK_UP, Command
from prof_analysis.cli.options import AllowFiles, AsJson, ScreenOptions, SqlFolder, takes_options
from prof_analysis.cli.screen import USAGE_OR_INPUT_ERROR, exit_on_error, fail, print_json

if TYPE_CHECKING:
    from prof_analysis.engine.table_file import Column, Table

app = typer.Typer()


def names_of_tables(incomplete: str) -> list[str]:
    """Return the names of tables that begin like this, for the completion of the shell."""
    from prof_analysis.engine.schemas import schemas
    from prof_analysis.engine.statements import sql_folder

    names = (
        f"{file.parent.name}.{file.stem}" for schema in schemas() for file in sorted((sql_folder() / schema).glob("*.sql"))
    )
    return [name for name in names if name.startswith(incomplete) and "." not in name.partition(".")[2]]


@app.command("tables", cls=Command, rich_help_panel=LOOK_UP)
@takes_options
def tables(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD",
            help="A table, to see its columns; a folder, such as trace; or words that its name, meaning or columns must have.",
            autocompletion=names_of_tables,
            show_default=False,
        ),
    ] = None,
    sql_folder: SqlFolder = None,
    allow_files: AllowFiles = False,
    as_json: AsJson = False,
) -> None:
    """Which tables and columns are there?

    Lists the tables that `sql`, `table` and Profile.sql() know. Needs no profile.
    """
    from prof_analysis.cli import shown_tables as summary
    from prof_analysis.engine.own_tables import read_own_tables
    from prof_analysis.engine.tables import all_tables

    with exit_on_error(ScreenOptions(as_json)):
        own = () if sql_folder is None else read_own_tables(sql_folder, allow_files)
    found: dict[str, Sequence[Column]]
    known = {table.name: table for table in sorted(all_tables(own).values(), key=_place)}
    asked = [word.lower() for word in words or []]
    if asked and all(word in known for word in asked):
        found = {word: known[word].columns for word in asked}
        show = summary.print_columns
    elif listed := [name for name in known if not asked or asked == [name.partition(".")[0]]]:
        found = {name: known[name].columns for name in listed}
        show = summary.print_list
    else:
        found = {name: columns for name, table in known.items() if (columns := matching(table, asked)) is not None}
        show = summary.print_found
    if not found:
        fail(_why_none(words or (), known), USAGE_OR_INPUT_ERROR, as_json)
    if as_json:
        print_json(status="done", tables=[_in_json(known[name], columns) for name, columns in found.items()])
    else:
        show([(known[name], columns) for name, columns in found.items()])


def _why_none(words: Sequence[str], known: "Iterable[str]") -> str:
    from prof_analysis.engine.tables import unknown_table

    if path := next((word for word in words if Path(word).exists()), None):
        said = "is a folder or file, not a table or a word; the tables are the same for every profile"
        return f"{path}: {said}: `prof-analysis tables` lists them, and `prof-analysis ranks {path}` says what this one has"
    return unknown_table(words[0], known) if len(words) == 1 else f"no table has all the words {', '.join(words).lower()}"


def matching(table: "Table", words: Sequence[str]) -> "Sequence[Column] | None":
    """Return the columns that have those words that the table's name and summary lack; None where a word is nowhere."""
    missing = [word for word in words if word not in f"{table.name} {table.summary}".lower()]
    about = {column: f"{column.shown_name} {column.meaning}".lower() for column in table.columns}
    if not all(any(word in text for text in about.values()) for word in missing):
        return None
    return [column for column, text in about.items() if any(word in text for word in missing)]


def _in_json(table: "Table", columns: "Iterable[Column]") -> dict[str, object]:
    documented = [{"name": one.shown_name, "type": one.shown_type, "meaning": one.meaning} for one in columns]
    return {"name": table.name, "meaning": table.summary, "columns": documented}


def _place(table: "Table") -> tuple[int, str]:
    """Return where a table comes in the list: folders of users are last."""
    from prof_analysis.engine.schemas import schemas

    folder = table.name.partition(".")[0]
    known = list(schemas())
    return (known.index(folder) if folder in known else len(known), table.name)
