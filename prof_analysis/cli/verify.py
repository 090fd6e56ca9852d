"""The command `verify`: it runs msprof-analyze beside prof-analysis, and shows which rows agree."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.analyses.answer import USUAL_ROWS
from prof_analysis.cli.help import LOOK_UP, Command
from prof_analysis.cli.options import ProfilePath, ScreenOptions, Written, takes_options
from prof_analysis.cli.screen import SOME_RANKS_FAILED, finish, opened, show, tell
from prof_analysis.common.option_docs import ANSWER, INPUT, MACHINE, SHOW
from prof_analysis.common.options import Keywords

app = typer.Typer()
OPTIONS = ("rank_list", MACHINE)


def _verify(
    path: ProfilePath,
    options: Keywords,
    screen: ScreenOptions,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            "--mode",
            "-m",
            metavar="RECIPE",
            help="Compare the tables of this recipe of msprof-analyze; may be given several times. By default all.",
            rich_help_panel=ANSWER,
        ),
    ] = None,
    database: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with this cluster_analysis.db, which msprof-analyze has written of the same ranks; do not run it.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Show this many rows.", rich_help_panel=SHOW)] = USUAL_ROWS,
) -> None:
    """Are the figures those of msprof-analyze?

    Runs its recipes on a copy of the databases, and compares the rows in each column that both have: docs/verify.md. Ends
    with 1 if rows differ, or are missing in one of both, for a reason that is not known.
    """
    with opened(screen, path, options) as profile:
        from prof_analysis.verify.answer import answer_of
        from prof_analysis.verify.verifying import verify

        found = verify(profile, mode or (), database, _say if sys.stderr.isatty() and not screen.quiet else None)
        answer = answer_of(profile, found, top)
    # Print after the progress bar is gone.
    show({"": answer}, Written(), screen)
    finish(profile, screen)
    if not found.agrees:
        raise typer.Exit(SOME_RANKS_FAILED)


def _say(recipe: str, number: int, of_all: int) -> None:
    tell(f"running msprof-analyze -m {recipe}, {number} of {of_all}")


app.command("verify", cls=Command, rich_help_panel=LOOK_UP)(takes_options(_verify, OPTIONS))
