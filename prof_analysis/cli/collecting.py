"""The command `collect`: it copies the file that collects profiles to where a model runs."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.cli.help import LOOK_UP, Command
from prof_analysis.cli.options import AsJson, ScreenOptions, takes_options
from prof_analysis.cli.screen import exit_on_error, print_json
from prof_analysis.common.errors import OutputError

app = typer.Typer()

# Beside a program it must hide no module of the program.
NAME = "prof_analysis_collect.py"


@app.command("collect", cls=Command, rich_help_panel=LOOK_UP)
@takes_options
def collect(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Copy the file into this folder.")],
    as_json: AsJson = False,
) -> None:
    """How do I record a profile that can answer?

    Copies a file that marks modules and records with the switches that answers need. It works alone, on Python 3.9 and later
    beside torch; here it is `python -m prof_analysis.collect`. How: docs/collecting.md.
    """
    from prof_analysis import collect as collecting
    from prof_analysis.common.files import replacing

    with exit_on_error(ScreenOptions(as_json)):
        if not folder.is_dir():
            raise OutputError(f"{folder}: there is no such folder; make it, or give another one", path=folder)
        target = folder / NAME
        with replacing(target) as unfinished:
            unfinished.write_bytes(Path(collecting.__file__).read_bytes())
    if as_json:
        print_json(status="done", files=[str(target)])
    else:
        print(f"wrote {target}; to record there: python {NAME} --steps 10-12 -- train.py")
