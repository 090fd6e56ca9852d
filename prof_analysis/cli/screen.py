"""Output of the command beside answers: JSON, a progress bar, problems in one line each; and the exit codes."""

import json
import math
import os
import shutil
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from prof_analysis.cli.ending import INTERRUPTED
from prof_analysis.cli.options import ScreenOptions, Written
from prof_analysis.common.errors import OutputError, ProfAnalysisError, ProfAnalysisWarning
from prof_analysis.common.options import Keywords
from prof_analysis.common.version import SCHEMA_VERSION
from prof_analysis.common.visible import visible, visible_json, visible_lines
from prof_analysis.languages import said

if TYPE_CHECKING:
    from prof_analysis.analyses.answer import Answer
    from prof_analysis.cli.terminal import View
    from prof_analysis.logs.vllm_stages import StageLogs
    from prof_analysis.profile.profile import Profile

# What the progress bar says while ranks are read and their tables built, and then.
_OF_RANKS, _OVER_RANKS = "reading ranks", "joining ranks"
DONE = 0
SOME_RANKS_FAILED = 1
USAGE_OR_INPUT_ERROR = 2
OUTPUT_ERROR = 3


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar over the work on all ranks on stderr, unless quiet or stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(said(_OF_RANKS), total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, description=said(_OF_RANKS if done < total else _OVER_RANKS), completed=done, total=total)

        yield show


@contextmanager
def exit_on_error(screen: ScreenOptions) -> Iterator[list[str]]:
    """End the command at an error of this package, in one line and with its exit code; warnings put into the list follow it."""
    found: list[str] = []
    try:
        yield found
    except ProfAnalysisError as error:
        if screen.debug:
            print(visible_lines(_anonymous(traceback.format_exc())), end="", file=sys.stderr)
        fail(str(error), OUTPUT_ERROR if isinstance(error, OutputError) else USAGE_OR_INPUT_ERROR, screen.as_json, found)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except RuntimeError as error:
        if str(error) != "Query interrupted":  # DuckDB's text for an interrupt
            raise
        raise typer.Exit(INTERRUPTED) from None


def finish_files(profile: "Profile", screen: ScreenOptions, written: Written) -> None:
    """End a command whose answer is files: name them once the progress bar is gone, then end as finish() does."""
    if screen.as_json:
        print_answer(profile, written)
    else:
        from prof_analysis.cli import terminal

        terminal.print_files(written.files)
    finish(profile, screen, written)


def finish(profile: "Profile | StageLogs", screen: ScreenOptions, written: Written | None = None) -> None:
    """Print warnings and failures; exit with 3 where a file could not be written, with 1 where some ranks failed."""
    if not screen.as_json:
        for warning in profile.warnings:
            tell("warning", warning)
        for failure in profile.failures:
            tell("failed", failure)
    if screen.debug:
        print(*map(visible_lines, profile.details), sep="\n", file=sys.stderr)
    if written is not None and written.problem is not None:
        if not screen.as_json:
            tell("error", str(written.problem))
        raise typer.Exit(OUTPUT_ERROR)
    if profile.failures:
        raise typer.Exit(SOME_RANKS_FAILED)


def fail(message: str, exit_code: int, as_json: bool, found: Sequence[str] = ()) -> NoReturn:
    """Print a problem and the warnings that may explain it, and end the command."""
    report(message, as_json, found)
    raise typer.Exit(exit_code)


def report(message: str, as_json: bool, found: Sequence[str] = ()) -> None:
    """Print a problem in one line, or as JSON, and then the warnings, if any."""
    message = _anonymous(message)
    if as_json:
        print_json(status="error", message=message, warnings=list(found))
        return
    tell("error", message)
    for warning in found:
        tell("warning", warning)


# The command line, where it says --anonymize.
_anonymous_words: list[str] = []
# The words of the command that runs, such as cache, ls.
_command: list[str] = []


def remember(words: Sequence[str], command: Sequence[str]) -> None:
    """Put the command into JSON from now on, and replace secrets in problems if the command line says so.

    What opens a profile replaces secrets by itself.
    """
    _anonymous_words[:] = words if "--anonymize" in words else ()
    _command[:] = command


def _anonymous(text: str) -> str:
    if not _anonymous_words:
        return text
    from prof_analysis.anonymous.texts import Anonymous

    found = Anonymous()
    for number, word in enumerate(_anonymous_words, 1):
        _, _, value = word.rpartition("=") if word.startswith("-") else ("", "", word)
        if len(value) > 2 and (os.sep in value or Path(value).exists()):
            found.add_folder(Path(value), f"path{number}")
    return found.shown(text)


