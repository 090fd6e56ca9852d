"""The commands of analyses: each writes the tables of its analysis and prints a summary."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from prof_analysis.cli.help import AnalysisCommand
from prof_analysis.cli.options import (
    AcrossRanks,
    InputOptions,
    MfuLevel,
    MfuOptions,
    ModuleOptions,
    PmuOptions,
    ProfilePath,
    ResultOptions,
    ScreenOptions,
    SourceOptions,
    WithPmu,
    takes_options,
)
from prof_analysis.cli.screen import exit_on_error, finish, opened, show
from prof_analysis.options import Keywords

app = typer.Typer()


@app.command("module-stats", cls=AnalysisCommand, epilog="Example: prof-analysis module-stats -d ./result --export_type db.")
@takes_options
def module_stats(
    path: ProfilePath,
    options: ModuleOptions,
    result: ResultOptions,
    screen: ScreenOptions,
    across_ranks: AcrossRanks = False,
    pmu: WithPmu = False,
) -> None:
    """Show kernel time by module, op and kernels (table ModuleStatistic)."""
    shown = {"across_ranks": across_ranks, "pmu": pmu}
    _analyse("module-stats", path, options, result, screen, shown, extras=("pmu",) if pmu else ())


@app.command("kernel-stats", cls=AnalysisCommand, epilog="Example: prof-analysis kernel-stats -d ./result.")
@takes_options
def kernel_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Show kernel time by type and core, per rank and over all ranks (table KernelStatistic)."""
    _analyse("kernel-stats", path, options, result, screen)


@app.command("op-stats", cls=AnalysisCommand, epilog="Example: prof-analysis op-stats -d ./result.")
@takes_options
def op_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Show host and device time by framework op and input shapes, per rank and over all ranks (table OpStatistic)."""
    _analyse("op-stats", path, options, result, screen)


@app.command("communication-stats", cls=AnalysisCommand, epilog="Example: prof-analysis communication-stats -d ./result.")
@takes_options
def communication_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Show communication time by op type and group, per rank and over all ranks (table CommunicationStatistic)."""
    _analyse("communication-stats", path, options, result, screen)


@app.command("communication-time", cls=AnalysisCommand, epilog="Example: prof-analysis communication-time -d ./result.")
@takes_options
def communication_time(path: ProfilePath, options: ModuleOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Split communication into transfer, wait and idle time: by operator, group, module, rank and link."""
    _analyse("communication-time", path, options, result, screen)


@app.command("slow-ranks", cls=AnalysisCommand, epilog="Example: prof-analysis slow-ranks -d ./result.")
@takes_options
def slow_ranks(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Find the rank or pipeline stage that makes the others wait, with the evidence."""
    _analyse("slow-ranks", path, options, result, screen)


@app.command("mfu", cls=AnalysisCommand, epilog="Example: prof-analysis mfu -d ./result --level op.")
@takes_options
def mfu(
    path: ProfilePath,
    options: MfuOptions,
    shown: MfuLevel,
    result: ResultOptions,
    screen: ScreenOptions,
) -> None:
    """Show Model FLOPs utilisation: how well the matrix products use the cube cores."""
    level = shown.level and shown.level.value
    _analyse("mfu", path, options, result, screen, {"level": level})


@app.command("layer-stats", cls=AnalysisCommand, epilog="Example: prof-analysis layer-stats -d ./result.")
@takes_options
def layer_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Find the layers of a model in the sequence of its kernels, and show their time by position and by layer."""
    _analyse("layer-stats", path, options, result, screen)


@app.command("graph-overhead", cls=AnalysisCommand, epilog="Example: prof-analysis graph-overhead -d ./result.")
@takes_options
def graph_overhead(path: ProfilePath, options: SourceOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Show what calls of compiled graphs (TorchAir) cost on the host: front end, TorchAir, graph engine."""
    _analyse("graph-overhead", path, options, result, screen)


@app.command(
    "stage-durations",
    cls=AnalysisCommand,
    epilog="Example: prof-analysis stage-durations server.log.gz; or as serve | prof-analysis stage-durations - -o ./result.",
)
@takes_options
def stage_durations(
    logs: Annotated[
        list[str], typer.Argument(help="Logs of vLLM-Ascend, plain or .gz; - is standard input.", metavar="LOG...")
    ],
    result: ResultOptions,
    screen: ScreenOptions,
) -> None:
    """Show how long the stages of vLLM-Ascend took, from logs written with VLLM_ASCEND_MODEL_EXECUTE_TIME_OBSERVE=1."""
    with exit_on_error(screen):
        from prof_analysis import exports
        from prof_analysis.answers.stage import stage_durations as answer_of
        from prof_analysis.logs import vllm_stages as stage_log

        with stage_log.open_logs(logs) as opened:
            folder = result.output_path or stage_log.folder_of(logs)
            target = folder / "cluster_analysis_output"
            written = exports.export(
                opened.connection, (), target, stage_log.EXPORTS, result.export_type.value, opened.warnings
            )
            show({"": answer_of(opened, result.top)}, written, screen)
            finish(opened, screen)


@app.command("step-time", cls=AnalysisCommand, epilog="Example: prof-analysis step-time -d ./result.")
@takes_options
def step_time(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Show where the time of each step went: computing, communication, both at once, neither (table StepTime)."""
    _analyse("step-time", path, options, result, screen)


@app.command("free-time", cls=AnalysisCommand, epilog="Example: prof-analysis free-time -d ./result --top 20.")
@takes_options
def free_time(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Explain why the device was idle: what the host did meanwhile, by cause, and the longest gaps (table FreeTime)."""
    _analyse("free-time", path, options, result, screen)


@app.command("pmu-stats", cls=AnalysisCommand, epilog="Example: prof-analysis pmu-stats -d ./result --level module.")
@takes_options
def pmu_stats(
    path: ProfilePath,
    options: ModuleOptions,
    counters: PmuOptions,
    result: ResultOptions,
    screen: ScreenOptions,
) -> None:
    """Show hardware counters: how busy the pipes of the cores were, and what bounds each kernel type, op and module."""
    _analyse("pmu-stats", path, options, result, screen, {"level": counters.level.name})


@app.command("mstx-stats", cls=AnalysisCommand, epilog="Example: prof-analysis mstx-stats -d ./result.")
@takes_options
def mstx_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Show mstx marks and ranges by domain and message: host and device time, and the kernels launched inside."""
    _analyse("mstx-stats", path, options, result, screen)


def _analyse(
    command: str,
    path: Path,
    options: Keywords,
    result: ResultOptions,
    screen: ScreenOptions,
    shown: Mapping[str, Any] | None = None,
    extras: tuple[str, ...] = (),
) -> None:
    """Write the tables of an analysis and its extras, and print its answer; `shown` has the options of the answer."""
    with opened(screen, path, options) as profile:
        from prof_analysis.answers import answer_of

        written = profile.export(result.output_path, result.export_type.value, command, extras)
        answers = {}
        for run in profile.runs:
            with profile.only(run):
                if profile.has_answer(command):
                    answers[run] = answer_of(profile, command, result.top, **(shown or {}))
        answers = answers or {"": answer_of(profile, command, result.top, **(shown or {}))}
    # Print after the progress bar is gone.
    show(answers, written, screen)
    finish(profile, screen)
