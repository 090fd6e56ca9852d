"""The command `timeline`: it writes a timeline of each rank, which trace viewers open."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.analyses.analysis import WHERE
from prof_analysis.cli.help import Command
from prof_analysis.cli.options import AsJson, Debug, ProfilePath, Quiet, ScreenOptions, takes_options, written_by
from prof_analysis.cli.screen import finish_files, opened
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES, RESULT
from prof_analysis.common.options import Keywords

app = typer.Typer()
OPTIONS = (INPUT, MODULES, MACHINE, "peak_tflops", "python_frames")


def _timeline(
    path: ProfilePath,
    options: Keywords,
    output_path: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output-path",
            help="Write into this folder; by default into that of the profile.",
            rich_help_panel=RESULT,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """What runs when, on host and device?

    Writes a timeline of each rank for ui.perfetto.dev: steps, idle times and their causes, threads of the host, modules
    and kernels, and an arrow to each kernel from its launch: docs/timelines.md.
    """
    screen = ScreenOptions(as_json=as_json, quiet=quiet, debug=debug)
    with opened(screen, path, options) as profile:
        written = written_by(lambda: profile.timeline(output_path), profile.anonymous)
    finish_files(profile, screen, written)


app.command("timeline", cls=Command, rich_help_panel=WHERE)(takes_options(_timeline, OPTIONS))
