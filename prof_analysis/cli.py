"""The command `prof-analysis`: parses words, calls the API, prints. Results go to stdout, progress and problems to stderr."""

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from prof_analysis import __version__
from prof_analysis.cli_options import (
    AcrossRanks,
    AsJson,
    Debug,
    InputOptions,
    MachineOptions,
    MfuOptions,
    ModuleOptions,
    PathOption,
    PmuOptions,
    ResultOptions,
    ScreenOptions,
    WithPmu,
    takes_options,
)
from prof_analysis.cli_screen import (
    INTERRUPTED,
    USAGE_OR_INPUT_ERROR,
    fail,
    finish,
    print_answer,
    print_json,
    progress,
    report,
    told,
)
from prof_analysis.errors import ProfAnalysisWarning

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


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
            report(f"{' '.join(error.format_message().split()).rstrip('.')}{hint}", "--json" in words)
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
    "ProfileRank, of several ranks ModuleAcrossRanks); with text or excel ModuleStatistic/module_statistic_{rank}.xlsx; "
    "else files named like the tables, as in module_statistic.csv, .parquet or .json.",
)
@takes_options
def module_stats(
    chosen: InputOptions,
    modules: ModuleOptions,
    result: ResultOptions,
    machine: MachineOptions,
    screen: ScreenOptions,
    across_ranks: AcrossRanks = False,
    pmu: WithPmu = False,
) -> None:
    """Kernel time by module, op and kernels: the ModuleStatistic table."""
    analysis = "module-stats --pmu" if pmu else "module-stats"
    summary = "module-stats --across-ranks" if across_ranks else None
    _analyse(analysis, result, screen, summary, **chosen.chosen(), **modules.chosen(), **machine.chosen())


