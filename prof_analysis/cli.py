"""The command `prof-analysis`: parses words, calls the API, prints. Results go to stdout, progress and problems to stderr."""

import json
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from prof_analysis import __version__
from prof_analysis.errors import OutputError, ProfAnalysisError, ProfAnalysisWarning

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

DONE = 0
SOME_RANKS_FAILED = 1
USAGE_OR_INPUT_ERROR = 2
OUTPUT_ERROR = 3
INTERRUPTED = 130


class _Commands(typer.core.TyperGroup):
    """The commands; a wrong word is told like every other error: in one line, or as JSON."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run a command line and exit."""
        given = args[0] if args else options.get("args")
        words = sys.argv[1:] if given is None else given
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            if not words:
                print(error.format_message())
                sys.exit(USAGE_OR_INPUT_ERROR)
            hint = "" if words[-1] in ("-h", "--help") else "; --help lists the words it knows"
            _report(f"{' '.join(error.format_message().split()).rstrip('.')}{hint}", "--json" in words)
            sys.exit(USAGE_OR_INPUT_ERROR)
        sys.exit(code)


app = typer.Typer(
    cls=_Commands,
    name="prof-analysis",
    help="Which module of the model costs the time on the NPU, through which ops and kernels.",
    epilog="Exit codes: 0 done; 1 done, but some ranks failed; 2 usage or input error, nothing written; "
    "3 the output could not be written; 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={
        "token_normalize_func": lambda token: token.replace("_", "-"),
        "help_option_names": ["-h", "--help"],
    },
)


class ExportType(StrEnum):
    """What a result is written as."""

    db = "db"
    text = "text"
    excel = "excel"
    csv = "csv"
    parquet = "parquet"
    json = "json"


class ModuleSource(StrEnum):
    """What marks the modules."""

    auto = "auto"
    mstx = "mstx"
    nn_module = "nn.Module"


class By(StrEnum):
    """What is one module."""

    class_ = "class"
    instance = "instance"


_INPUT, _MODULES, _RESULT, _SCREEN = "Input", "Modules", "Result", "Screen"
ProfilingPath = Annotated[
    Path,
    typer.Option("-d", "--profiling-path", help="A *_ascend_pt folder, or a tree of them.", rich_help_panel=_INPUT),
]
RankList = Annotated[str | None, typer.Option(help="Only these ranks, as in 0,3.", rich_help_panel=_INPUT)]
StepId = Annotated[int | None, typer.Option(help="Only kernels launched in this profiler step.", rich_help_panel=_INPUT)]
Tolerance = Annotated[
    int,
    typer.Option(min=0, help="How much later than a module an op in it may end.", rich_help_panel=_INPUT),
]
Source = Annotated[
    ModuleSource,
    typer.Option("--module-source", help="What marks modules; auto: mstx, else nn.Module rows.", rich_help_panel=_MODULES),
]
Domain = Annotated[
    str, typer.Option("--module-domain", help="mstx domains of modules, as in Module,Custom.", rich_help_panel=_MODULES)
]
ByChoice = Annotated[
    By, typer.Option("--by", help="One row a class, or an instance as in Layer[3]/Linear[0].", rich_help_panel=_MODULES)
]
Depth = Annotated[int | None, typer.Option(min=1, help="Cut the module tree at this depth.", rich_help_panel=_MODULES)]
AuditLinks = Annotated[bool, typer.Option("--audit-links", help="Judge the op of every launch anew.", rich_help_panel=_MODULES)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, for scripts.", rich_help_panel=_SCREEN)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.", rich_help_panel=_SCREEN)]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=_SCREEN)]


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Which module of the model costs the time on the NPU, through which ops and kernels."""
    if version:
        print(f"prof-analysis {__version__}")
        raise typer.Exit


@app.command(
    "module-stats",
    epilog="Example: prof-analysis module-stats -d ./result --export_type db. "
    "Writes below cluster_analysis_output/: cluster_analysis.db (tables ModuleStatistic, ModuleTree, ModuleCoverage, "
    "ProfileRank); with text or excel ModuleStatistic/module_statistic_{rank}.xlsx; else module_statistic, module_tree and "
    "module_coverage as csv, parquet or json.",
)
def module_stats(
    profiling_path: ProfilingPath,
    output_path: Annotated[
        Path | None,
        typer.Option("-o", "--output-path", help="Where to write; else the input folder.", rich_help_panel=_RESULT),
    ] = None,
    export_type: Annotated[ExportType, typer.Option(help="What to write.", rich_help_panel=_RESULT)] = ExportType.db,
    rank_list: RankList = None,
    step_id: StepId = None,
    nesting_tolerance_ns: Tolerance = 0,
    module_source: Source = ModuleSource.auto,
    module_domain: Domain = "Module",
    by: ByChoice = By.class_,
    depth: Depth = None,
    audit_links: AuditLinks = False,
    top: Annotated[int, typer.Option(min=1, help="How many modules the summary shows.", rich_help_panel=_SCREEN)] = 10,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Kernel time by module, op and kernels: the ModuleStatistic table."""
    from prof_analysis import summary

    with (
        _told(as_json, debug),
        _opened(
            profiling_path,
            quiet,
            rank_list=_numbers(rank_list),
            step_id=step_id,
            nesting_tolerance_ns=nesting_tolerance_ns,
            module_source=module_source.value,
            module_domains=[domain.strip() for domain in module_domain.split(",")],
            by=by.value,
            depth=depth,
            audit_links=audit_links,
        ) as profile,
    ):
        written = profile.export(output_path, export_type.value)
        facts = summary.module_facts(profile, top)
        status = "partial" if profile.failures else "done"
        if as_json:
            _print_json(
                status=status,
                files=[str(file) for file in written],
                summary=facts,
                warnings=profile.warnings,
                failures=profile.failures,
            )
        else:
            summary.print_module_facts(facts, written)
        _finish(profile, debug, as_json)


