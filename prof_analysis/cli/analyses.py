"""The commands of analyses: each writes the tables of its analysis and prints a summary."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from prof_analysis.analyses import ANALYSES
from prof_analysis.cli.help import REASON, REASONS, TIME, AnalysisCommand, epilog_of
from prof_analysis.cli.options import (
    AcrossRanks,
    Anonymize,
    KernelBy,
    KernelRow,
    MemoryOptions,
    MfuLevel,
    OfModule,
    PmuOptions,
    ProfilePath,
    ResultOptions,
    ScreenOptions,
    SlowRankBy,
    SlowRankRow,
    Sort,
    SourceLine,
    StackOptions,
    WithPmu,
    takes_options,
)
from prof_analysis.cli.screen import exit_on_error, finish, opened, show
from prof_analysis.common.options import Keywords

app = typer.Typer()


def _module_stats(
    path: ProfilePath,
    options: Keywords,
    result: ResultOptions,
    screen: ScreenOptions,
    across_ranks: AcrossRanks = False,
    pmu: WithPmu = False,
    module: OfModule = None,
    source_line: SourceLine = False,
) -> None:
    shown = {"across_ranks": across_ranks, "pmu": pmu, "module": module, "source_line": source_line}
    extras = tuple(name for name, is_chosen in (("pmu", pmu), ("source-line", source_line)) if is_chosen)
    _analyse("module-stats", path, options, result, screen, shown, extras)


def _op_stats(
    path: ProfilePath,
    options: Keywords,
    result: ResultOptions,
    screen: ScreenOptions,
    sort: Sort = None,
    source_line: SourceLine = False,
) -> None:
    extras = ("source-line",) if source_line else ()
    _analyse("op-stats", path, options, result, screen, {"sort": sort, "source_line": source_line}, extras)


def _kernel_stats(
    path: ProfilePath,
    options: Keywords,
    result: ResultOptions,
    screen: ScreenOptions,
    by: KernelBy = KernelRow.type,
    sort: Sort = None,
) -> None:
    extras = () if by is KernelRow.type else (f"by {by.value}",)
    _analyse("kernel-stats", path, options, result, screen, {"by": by.value, "sort": sort}, extras)


def _slow_ranks(
    path: ProfilePath,
    options: Keywords,
    result: ResultOptions,
    screen: ScreenOptions,
    by: SlowRankBy = SlowRankRow.rank,
) -> None:
    extras = () if by is SlowRankRow.rank else (f"by {by.value}",)
    _analyse("slow-ranks", path, options, result, screen, {"by": by.value}, extras)


def _mfu(path: ProfilePath, options: Keywords, shown: MfuLevel, result: ResultOptions, screen: ScreenOptions) -> None:
    level = shown.level and shown.level.value
    _analyse("mfu", path, options, result, screen, {"level": level})


def _pmu_stats(
    path: ProfilePath, options: Keywords, counters: PmuOptions, result: ResultOptions, screen: ScreenOptions
) -> None:
    _analyse("pmu-stats", path, options, result, screen, {"level": counters.level.name})


def _memory(path: ProfilePath, options: Keywords, shown: MemoryOptions, result: ResultOptions, screen: ScreenOptions) -> None:
    _analyse("memory", path, options, result, screen, {"level": shown.level.name})


def _stacks(
    path: ProfilePath,
    options: Keywords,
    shown: StackOptions,
    result: ResultOptions,
    screen: ScreenOptions,
    sort: Sort = None,
) -> None:
    of_answer = {"level": shown.level.name, "sort": sort, "module": options.get("module")}
    _analyse("stacks", path, options, result, screen, of_answer)


def _api_stats(path: ProfilePath, options: Keywords, result: ResultOptions, screen: ScreenOptions, sort: Sort = None) -> None:
    _analyse("api-stats", path, options, result, screen, {"sort": sort})


def _command_of(name: str) -> Callable[..., None]:
    """Return the command of an analysis without options of its own."""

    def command(path: ProfilePath, options: Keywords, result: ResultOptions, screen: ScreenOptions) -> None:
        _analyse(name, path, options, result, screen)

    return command


# Commands with options of their own.
_WITH_OPTIONS: Mapping[str, Callable[..., None]] = {
    "module-stats": _module_stats,
    "kernel-stats": _kernel_stats,
    "op-stats": _op_stats,
    "api-stats": _api_stats,
    "slow-ranks": _slow_ranks,
    "mfu": _mfu,
    "pmu-stats": _pmu_stats,
    "memory": _memory,
    "stacks": _stacks,
}
for _name, _analysis in ANALYSES.items():
    app.command(
        _name,
        cls=AnalysisCommand,
        help=_analysis.meaning,
        epilog=epilog_of(_name),
        rich_help_panel=REASON if _name in REASONS else TIME,
    )(takes_options(_WITH_OPTIONS.get(_name) or _command_of(_name), _analysis.options))


@app.command("stage-durations", cls=AnalysisCommand, epilog=epilog_of("stage-durations"), rich_help_panel=TIME)
@takes_options
def stage_durations(
    logs: Annotated[list[str], typer.Argument(help="Logs of vLLM-Ascend, plain or .gz; - is standard input.", metavar="LOG")],
    result: ResultOptions,
    screen: ScreenOptions,
    anonymize: Anonymize = False,
) -> None:
    """How long did the stages of vLLM-Ascend take?

    Reads logs that were written with VLLM_ASCEND_MODEL_EXECUTE_TIME_OBSERVE=1, and needs no profile.
    """
    with exit_on_error(screen):
        from prof_analysis import exports
        from prof_analysis.exports.provenance import ANONYMOUS_OUTPUT_FOLDER, OUTPUT_FOLDER, Origin
        from prof_analysis.logs import vllm_stages as stage_log
        from prof_analysis.logs.answer import stage_durations as answer_of
        from prof_analysis.profile.command import command_line
        from prof_analysis.profile.exporting import check_type
        from prof_analysis.sources.rank import readable

        with stage_log.open_logs(logs, anonymize) as opened:

            def export(folder: Path | None, export_type: str) -> list[Path]:
                target = (folder or stage_log.folder_of(logs)) / (ANONYMOUS_OUTPUT_FOLDER if anonymize else OUTPUT_FOLDER)
                check_type(export_type, "stage-durations")
                origin = Origin(
                    tuple(opened.shown(readable(Path(log))) for log in logs),
                    is_anonymous=anonymize,
                    command=command_line(anonymize),
                )
                return exports.export(opened.connection, (), target, stage_log.EXPORTS, export_type, opened.warnings, origin)

            written = result.write(export, opened.shown)
            show({"": answer_of(opened, result.top)}, written, screen)
            finish(opened, screen, written)


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
        from prof_analysis.analyses.answers import answer_of
        from prof_analysis.profile.exporting import check_type

        export_type = str(result.export_type or "db")
        check_type(export_type, command)
        profile.prepare(command, extras, export_type)
        written = result.write(
            lambda folder, export_type: profile.export(folder, export_type, command, extras), profile.anonymous
        )
        answers = {}
        for run in profile.runs:
            with profile.only(run):
                if profile.has_answer(command):
                    answers[run] = answer_of(profile, command, result.top, **(shown or {}))
        answers = answers or {"": answer_of(profile, command, result.top, **(shown or {}))}
    # Print after the progress bar is gone.
    show(answers, written, screen)
    finish(profile, screen, written)
