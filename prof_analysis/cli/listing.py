"""The commands that list ranks and tables, answer a query, and list or clear what is kept."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.cli.options import (
    AsJson,
    ModuleOptions,
    ProfileOption,
    ProfilePath,
    ScreenOptions,
    SourceOption,
    SqlFolder,
    takes_options,
)
from prof_analysis.cli.screen import (
    USAGE_OR_INPUT_ERROR,
    exit_on_error,
    fail,
    finish,
    opened,
    print_answer,
    print_json,
    view_of,
)
from prof_analysis.errors import InputError

app = typer.Typer()


@app.command("ranks", epilog="Example: prof-analysis ranks -d ./result")
@takes_options
def ranks(path: ProfilePath, options: SourceOption, screen: ScreenOptions) -> None:
    """List what was found: ranks, their files, the questions that they can answer, and what was not collected."""
    from prof_analysis.cli.summaries import listing

    # It builds no tables, so there is nothing to keep.
    with opened(screen, path, {**options, "no_cache": True}) as profile:
        rows = profile.ranks(arrow=True).to_pylist()
    if screen.as_json:
        print_json(status="done", ranks=rows)
    else:
        listing.print_ranks(rows, screen)


@app.command("tables", epilog="Example: prof-analysis tables module.kernel")
def tables(
    name: Annotated[str | None, typer.Argument(help="Only this table, or the tables of this schema.")] = None,
    sql_folder: SqlFolder = None,
    as_json: AsJson = False,
) -> None:
    """List the tables that `sql`, `table` and Profile.table() know, with the meaning of every column."""
    from prof_analysis.cli.summaries import listing
    from prof_analysis.engine.own_tables import read_own_tables
    from prof_analysis.engine.tables import all_tables

    with exit_on_error(ScreenOptions(as_json)):
        own = () if sql_folder is None else read_own_tables(sql_folder)
    known = all_tables(own).values()
    chosen = [table for table in known if name is None or name in (table.name, table.name.partition(".")[0])]
    if not chosen:
        fail(f"there is no table {name}; `prof-analysis tables` lists them", USAGE_OR_INPUT_ERROR, as_json)
    if as_json:
        print_json(
            status="done",
            tables=[
                {
                    "name": table.name,
                    "meaning": table.summary,
                    "columns": [{"name": c.shown_name, "type": c.shown_type, "meaning": c.meaning} for c in table.columns],
                }
                for table in chosen
            ],
        )
    else:
        listing.print_tables(chosen)


@app.command(
    "sql",
    epilog='Example: prof-analysis sql -d ./result "SELECT rank_id, type, sum(duration_ns) FROM module.kernel GROUP BY ALL"',
)
@takes_options
def sql(
    query: Annotated[str, typer.Argument(help="A DuckDB SELECT on the tables that `prof-analysis tables` lists.")],
    path: ProfileOption,
    options: ModuleOptions,
    screen: ScreenOptions,
) -> None:
    """Run a query over all ranks and print its rows."""
    from prof_analysis.cli.summaries import listing

    with opened(screen, path, options) as profile:
        answer = profile.sql(query, arrow=True)
    # Print after the progress bar is gone.
    if screen.as_json:
        print_answer(profile, rows=answer.to_pylist())
    else:
        listing.print_rows(answer, view_of(screen, answer.column_names))
    finish(profile, screen)


cache_app = typer.Typer(name="cache", help="List or remove what is kept between questions.", no_args_is_help=True)
app.add_typer(cache_app)
CacheFolder = Annotated[
    Path | None,
    typer.Option("--cache-dir", help="The folder that --cache-dir or --store had; by default the user's cache folder."),
]


@cache_app.command("ls", epilog="Example: prof-analysis cache ls")
def list_cache(cache_dir: CacheFolder = None, as_json: AsJson = False) -> None:
    """List the ranks whose results are kept, their tables and size, and whether their input is unchanged."""
    from prof_analysis.cli.summaries import listing
    from prof_analysis.run.entries import entries

    with exit_on_error(ScreenOptions(as_json)):
        kept = list(entries(_folder(cache_dir)))
    if as_json:
        print_json(status="done", entries=[{**vars(entry), "folder": str(entry.folder)} for entry in kept])
    else:
        listing.print_entries(kept)


@cache_app.command("clear", epilog="Example: prof-analysis cache clear")
def clear_cache(cache_dir: CacheFolder = None, as_json: AsJson = False) -> None:
    """Remove what is kept, except what another process uses, and nothing else in the folder."""
    from prof_analysis.run.entries import clear

    with exit_on_error(ScreenOptions(as_json)):
        removed, in_use = clear(_folder(cache_dir))
    size = sum(entry.size_bytes for entry in removed)
    if as_json:
        names = {"removed": removed, "in_use": in_use}
        print_json(
            status="done", size_bytes=size, **{name: [str(entry.folder) for entry in found] for name, found in names.items()}
        )
    else:
        stay = f"; {len(in_use):,} in use stay" if in_use else ""
        print(f"removed {len(removed):,} {'entry' if len(removed) == 1 else 'entries'}, {size:,} bytes{stay}")


def _folder(chosen: Path | None) -> Path:
    """Return the folder to list or to clear. Raises InputError where there is none."""
    from prof_analysis.user_cache import VARIABLE, cache_folder

    if (folder := chosen or cache_folder()) is None:
        raise InputError(f"there is no cache: {VARIABLE} is off, or its folder cannot be written; give --cache-dir")
    return folder
