"""The command `timeline`: it writes a timeline of each rank, which trace viewers open."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.analyses.analysis import WHERE
from prof_analysis.cli.help import Command
from prof_analysis.cli.options import AsJson, Debug, ProfilePath, Quiet, ScreenOptions, Written, takes_options
from prof_analysis.cli.screen import finish, opened, print_answer
from prof_analysis.common.errors import OutputError
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
        try:
            written = Written([Path(profile.anonymous(str(file))) for file in profile.timeline(output_path)])
        except OutputError as error:
            written = Written(problem=error)
    # Print after the progress bar is gone.
    if as_json:
        print_answer(profile, written)
    else:
        from prof_analysis.cli import terminal

        terminal.print_files(written.files)
    finish(profile, screen, written)


app.command("timeline", cls=Command, rich_help_panel=WHERE)(takes_options(_timeline, OPTIONS))
