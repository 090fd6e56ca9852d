"""The command `compare`: it compares runs with a base, writes the tables of the comparison and prints the changes."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prof_analysis.cli.help import CHANGE, AnalysisCommand
from prof_analysis.cli.options import CompareOptions, ResultOptions, ScreenOptions, Written, takes_options
from prof_analysis.cli.screen import USAGE_OR_INPUT_ERROR, exit_on_error, fail, finish, print_answer, progress, show, tell
from prof_analysis.common.errors import ProfAnalysisError, ProfAnalysisWarning
from prof_analysis.common.option_docs import COMPARE, RESULT
from prof_analysis.common.options import Keywords
from prof_analysis.exports import ExportType

if TYPE_CHECKING:
    from prof_analysis.profile.comparison import Comparison

app = typer.Typer()
HTML = "html"


class ComparedType(StrEnum):
    """The formats of a comparison: those of every result, and an HTML file."""

    db = ExportType.db
    xlsx = ExportType.xlsx
    csv = ExportType.csv
    parquet = ExportType.parquet
    json = ExportType.json
    duckdb = ExportType.duckdb
    text = ExportType.text
    excel = ExportType.excel
    html = HTML


@dataclass(frozen=True)
class CompareResult(ResultOptions):
    """Options of the result of a comparison."""

    output_path: Annotated[
        Path | None,
        typer.Option("-o", "--output-path", help="Write into this folder; html also into this file.", rich_help_panel=RESULT),
    ] = None
    export_type: Annotated[
        ComparedType | None,
        typer.Option(
            metavar="FORMAT",
            help="Write all columns and rows, as "
            f"{', '.join(one for one in ComparedType if one != HTML)} (text and excel mean xlsx), or all that changed as one "
            "html file with pictures. With -o alone the format is db; without both options nothing is written.",
            rich_help_panel=RESULT,
            show_default=False,
        ),
    ] = None  # type: ignore[assignment]


@app.command("compare", cls=AnalysisCommand, rich_help_panel=CHANGE)
@takes_options
def compare(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The profile to compare with: a folder or file of one run.")],
    runs: Annotated[list[Path], typer.Argument(metavar="NEW", help="The new run; several are compared one by one.")],
    options: CompareOptions,
    result: CompareResult,
    screen: ScreenOptions,
    suggest_aliases: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write modules that have other names but are likely the same into this csv file, which --alias then takes.",
            rich_help_panel=COMPARE,
        ),
    ] = None,
    efficiency: Annotated[
        bool,
        typer.Option(
            "--efficiency",
            help="Compare MFU, efficiency and what bounds modules too, which takes a fifth longer.",
            rich_help_panel=COMPARE,
        ),
    ] = False,
) -> None:
    """What changed between runs, and is it more than noise?

    Compares modules, ops, kernels, communication, steps and idle time, of any formats. How, and what is noise: docs/compare.md.
    """
    if result.export_type is not None and result.output_path is None:
        fail(
            "--export-type: give the folder to write to with -o; the runs are in several", USAGE_OR_INPUT_ERROR, screen.as_json
        )
    with _opened(screen, base, runs, options) as comparison:
        from prof_analysis.analyses.comparison import answers_of
        from prof_analysis.analyses.words import several

        if suggest_aliases is not None:  # Before the answer, which fails where the runs have nothing in common.
            number = comparison.suggest_aliases(suggest_aliases)
            file = comparison.profile.anonymous(str(suggest_aliases))
            tell(f"wrote {file}: {several(number, 'alias', 'es')} to check, which --alias {file} applies")
            if number and not comparison.has_common_modules():
                tell("nothing is compared yet: without aliases the runs have no module in common")
                if screen.as_json:
                    print_answer(comparison.profile, Written([Path(file)]))
                finish(comparison.profile, screen)
                return
        answers = answers_of(comparison, result.top, efficiency=efficiency)

        def export(to: Path | None, export_type: str) -> list[Path]:
            if export_type == HTML:
                return [comparison.report(to or Path(), efficiency=efficiency)]
            return comparison.export(to or Path(), export_type, efficiency=efficiency)

        written = result.write(export, comparison.profile.anonymous)
        if suggest_aliases is not None and screen.as_json:
            written = Written([Path(file), *written.files], written.problem)
    # Print after the progress bar is gone.
    show(answers, written, screen)
    finish(comparison.profile, screen, written)


@contextmanager
def _opened(screen: ScreenOptions, base: Path, runs: list[Path], options: Keywords) -> "Iterator[Comparison]":
    """Open the runs; an error of this package becomes one line and its exit code."""
    warnings.simplefilter("ignore", ProfAnalysisWarning)
    with exit_on_error(screen) as found:
        from prof_analysis.profile.comparison import open_comparison

        with progress(screen.quiet) as on_progress:
            keywords: Keywords = {**options, "on_progress": on_progress}
            with open_comparison(base, tuple(runs), keywords) as comparison:
                try:
                    yield comparison
                except ProfAnalysisError:
                    found.extend(comparison.warnings)
                    raise
