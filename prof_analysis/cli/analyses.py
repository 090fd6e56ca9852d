"""The commands of analyses: each writes the tables of its analysis and prints a summary."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.analysis import WHERE
from prof_analysis.analyses.answer import Answer
from prof_analysis.analyses.answering import options_of
from prof_analysis.cli.answers import own_parameters, rows_and_options
from prof_analysis.cli.help import AnalysisCommand
from prof_analysis.cli.options import Anonymize, ProfilePath, ResultOptions, ScreenOptions, takes_options
from prof_analysis.cli.screen import exit_on_error, finish, opened, show
from prof_analysis.common.errors import InputError
from prof_analysis.common.options import Keywords
from prof_analysis.exports import check_type


def app_of(name: str) -> typer.Typer:
    """Return an app with the command of this analysis alone; where there is none of this name, with all."""
    app = typer.Typer()
    for command in (name,) if name in ANALYSES else ANALYSES:
        about = ANALYSES[command]
        app.command(command, cls=AnalysisCommand, help=about.meaning, rich_help_panel=about.heading)(_command_of(command))
    if name not in ANALYSES:
        app.command("stage-durations", cls=AnalysisCommand, rich_help_panel=WHERE)(takes_options(_stage_durations))
    return app


def _command_of(name: str) -> Callable[..., None]:
    """Return the command of an analysis: its answer may have options, and rows to choose from."""
    analysis = ANALYSES[name]
    of_answer = options_of(name)

    def command(path: ProfilePath, options: Keywords, result: ResultOptions, screen: ScreenOptions, **own: Any) -> None:
        remark = None
        if "requests" in analysis.extras and not options.get("requests"):
            records, remark = _service_results(path)
            options = {**options, "requests": records}
        by, known = rows_and_options(of_answer, own, options)
        extra = None if by is None else analysis.rows[by].extra
        extras = [*([extra] if extra else ()), *(one for one in analysis.extras if known.get(one))]
        shown = known | ({} if by is None else {"by": by})
        _analyse(name, path, options, result, screen, shown, tuple(extras), remark)

    return takes_options(command, analysis.options, own_parameters(analysis, of_answer))


def _service_results(paths: Sequence[Path]) -> tuple[Any, str | None]:
    """Return the results of msServiceProfiler beside a profile, if any, and why they cannot be read."""
    from prof_analysis.common.service_results import beside, read_folder

    if (folder := beside(paths)) is None:
        return None, None
    try:
        return read_folder(folder), None
    except InputError as error:
        return None, f"{error}; the passes are shown without it"


def _stage_durations(
    logs: Annotated[list[str], typer.Argument(help="Logs of vLLM-Ascend, plain or .gz; - is standard input.", metavar="LOG")],
    result: ResultOptions,
    screen: ScreenOptions,
    anonymize: Anonymize = False,
) -> None:
    """How long did the stages of vLLM-Ascend take?

    Reads logs that were written with VLLM_ASCEND_MODEL_EXECUTE_TIME_OBSERVE=1, or by newer versions with
    enable_logging_iteration_details of ObservabilityConfig, and needs no profile.
    """
    with exit_on_error(screen):
        from prof_analysis import exports
        from prof_analysis.common.cluster_database import ANONYMOUS_OUTPUT_FOLDER, OUTPUT_FOLDER
        from prof_analysis.exports.provenance import Origin
        from prof_analysis.logs import vllm_stages as stage_log
        from prof_analysis.logs.answer import stage_durations as answer_of
        from prof_analysis.profile.command import command_line
        from prof_analysis.sources.rank import readable

        with stage_log.open_logs(logs, anonymize) as opened:

            def export(folder: Path | None, export_type: str) -> list[Path]:
                target = (folder or stage_log.folder_of(logs)) / (ANONYMOUS_OUTPUT_FOLDER if anonymize else OUTPUT_FOLDER)
                check_type(export_type, "stage-durations")
                inputs = tuple(opened.shown(readable(Path(log))) for log in logs)
                origin = Origin(inputs, is_anonymous=anonymize, command=command_line(anonymize))
                roots = [stage_log.folder_of([log]) for log in logs]
                answers = {"": answer_of(opened, exports.IN_WORKBOOK)} if export_type in exports.WORKBOOK else {}
                return exports.export(
                    opened.connection,
                    (),
                    target,
                    stage_log.EXPORTS,
                    export_type,
                    opened.warnings,
                    origin,
                    roots=roots,
                    answers=answers,
                )

            written = result.write(export, opened.shown)
            show({"": answer_of(opened, result.top)}, written, screen)
            finish(opened, screen, written)


def _analyse(
    command: str,
    paths: Sequence[Path],
    options: Keywords,
    result: ResultOptions,
    screen: ScreenOptions,
    shown: Mapping[str, Any] | None = None,
    extras: tuple[str, ...] = (),
    remark: str | None = None,
) -> None:
    """Write the tables of an analysis and its extras, and print its answer; `shown` has the options of the answer.

    `remark` is a warning about what lies beside the profile.
    """
    with opened(screen, paths, options) as profile:
        if remark is not None:
            profile.warn(remark)
        from prof_analysis.analyses.answering import answer_of, answer_over_runs

        export_type = str(result.export_type or "db")
        check_type(export_type, command)
        by = (shown or {}).get("by")
        profile.prepare(command, extras, export_type, is_written=result.is_written, by=by)
        written = result.write(
            lambda folder, export_type: profile.export(folder, export_type, command, extras), profile.anonymous
        )
        # Of runs without rows only where no run has some.
        answers: dict[str, Answer] = {}
        of_nothing: dict[str, Answer] = {}
        for run in profile.runs or ("",):
            with profile.only(run) if run else nullcontext():
                chosen = answers if profile.has_answer(command) else of_nothing
                chosen[run] = answer_of(profile, command, result.top, **(shown or {}))
        over_runs = answer_over_runs(profile, command) if answers and not by else None
    # Print after the progress bar is gone.
    show(answers or of_nothing, written, screen, over_runs)
    finish(profile, screen, written)
