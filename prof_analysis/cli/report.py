"""The command `report`: it writes the answers of all analyses into one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.analyses.analysis import FIRST
from prof_analysis.cli.help import Command
from prof_analysis.cli.options import AsJson, Debug, ProfilePath, Quiet, ScreenOptions, takes_options, written_by
from prof_analysis.cli.screen import finish_files, opened
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
        written = written_by(lambda: [profile.report(output_path)], profile.anonymous)
    finish_files(profile, screen, written)


app.command("report", cls=Command, rich_help_panel=FIRST)(takes_options(_report, OPTIONS))
