"""The commands that answer a question about profiles: each writes the tables of an analysis and prints its summary."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

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
from prof_analysis.cli.screen import finish, opened, print_answer, told
from prof_analysis.options import Keywords
from prof_analysis.visible import visible

app = typer.Typer()


@app.command(
    "module-stats",
    epilog="Example: prof-analysis module-stats -d ./result --export_type db. "
    "Writes below cluster_analysis_output/: cluster_analysis.db (tables ModuleStatistic, ModuleTree, ModuleCoverage, "
    "ProfileRank, of several ranks ModuleAcrossRanks); with text or excel ModuleStatistic/module_statistic_{rank}.xlsx; "
    "else files named like the tables, as in module_statistic.csv, .parquet or .json.",
)
@takes_options
def module_stats(
    path: ProfilePath,
    options: ModuleOptions,
    result: ResultOptions,
    screen: ScreenOptions,
    across_ranks: AcrossRanks = False,
    pmu: WithPmu = False,
) -> None:
    """Kernel time by module, op and kernels: the ModuleStatistic table."""
    summary = "module-stats --across-ranks" if across_ranks else "module-stats --pmu" if pmu else None
    _analyse("module-stats", path, options, result, screen, summary, extras=("pmu",) if pmu else ())


@app.command(
    "kernel-stats",
    epilog="Example: prof-analysis kernel-stats -d ./result. "
    "Writes the tables KernelStatistic and KernelStatisticAllRanks, or files and workbooks named like them.",
)
@takes_options
def kernel_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Kernel time by type and core, per rank and over all ranks: the KernelStatistic table."""
    _analyse("kernel-stats", path, options, result, screen)


@app.command(
    "op-stats",
    epilog="Example: prof-analysis op-stats -d ./result. "
    "Writes the tables OpStatistic and OpStatisticAllRanks, or files and workbooks named like them.",
)
@takes_options
def op_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Host and device time by framework op and input shapes, per rank and over all ranks: the OpStatistic table."""
    _analyse("op-stats", path, options, result, screen)


@app.command(
    "communication-stats",
    epilog="Example: prof-analysis communication-stats -d ./result. "
    "Writes the tables CommunicationStatistic and CommunicationStatisticAllRanks, or files and workbooks named like them.",
)
@takes_options
def communication_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Communication time by op type and group, per rank and over all ranks: the CommunicationStatistic table."""
    _analyse("communication-stats", path, options, result, screen)