@app.command("ranks", epilog="Example: prof-analysis ranks -d ./result")
def ranks(profiling_path: ProfilingPath, as_json: AsJson = False, debug: Debug = False) -> None:
    """What was found: folders, ranks, files, what they can answer, and what was not collected."""
    from prof_analysis import summary

    with _told(as_json, debug), _opened(profiling_path, quiet=True) as profile:
        rows = profile.ranks(arrow=True).to_pylist()
        if as_json:
            _print_json(status="done", ranks=rows)
        else:
            summary.print_ranks(rows)


@app.command("tables", epilog="Example: prof-analysis tables module.kernel")
def tables(
    name: Annotated[str | None, typer.Argument(help="Only this table, or the tables of this schema.")] = None,
    as_json: AsJson = False,
) -> None:
    """The tables that `sql` and Profile.table() know, with every column."""
    from prof_analysis import summary
    from prof_analysis.tables import documented_tables

    chosen = [
        table for table in documented_tables().values() if name is None or name in (table.name, table.name.partition(".")[0])
    ]
    if not chosen:
        _fail(f"there is no table {name}; `prof-analysis tables` lists them", USAGE_OR_INPUT_ERROR, as_json)
    if as_json:
        _print_json(
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
        summary.print_tables(chosen)


@app.command(
    "sql",
    epilog='Example: prof-analysis sql -d ./result "SELECT rank_id, type, sum(duration_ns) FROM module.kernel GROUP BY ALL"',
)
def sql(
    query: Annotated[str, typer.Argument(help="A DuckDB SELECT on the tables that `prof-analysis tables` lists.")],
    profiling_path: ProfilingPath,
    rank_list: RankList = None,
    step_id: StepId = None,
    nesting_tolerance_ns: Tolerance = 0,
    module_source: Source = ModuleSource.auto,
    module_domain: Domain = "Module",
    by: ByChoice = By.class_,
    depth: Depth = None,
    audit_links: AuditLinks = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """The answer of a query, always over all ranks."""
    from prof_analysis import summary

    with (
        _told(as_json, debug),
        _opened(
            profiling_path,
            quiet,
            rank_list=_numbers(rank_list),
            step_id=step_id,
            nesting_tolerance_ns=nesting_tolerance_ns,
            module_source=module_source.value,
            module_domains=[domain.strip() for domain in module_domain.split(",")],
            by=by.value,
            depth=depth,
            audit_links=audit_links,
        ) as profile,
    ):
        answer = profile.sql(query, arrow=True)
        if as_json:
            _print_json(
                status="partial" if profile.failures else "done",
                rows=answer.to_pylist(),
                warnings=profile.warnings,
                failures=profile.failures,
            )
        else:
            summary.print_rows(answer)
        _finish(profile, debug, as_json)


def run() -> None:
    """The entry point of the command."""
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            # Threads that still read a file would keep the process alive.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        raise


@contextmanager
def _opened(path: Path, quiet: bool, **options: Any) -> "Iterator[Profile]":
    from prof_analysis.profile import Profile

    warnings.simplefilter("ignore", ProfAnalysisWarning)
    with _progress(quiet) as on_progress, Profile(path, on_progress=on_progress, **options) as profile:
        yield profile


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar over ranks on stderr; nothing when quiet or when stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("ranks", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _told(as_json: bool, debug: bool) -> Iterator[None]:
    """Turn an error of the package into one line and the documented exit code."""
    try:
        yield
    except ProfAnalysisError as error:
        if debug:
            traceback.print_exc()
        _fail(str(error), OUTPUT_ERROR if isinstance(error, OutputError) else USAGE_OR_INPUT_ERROR, as_json)
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED, as_json)


def _finish(profile: "Profile", debug: bool, as_json: bool) -> None:
    if not as_json:
        for warning in profile.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        for failure in profile.failures:
            print(f"failed: {failure}", file=sys.stderr)
    if debug:
        print(*profile.details, sep="\n", file=sys.stderr)
    if profile.failures:
        raise typer.Exit(SOME_RANKS_FAILED)


def _fail(message: str, exit_code: int, as_json: bool) -> NoReturn:
    _report(message, as_json)
    raise typer.Exit(exit_code)


def _report(message: str, as_json: bool) -> None:
    if as_json:
        _print_json(status="error", message=message)
    else:
        print(f"error: {message}", file=sys.stderr)


def _print_json(**content: Any) -> None:
    print(json.dumps(_finite(content), ensure_ascii=False, default=str, allow_nan=False))


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: they are null there."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"{text}: give rank ids separated by commas, as in 0,3", param_hint="--rank_list")
    return [int(part) for part in parts]
