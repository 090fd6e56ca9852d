"""The command `report`: it writes the answers of all analyses into one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.analyses.analysis import FIRST
from prof_analysis.cli.help import Command
from prof_analysis.cli.options import AsJson, Debug, ProfilePath, Quiet, ScreenOptions, Written, takes_options
from prof_analysis.cli.screen import finish, opened, print_answer
from prof_analysis.common.errors import OutputError
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES, RESULT
from prof_analysis.common.options import Keywords

app = typer.Typer()
OPTIONS = (INPUT, MODULES, MACHINE, "peak_tflops")


def _report(
    path: ProfilePath,
    options: Keywords,
    output_path: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output-path",
            metavar="FILE",
            help="Write this HTML file; in a folder, report.html.",
            rich_help_panel=RESULT,
        ),
    ] = Path("report.html"),
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write all answers into one HTML file, with pictures.

    It opens from disk in any browser, loads nothing from anywhere, and can be mailed. What it shows: docs/report.md.
    """
    screen = ScreenOptions(as_json=as_json, quiet=quiet, debug=debug)
    with opened(screen, path, options) as profile:
        try:
            written = Written([Path(profile.anonymous(str(profile.report(output_path))))])
        except OutputError as error:
            written = Written(problem=error)
    # Print after the progress bar is gone.
    if as_json:
        print_answer(profile, written)
    else:
        from prof_analysis.cli import terminal

        terminal.print_files(written.files)
    finish(profile, screen, written)


app.command("report", cls=Command, rich_help_panel=FIRST)(takes_options(_report, OPTIONS))