@app.command(
    "communication-time",
    epilog="Example: prof-analysis communication-time -d ./result. "
    "Writes the tables CommunicationTime, CommunicationGroupTime, CommunicationModuleTime, CommunicationRankTime, "
    "CommunicationLink and CommunicationGroupTimeAllRanks, or files and workbooks named like them.",
)
@takes_options
def communication_time(path: ProfilePath, options: ModuleOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Communication as transfer, wait and idle: by operator, group, module, rank and link."""
    _analyse("communication-time", path, options, result, screen)


@app.command(
    "slow-ranks",
    epilog="Example: prof-analysis slow-ranks -d ./result. "
    "Writes the tables SlowRank, SlowRankFinding, SlowRankModule and RankCommunication, or files and workbooks named so.",
)
@takes_options
def slow_ranks(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Which rank, or pipeline stage, makes the others wait, and what shows it."""
    _analyse("slow-ranks", path, options, result, screen)


@app.command(
    "mfu",
    epilog="Example: prof-analysis mfu -d ./result --level op. "
    "Writes the tables Mfu, MfuModule, MfuOp, MfuKernel, MfuAudit, OperatorMFU, ModuleMFU and MfuAllRanks, or files and "
    "workbooks named so.",
)
@takes_options
def mfu(
    path: ProfilePath,
    options: MfuOptions,
    shown: MfuLevel,
    result: ResultOptions,
    screen: ScreenOptions,
) -> None:
    """Model FLOPs utilisation: how well the matrix products use the cube cores."""
    level = shown.level and shown.level.value
    _analyse("mfu", path, options, result, screen, shown={"level": level})


@app.command(
    "layer-stats",
    epilog="Example: prof-analysis layer-stats -d ./result. "
    "Writes the tables LayerStructure, LayerPosition, LayerByIndex and Layer, or files and workbooks named like them.",
)
@takes_options
def layer_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """The layers of a model found in the sequence of its kernels, and their time by position and by layer."""
    _analyse("layer-stats", path, options, result, screen)


@app.command(
    "graph-overhead",
    epilog="Example: prof-analysis graph-overhead -d ./result. "
    "Writes the tables GraphOverhead and GraphCall, or files and workbooks named like them.",
)
@takes_options
def graph_overhead(path: ProfilePath, options: SourceOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """What calls of compiled graphs (TorchAir) cost on the host: front end, TorchAir, graph engine."""
    _analyse("graph-overhead", path, options, result, screen)


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
        from prof_analysis import exports
        from prof_analysis.cli.summaries import stage
        from prof_analysis.logs import vllm_stages as stage_log

        with stage_log.open_logs(logs) as opened:
            folder = result.output_path or stage_log.folder_of(logs)
            target = folder / "cluster_analysis_output"
            written = exports.export(
                opened.connection, (), target, stage_log.EXPORTS, result.export_type.value, opened.warnings
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
def step_time(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Where the time of each step went: computing, communication, both at once, neither: the StepTime table."""
    _analyse("step-time", path, options, result, screen)


@app.command(
    "free-time",
    epilog="Example: prof-analysis free-time -d ./result --top 20. "
    "Writes the tables FreeTime, FreeGap and FreeUnknownCause, or files and workbooks named like them.",
)
@takes_options
def free_time(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """Why the device idled: what the host did meanwhile, by cause, and the longest gaps: the FreeTime table."""
    _analyse("free-time", path, options, result, screen)


@app.command(
    "pmu-stats",
    epilog="Example: prof-analysis pmu-stats -d ./result --level module. "
    "Writes the tables PmuKernelType, PmuOp, PmuModule, PmuMetric and PmuAllRanks, or files and workbooks named so.",
)
@takes_options
def pmu_stats(
    path: ProfilePath,
    options: ModuleOptions,
    counters: PmuOptions,
    result: ResultOptions,
    screen: ScreenOptions,
) -> None:
    """Hardware counters: how busy the pipes of the cores were, and what bounds each kernel type, op and module."""
    _analyse("pmu-stats", path, options, result, screen, shown={"level": counters.level.name})


@app.command(
    "mstx-stats",
    epilog="Example: prof-analysis mstx-stats -d ./result. "
    "Writes the tables MstxStatistic and MstxStepStatistic, or files and workbooks named like them.",
)
@takes_options
def mstx_stats(path: ProfilePath, options: InputOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    """mstx marks and ranges by domain and message: host and device time, and the kernels launched inside."""
    _analyse("mstx-stats", path, options, result, screen)


def _analyse(
    command: str,
    path: Path,
    options: Keywords,
    result: ResultOptions,
    screen: ScreenOptions,
    summary: str | None = None,
    shown: Mapping[str, Any] | None = None,
    extras: tuple[str, ...] = (),
) -> None:
    """Write the tables of an analysis and its extras, and print its summary, or another one, about what `shown` says."""
    with opened(screen, path, options) as profile:
        from prof_analysis.cli.summaries import SUMMARIES

        facts_of, print_facts = SUMMARIES[summary or command]
        written = profile.export(result.output_path, result.export_type.value, command, extras)
        facts_by_run = {}
        for run in profile.runs:
            with profile.only(run):
                if profile.has_answer(command):
                    facts_by_run[run] = facts_of(profile, result.top, **(shown or {}))
        facts = facts_by_run or facts_of(profile, result.top, **(shown or {}))
    # Not before the bar is gone.
    if screen.as_json:
        print_answer(profile, files=[str(file) for file in written], summary=facts)
    elif facts_by_run:
        for position, (run, facts_of_run) in enumerate(facts_by_run.items(), 1):
            print(visible(f"run {run}:"))
            print_facts(facts_of_run, written if position == len(facts_by_run) else ())
    else:
        print_facts(facts, written)
    finish(profile, screen)