@app.command(
    "kernel-stats",
    epilog="Example: prof-analysis kernel-stats -d ./result. "
    "Writes the tables KernelStatistic and KernelStatisticAllRanks, or files and workbooks named like them.",
)
@takes_options
def kernel_stats(chosen: InputOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """Kernel time by type and core, per rank and over all ranks: the KernelStatistic table."""
    _analyse("kernel-stats", result, screen, **chosen.chosen(), **machine.chosen())


@app.command(
    "op-stats",
    epilog="Example: prof-analysis op-stats -d ./result. "
    "Writes the tables OpStatistic and OpStatisticAllRanks, or files and workbooks named like them.",
)
@takes_options
def op_stats(chosen: InputOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """Host and device time by framework op and input shapes, per rank and over all ranks: the OpStatistic table."""
    _analyse("op-stats", result, screen, **chosen.chosen(), **machine.chosen())


@app.command(
    "communication-stats",
    epilog="Example: prof-analysis communication-stats -d ./result. "
    "Writes the tables CommunicationStatistic and CommunicationStatisticAllRanks, or files and workbooks named like them.",
)
@takes_options
def communication_stats(chosen: InputOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """Communication time by op type and group, per rank and over all ranks: the CommunicationStatistic table."""
    _analyse("communication-stats", result, screen, **chosen.chosen(), **machine.chosen())


@app.command(
    "communication-time",
    epilog="Example: prof-analysis communication-time -d ./result. "
    "Writes the tables CommunicationTime, CommunicationGroupTime, CommunicationModuleTime, CommunicationRankTime and "
    "CommunicationLink, or files and workbooks named like them.",
)
@takes_options
def communication_time(
    chosen: InputOptions, modules: ModuleOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions
) -> None:
    """Communication as transfer, wait and idle: by operator, group, module, rank and link."""
    _analyse("communication-time", result, screen, **chosen.chosen(), **modules.chosen(), **machine.chosen())


@app.command(
    "slow-ranks",
    epilog="Example: prof-analysis slow-ranks -d ./result. "
    "Writes the tables SlowRank, SlowRankFinding, SlowRankModule and RankCommunication, or files and workbooks named so.",
)
@takes_options
def slow_ranks(chosen: InputOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """Which rank, or pipeline stage, makes the others wait, and what shows it."""
    _analyse("slow-ranks", result, screen, **chosen.chosen(), **machine.chosen())


@app.command(
    "mfu",
    epilog="Example: prof-analysis mfu -d ./result --level op. "
    "Writes the tables Mfu, MfuModule, MfuOp, MfuKernel, MfuAudit, OperatorMFU and ModuleMFU, or files and workbooks named so.",
)
@takes_options
def mfu(
    chosen: InputOptions,
    modules: ModuleOptions,
    measure: MfuOptions,
    result: ResultOptions,
    machine: MachineOptions,
    screen: ScreenOptions,
) -> None:
    """Model FLOPs utilisation: how well the matrix products use the cube cores."""
    options = {**chosen.chosen(), **modules.chosen(), **measure.chosen(), **machine.chosen()}
    level = measure.level and measure.level.value
    _analyse("mfu", result, screen, shown={"level": level}, **options)


@app.command(
    "layer-stats",
    epilog="Example: prof-analysis layer-stats -d ./result. "
    "Writes the tables LayerStructure, LayerPosition, LayerNumber and Layer, or files and workbooks named like them.",
)
@takes_options
def layer_stats(chosen: InputOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """The layers of a model found in the sequence of its kernels, and their time by position and by layer."""
    _analyse("layer-stats", result, screen, **chosen.chosen(), **machine.chosen())


@app.command(
    "graph-overhead",
    epilog="Example: prof-analysis graph-overhead -d ./result. "
    "Writes the tables GraphOverhead and GraphCall, or files and workbooks named like them.",
)
@takes_options
def graph_overhead(chosen: PathOption, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """What calls of compiled graphs (TorchAir) cost on the host: front end, TorchAir, graph engine."""
    _analyse("graph-overhead", result, screen, **chosen.chosen(), **machine.chosen())


@app.command(
    "stage-durations",
    epilog="Example: prof-analysis stage-durations server.log.gz; or as serve | prof-analysis stage-durations - -o ./result. "
    "Writes the tables StageDuration, StageDurationAllProcesses and StageLog, or files and workbooks named like them.",
)
@takes_options
def stage_durations(
    logs: Annotated[list[str], typer.Argument(help="Logs of vLLM-Ascend, also .gz; - is standard input.", metavar="LOG...")],
    result: ResultOptions,
    screen: ScreenOptions,
) -> None:
    """How long the stages of vLLM-Ascend took, from what its workers log with VLLM_ASCEND_MODEL_EXECUTE_TIME_OBSERVE=1."""
    with told(screen):
        from prof_analysis import exports, stage_log
        from prof_analysis.summaries import stage

        with stage_log.open_logs(logs) as opened:
            folder = result.output_path or stage_log.folder_of(logs)
            target = folder / "cluster_analysis_output"
            written = exports.export(
                opened.connection, {}, target, stage_log.EXPORTS, result.export_type.value, opened.warnings
            )
            facts = stage.stage_facts(opened, result.top)
            if screen.as_json:
                files = [str(file) for file in written]
                print_answer(opened, files=files, summary=facts)
            else:
                stage.print_stage_facts(facts, written)
            finish(opened, screen)


@app.command(
    "step-time",
    epilog="Example: prof-analysis step-time -d ./result. Writes the table StepTime, or files and workbooks named like it.",
)
@takes_options
def step_time(chosen: InputOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """Where the time of each step went: computing, communication, both at once, neither: the StepTime table."""
    _analyse("step-time", result, screen, **chosen.chosen(), **machine.chosen())


@app.command(
    "free-time",
    epilog="Example: prof-analysis free-time -d ./result --top 20. "
    "Writes the tables FreeTime, FreeGap and FreeUntold, or files and workbooks named like them.",
)
@takes_options
def free_time(chosen: InputOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """Why the device idled: what the host did meanwhile, by cause, and the longest gaps: the FreeTime table."""
    _analyse("free-time", result, screen, **chosen.chosen(), **machine.chosen())


@app.command(
    "pmu-stats",
    epilog="Example: prof-analysis pmu-stats -d ./result --level module. "
    "Writes the tables PmuKernelType, PmuOp, PmuModule and PmuMetric, or files and workbooks named so.",
)
@takes_options
def pmu_stats(
    chosen: InputOptions,
    modules: ModuleOptions,
    counters: PmuOptions,
    result: ResultOptions,
    machine: MachineOptions,
    screen: ScreenOptions,
) -> None:
    """Hardware counters: how busy the pipes of the cores were, and what bounds each kernel type, op and module."""
    options = {**chosen.chosen(), **modules.chosen(), **machine.chosen()}
    _analyse("pmu-stats", result, screen, shown={"level": counters.level.name}, **options)


@app.command(
    "mstx-stats",
    epilog="Example: prof-analysis mstx-stats -d ./result. "
    "Writes the tables MstxStatistic and MstxStepStatistic, or files and workbooks named like them.",
)
@takes_options
def mstx_stats(chosen: InputOptions, result: ResultOptions, machine: MachineOptions, screen: ScreenOptions) -> None:
    """mstx marks and ranges by domain and message: host and device time, and the kernels launched inside."""
    _analyse("mstx-stats", result, screen, **chosen.chosen(), **machine.chosen())


@app.command("ranks", epilog="Example: prof-analysis ranks -d ./result")
@takes_options
def ranks(chosen: PathOption, as_json: AsJson = False, debug: Debug = False) -> None:
    """What was found: folders, ranks, files, what they can answer, and what was not collected."""
    from prof_analysis.summaries import listing

    with _opened(ScreenOptions(as_json, quiet=True, debug=debug), **chosen.chosen()) as profile:
        rows = profile.ranks(arrow=True).to_pylist()
        if as_json:
            print_json(status="done", ranks=rows)
        else:
            listing.print_ranks(rows)


@app.command("tables", epilog="Example: prof-analysis tables module.kernel")
def tables(
    name: Annotated[str | None, typer.Argument(help="Only this table, or the tables of this schema.")] = None,
    as_json: AsJson = False,
) -> None:
    """The tables that `sql` and Profile.table() know, with every column."""
    from prof_analysis.summaries import listing
    from prof_analysis.tables import documented_tables

    chosen = [
        table for table in documented_tables().values() if name is None or name in (table.name, table.name.partition(".")[0])
    ]
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
    chosen: InputOptions,
    modules: ModuleOptions,
    machine: MachineOptions,
    screen: ScreenOptions,
) -> None:
    """The answer of a query, always over all ranks."""
    from prof_analysis.summaries import listing

    with _opened(screen, **chosen.chosen(), **modules.chosen(), **machine.chosen()) as profile:
        answer = profile.sql(query, arrow=True)
        if screen.as_json:
            print_answer(profile, rows=answer.to_pylist())
        else:
            listing.print_rows(answer)
        finish(profile, screen)


store_app = typer.Typer(name="store", help="What --store keeps, to look at or to remove.", no_args_is_help=True)
app.add_typer(store_app)
StoreFolder = Annotated[Path, typer.Option("--store", help="The folder that was given to --store.")]


@store_app.command("ls", epilog="Example: prof-analysis store ls --store ./kept")
def list_store(store: StoreFolder, as_json: AsJson = False) -> None:
    """The ranks that a store keeps, their tables and size, and whether their input is still the same."""
    from prof_analysis.store import entries
    from prof_analysis.summaries import listing

    kept = list(entries(store))
    if as_json:
        print_json(status="done", entries=[{**vars(entry), "folder": str(entry.folder)} for entry in kept])
    else:
        listing.print_store(kept)


@store_app.command("clear", epilog="Example: prof-analysis store clear --store ./kept")
def clear_store(store: StoreFolder, as_json: AsJson = False) -> None:
    """Remove what a store keeps, and nothing else in its folder."""
    from prof_analysis.store import clear

    with told(ScreenOptions(as_json)):
        removed = clear(store)
    size = sum(entry.size_bytes for entry in removed)
    if as_json:
        print_json(status="done", removed=[str(entry.folder) for entry in removed], size_bytes=size)
    else:
        print(f"removed {len(removed)} entries, {size:,} bytes")


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
    except KeyboardInterrupt:  # while the commands are made, before any of them begins
        report("interrupted", "--json" in sys.argv)
        sys.exit(INTERRUPTED)


def _analyse(
    command: str,
    result: ResultOptions,
    screen: ScreenOptions,
    summary: str | None = None,
    shown: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Write the tables of an analysis and print its summary, or another one; `shown` says what the summary is about."""
    with _opened(screen, **options) as profile:
        from prof_analysis.summaries import SUMMARIES

        facts_of, print_facts = SUMMARIES[summary or command]
        written = profile.export(result.output_path, result.export_type.value, command)
        facts = facts_of(profile, result.top, **(shown or {}))
        if screen.as_json:
            print_answer(profile, files=[str(file) for file in written], summary=facts)
        else:
            print_facts(facts, written)
        finish(profile, screen)


@contextmanager
def _opened(screen: ScreenOptions, path: Path, **options: Any) -> "Iterator[Profile]":
    """A profile to ask; an error of the package is one line and the documented exit code."""
    warnings.simplefilter("ignore", ProfAnalysisWarning)
    with told(screen):
        from prof_analysis.profile import Profile

        with progress(screen.quiet) as on_progress, Profile(path, on_progress=on_progress, **options) as profile:
            yield profile
