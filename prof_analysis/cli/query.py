"""The command `sql`: it runs a query that is an argument, a file or stdin, and prints its rows."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.cli.help import LOOK_UP, Command
from prof_analysis.cli.options import ProfileOption, ScreenOptions, takes_options
from prof_analysis.cli.screen import exit_on_error, finish, opened, print_answer, view_of
from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.common.option_docs import ANSWER, INPUT, MACHINE, MODULES, SHOW
from prof_analysis.common.options import Keywords
from prof_analysis.common.visible import visible_lines

app = typer.Typer()


@app.command("sql", cls=Command, rich_help_panel=LOOK_UP)
@takes_options
def sql(
    profiling_path: ProfileOption,
    options: Annotated[Keywords, INPUT, MODULES, MACHINE, "requests"],
    screen: ScreenOptions,
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY",
            help="One SELECT of DuckDB on the tables that `prof-analysis tables` lists; - or nothing reads it from stdin.",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read the query from this file.", rich_help_panel=ANSWER)
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print all rows as csv.", rich_help_panel=SHOW)] = False,
) -> None:
    """Run a query over all ranks.

    Prints the rows, with the folder of the rank (profile) and rank_id in front of each table of ranks.
    """
    from prof_analysis.cli import shown_listing as listing
    from prof_analysis.common.scratch import temporary_folder

    if as_csv and screen.as_json:
        raise typer.BadParameter("give one of both", param_hint="--csv and --json")
    with exit_on_error(screen):
        asked = _query_of(query, file)
    if as_csv:
        with exit_on_error(screen), temporary_folder() as folder:
            with opened(screen, profiling_path, options) as profile:
                profile.write_csv(asked, csv_file := folder / "rows.csv")
            _print_file(csv_file)
        finish(profile, screen)
        return
    with opened(screen, profiling_path, options) as profile:
        columns, rows = profile.exact(asked)
    # Print after the progress bar is gone.
    if screen.as_json:
        print_answer(profile, rows=[dict(zip(columns, row, strict=True)) for row in rows])
    else:
        listing.print_rows(columns, rows, view_of(screen, columns))
    finish(profile, screen)


def _query_of(query: str | None, file: Path | None) -> str:
    """Return the query that was given in one of three ways. Raises InputError when it was in none or cannot be read."""
    if query is not None and file is not None:
        raise typer.BadParameter("there is a query beside it; give one of both", param_hint="--file")
    if query not in (None, "-"):
        return str(query)
    if file is None and query is None and sys.stdin.isatty():
        raise typer.BadParameter("give it as an argument, with --file, or on stdin", param_hint="QUERY")
    try:
        written = sys.stdin.buffer.read() if file is None else file.read_bytes()
        return written.decode("utf-8-sig")  # Some editors put a mark in front.
    except OSError as error:
        raise InputError(f"{file or 'stdin'}: cannot be read ({reason_of(error)})", path=file) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file or 'stdin'}: is not UTF-8 text; save it as UTF-8", path=file) from error


def _print_file(file: Path) -> None:
    """Print a file byte by byte, but to a terminal without characters that control it."""
    with file.open("rb") as rows:
        if sys.stdout.isatty():
            for line in rows:
                print(visible_lines(line.decode("utf-8", "replace").rstrip("\r\n")))
        else:
            sys.stdout.flush()
            shutil.copyfileobj(rows, sys.stdout.buffer)
            sys.stdout.buffer.flush()
