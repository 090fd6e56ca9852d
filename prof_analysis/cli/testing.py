"""The command `test`: it runs the cases of a folder of tables, rows in and rows out, without a profile."""

from pathlib import Path
from typing import Annotated

import typer

from prof_analysis.cli.help import LOOK_UP, Command
from prof_analysis.cli.options import AllowFiles, AsJson, ScreenOptions, takes_options
from prof_analysis.cli.screen import SOME_RANKS_FAILED, USAGE_OR_INPUT_ERROR, exit_on_error, fail, print_json
from prof_analysis.common.visible import visible
from prof_analysis.languages import said

app = typer.Typer()


@app.command("test", cls=Command, rich_help_panel=LOOK_UP)
@takes_options
def test(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of your own tables, as --sql-folder takes it.")],
    allow_files: AllowFiles = False,
    as_json: AsJson = False,
) -> None:
    """Do my own tables give the rows that I expect?

    Runs the cases beside them, such as ours/stream.cases.md for ours.stream: docs/own-sql.md. Exit code 1: a case fails.
    """
    from prof_analysis.analyses.words import several
    from prof_analysis.engine.cases import ENDING, failures_in
    from prof_analysis.engine.own_tables import read_own_tables

    with exit_on_error(ScreenOptions(as_json)):
        own = read_own_tables(folder, allow_files)
        files = sorted(folder.glob(f"*/*{ENDING}"))
        if not files:
            fail(f"{folder}: holds no cases; write ours/stream{ENDING} for a table ours.stream", USAGE_OR_INPUT_ERROR, as_json)
        found = {str(file): failures_in(file, own) for file in files}
    failed = [case for cases in found.values() for case in cases if case.failures]
    count = sum(map(len, found.values()))
    if as_json:
        cases = [
            {"file": file, "line": case.line, "name": case.name, "failures": case.failures}
            for file, tried in found.items()
            for case in tried
        ]
        print_json(status="done", cases=cases)
    else:
        for file, tried in found.items():
            for case in tried:
                for failure in case.failures:
                    print(visible(f"{file}:{case.line}: {case.name}: {failure}"))
        print(said(f"{several(count, 'case')}, {len(failed)} failed" if failed else f"{several(count, 'case')}, all hold"))
    if failed:
        raise typer.Exit(SOME_RANKS_FAILED)
