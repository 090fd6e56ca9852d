"""The command `table`: it prints and writes the rows of any table, ours or of a user."""

from typing import Annotated

import typer

from prof_analysis.cli.help import LOOK_UP, Command
from prof_analysis.cli.options import (
    ModuleOptions,
    ProfileOption,
    ResultOptions,
    ScreenOptions,
    takes_options,
)
from prof_analysis.cli.screen import finish, opened, print_answer, view_of
from prof_analysis.cli.tables import names_of_tables
from prof_analysis.languages import said

app = typer.Typer()


@app.command(
    "table",
    cls=Command,
    rich_help_panel=LOOK_UP,
)
@takes_options
def table(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A table that `prof-analysis tables` lists, or one of --sql-folder.",
            autocompletion=names_of_tables,
        ),
    ],
    profiling_path: ProfileOption,
    options: ModuleOptions,
    result: ResultOptions,
    screen: ScreenOptions,
) -> None:
    """Print or write the rows of one table, over all ranks.

    The meaning of its columns: prof-analysis tables NAME. In files the table has its name in camel case, such as ModuleTree, or
    as module_tree.csv.
    """
    from prof_analysis.analyses.words import several
    from prof_analysis.cli import shown_listing as listing
    from prof_analysis.cli import terminal

    with opened(screen, profiling_path, options) as profile:
        written = result.write(lambda folder, export_type: profile.export_table(name, folder, export_type), profile.anonymous)
        rows = profile.table(name, arrow=True)
    # Print after the progress bar is gone.
    if screen.as_json:
        print_answer(profile, written, rows=rows.to_pylist())
    else:
        shown = [list(row.values()) for row in rows.slice(0, result.top).to_pylist()]
        listing.print_rows(rows.column_names, shown, view_of(screen, rows.column_names))
        print(said(f"{min(result.top, rows.num_rows):,} of {several(rows.num_rows, 'row')}"))
        terminal.print_files(written.files)
    finish(profile, screen, written)
