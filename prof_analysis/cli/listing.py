"""The commands that list ranks and tables, answer a query, and list or clear a store."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.cli.options import (
    AsJson,
    Debug,
    ModuleOptions,
    ProfilePath,
    ScreenOptions,
    SourceOption,
    SqlFolder,
    takes_options,
)
from prof_analysis.cli.screen import USAGE_OR_INPUT_ERROR, exit_on_error, fail, finish, opened, print_answer, print_json

app = typer.Typer()


@app.command("ranks", epilog="Example: prof-analysis ranks -d ./result")
@takes_options
def ranks(path: ProfilePath, options: SourceOption, as_json: AsJson = False, debug: Debug = False) -> None:
    """List what was found: ranks, their files, the questions that they can answer, and what was not collected."""
    from prof_analysis.cli.summaries import listing

    with opened(ScreenOptions(as_json, quiet=True, debug=debug), path, options) as profile:
        rows = profile.ranks(arrow=True).to_pylist()
        if as_json:
            print_json(status="done", ranks=rows)
        else:
            listing.print_ranks(rows)


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
    path: ProfilePath,
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
        listing.print_rows(answer)
    finish(profile, screen)


store_app = typer.Typer(name="store", help="List or remove what --store keeps.", no_args_is_help=True)
app.add_typer(store_app)
StoreFolder = Annotated[Path, typer.Option("--store", help="The folder that was given to --store.")]


@store_app.command("ls", epilog="Example: prof-analysis store ls --store ./kept")
def list_store(store: StoreFolder, as_json: AsJson = False) -> None:
    """List the ranks that a store keeps, their tables and size, and whether their input is unchanged."""
    from prof_analysis.cli.summaries import listing
    from prof_analysis.run.store import entries

    with exit_on_error(ScreenOptions(as_json)):
        kept = list(entries(store))
    if as_json:
        print_json(status="done", entries=[{**vars(entry), "folder": str(entry.folder)} for entry in kept])
    else:
        listing.print_store(kept)


@store_app.command("clear", epilog="Example: prof-analysis store clear --store ./kept")
def clear_store(store: StoreFolder, as_json: AsJson = False) -> None:
    """Remove what a store keeps, and nothing else in its folder."""
    from prof_analysis.run.store import clear

    with exit_on_error(ScreenOptions(as_json)):
        removed = clear(store)
    size = sum(entry.size_bytes for entry in removed)
    if as_json:
        print_json(status="done", removed=[str(entry.folder) for entry in removed], size_bytes=size)
    else:
        print(f"removed {len(removed):,} {'entry' if len(removed) == 1 else 'entries'}, {size:,} bytes")
