"""The commands that list ranks, and list or clear the cache."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.cli.help import KEEP, LOOK_UP, Command
from prof_analysis.cli.options import AsJson, ProfilePath, ScreenOptions, SourceOption, takes_options
from prof_analysis.cli.screen import exit_on_error, opened, print_json
from prof_analysis.common.errors import InputError
from prof_analysis.common.option_docs import MACHINE
from prof_analysis.common.options import NO_CACHE
from prof_analysis.languages import said

app = typer.Typer()


@app.command("ranks", cls=Command, rich_help_panel=LOOK_UP)
@takes_options
def ranks(path: ProfilePath, options: SourceOption, screen: ScreenOptions) -> None:
    """What was found, and which questions can it answer?

    Lists the ranks with their files, the commands that can answer, and why others cannot: what was not collected.
    """
    from prof_analysis.cli import shown_listing as listing

    # It builds no tables, so there is nothing to keep.
    with opened(screen, path, {**options, "cache": NO_CACHE}) as profile:
        rows = profile.ranks(arrow=True).to_pylist() if screen.as_json else profile.rank_rows()
        if not rows:
            profile.provide(("trace.kernel",))  # Ends with the error of a profile without ranks.
    if screen.as_json:
        print_json(status="done", ranks=rows)
    else:
        listing.print_ranks(rows, screen)


cache_app = typer.Typer(name="cache", help="List or remove the data kept between questions.", no_args_is_help=True)
app.add_typer(cache_app, rich_help_panel=KEEP)
CacheFolder = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="PATH",
        help="The folder that another command had as --cache; by default your cache folder.",
        rich_help_panel=MACHINE,
    ),
]


@cache_app.command("ls", cls=Command)
@takes_options
def list_cache(cache: CacheFolder = None, as_json: AsJson = False) -> None:
    """List the ranks whose results are kept, their tables and size, and whether their input is unchanged."""
    from prof_analysis.cli import shown_listing as listing
    from prof_analysis.run.cache.entries import entries

    with exit_on_error(ScreenOptions(as_json)):
        kept = list(entries(_folder(cache)))
    if as_json:
        print_json(status="done", entries=[{**vars(entry), "folder": str(entry.folder)} for entry in kept])
    else:
        listing.print_entries(kept)


@cache_app.command("clear", cls=Command)
@takes_options
def clear_cache(cache: CacheFolder = None, as_json: AsJson = False) -> None:
    """Remove kept entries, except those that another process uses, and nothing else in the folder."""
    from prof_analysis.run.cache.entries import clear

    with exit_on_error(ScreenOptions(as_json)):
        removed, in_use = clear(_folder(cache))
    size = sum(entry.size_bytes for entry in removed)
    if as_json:
        names = {"removed": removed, "in_use": in_use}
        print_json(
            status="done", size_bytes=size, **{name: [str(entry.folder) for entry in found] for name, found in names.items()}
        )
    else:
        stay = f"; {len(in_use):,} in use stay" if in_use else ""
        print(said(f"removed {len(removed):,} {'entry' if len(removed) == 1 else 'entries'}, {size:,} bytes{stay}"))


def _folder(chosen: Path | None) -> Path:
    """Return the folder to list or to clear. Raises InputError without one."""
    from prof_analysis.common.user_cache import VARIABLE, cache_folder

    if (folder := chosen or cache_folder()) is None:
        raise InputError(f"there is no cache: {VARIABLE} is off, or its folder cannot be written; give --cache")
    return folder