def tell(*parts: str) -> None:
    """Print a sentence, behind the word for what it is, to stderr in one line; on a terminal, lines end between words."""
    line = visible(": ".join(map(said, parts)))
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
    print(line, file=sys.stderr)


def print_answer(answer: "Answer | Profile", written: Written | None = None, **content: Any) -> None:
    """Print an answer as JSON, with the files written, or why they could not be, and its warnings and failures."""
    found = {"warnings": list(answer.warnings), "failures": list(answer.failures)}
    files = {} if written is None else {"files": [str(file) for file in written.files]}
    if written is not None and written.problem is not None:
        print_json(status="error", message=str(written.problem), **files, **content, **found)
    else:
        print_json(status="partial" if answer.failures else "done", **files, **content, **found)


def show(answers: "Mapping[str, Answer]", written: Written, screen: ScreenOptions, over_runs: "Answer | None" = None) -> None:
    """Print the answer of each run, by its name, that over all runs, and the files written, for the terminal or as JSON."""
    *_, last = answers
    if screen.as_json:
        facts = {run: answer.facts for run, answer in answers.items()}
        together = {} if over_runs is None else {"all_runs": over_runs.facts}
        print_answer(answers[last], written, **({"summary": facts[""]} if "" in facts else {"runs": facts}), **together)
        return
    from prof_analysis.analyses.spoken import heading, spoken
    from prof_analysis.cli import terminal

    shown = {said(f"run {run}:") if run else "": answer for run, answer in answers.items()}
    if over_runs is not None and over_runs.blocks:
        shown[said("all runs:")] = over_runs
    view = view_of(screen, [header for answer in shown.values() for header in answer.headers], heading)
    titles = [*shown]
    for title, answer in shown.items():
        if title:
            print(visible(title) if title == titles[0] else f"\n{visible(title)}")
        terminal.print_answer(spoken(answer), written.files if title == titles[-1] else (), view)


def view_of(screen: ScreenOptions, headers: Sequence[str], heading: Callable[[str], str] = str) -> "View":
    """Return how the terminal shows tables with these headings; end the command where --columns names another.

    `heading` gives a heading as the table has it: in the language that is shown, where it is no name of a column.
    """
    from prof_analysis.cli.terminal import View

    if screen.columns == "all":
        return View(wide=True)
    # A heading in the language that is shown is as good as the English one.
    shown = {name: heading(name) for name in headers}
    columns = [shown.get(name.strip(), name.strip()) for name in screen.columns.split(",") if name.strip()]
    for name in columns:
        if name not in shown.values():
            known = ", ".join(shown.values())
            fail(f"--columns: there is no column {name}; the columns are {known}", USAGE_OR_INPUT_ERROR, screen.as_json)
    return View(columns=columns)


def print_json(**content: Any) -> None:
    """Print one JSON object, which begins with the version of its keys and with the command."""
    about = {"schema_version": SCHEMA_VERSION, "command": " ".join(_command) or None}
    print(visible_json(json.dumps(_plain({**about, **content}), ensure_ascii=False, default=str, allow_nan=False)))


# Most values: whole tables go through here.
_OF_JSON = (int, str, type(None))


def _plain(value: Any) -> Any:
    """Return a value of types that JSON has: null for NaN and infinity, numbers for decimals, hex digits for bytes."""
    if isinstance(value, _OF_JSON):
        return value
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):  # A whole one, such as a sum of 128 bits, stays exact.
        return int(value) if value == value.to_integral_value() else float(value)
    return value.hex() if isinstance(value, bytes) else value


@contextmanager
def opened(screen: ScreenOptions, paths: Sequence[Path], options: Keywords) -> "Iterator[Profile]":
    """Open a profile; an error of this package becomes one line and its exit code."""
    warnings.simplefilter("ignore", ProfAnalysisWarning)
    with exit_on_error(screen) as found:
        from prof_analysis.profile.profile import Profile

        with progress(screen.quiet) as on_progress:
            keywords: Keywords = {**options, "on_progress": on_progress}
            with Profile(paths, **keywords) as profile:
                try:
                    yield profile
                except ProfAnalysisError:
                    found.extend(profile.warnings)
                    raise
