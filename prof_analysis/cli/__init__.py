"""The command `prof-analysis`: it calls the API and prints. Results go to stdout, progress and problems to stderr."""

import atexit
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from prof_analysis.analyses import ANALYSES
from prof_analysis.cli.ending import (
    INTERRUPTED,
    TERMINATED,
    UntakenError,
    clean_up,
    end_at_sigterm,
    guard_streams,
    interruption,
)
from prof_analysis.cli.help import show_all_options
from prof_analysis.cli.options import Lang
from prof_analysis.cli.plain_values import read_plainly
from prof_analysis.cli.screen import DONE, OUTPUT_ERROR, USAGE_OR_INPUT_ERROR, remember, tell
from prof_analysis.cli.screen import report as report_error  # The module of a command has the name `report`.
from prof_analysis.cli.speaking import speak
from prof_analysis.cli.usage import said_of
from prof_analysis.common.old_words import command_line_in_new_words
from prof_analysis.common.version import __version__
from prof_analysis.languages import choose, without_language

# How many objects are made between two looks for cycles of garbage; with Python's 700 the imports take a fifth longer.
_OBJECTS_BETWEEN_LOOKS = 200_000
# The exit code, once it is known.
_ending_with: list[int] = []


class _Commands(typer.core.TyperGroup):
    """The commands; a wrong word is reported like every other error: in one line, or as JSON."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run a command line and exit."""
        given = args[0] if args else options.pop("args", None)
        words = self._with_path(command_line_in_new_words(sys.argv[1:] if given is None else given))
        if "--help-all" in words:
            show_all_options()
            words = ["--help" if word == "--help-all" else word for word in words]
        remember(words, self._command_of(words))
        choose(words)
        if words and not without_language(words):
            words = [*words, "--help"]
        try:
            code = super().main(words, *args[1:], **{"prog_name": self.name, **options, "standalone_mode": False})
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            if message := said_of(error):  # A group without a command has printed its help.
                report_error(message, "--json" in words)
            sys.exit(USAGE_OR_INPUT_ERROR)
        if code == INTERRUPTED:  # of a command, or of typer when a second interrupt ends the handling of the first
            code, said = interruption()
            report_error(said, "--json" in words)
        sys.exit(code)

    def _with_path(self, words: list[str]) -> list[str]:
        """Return the words with `diagnose` before a path that comes first, and with -d before paths that come first behind sql.

        A command of the same name comes before a path.
        """
        command, *others = words or [""]
        if command in ("sql", "table") and not {"-d", "--profiling-path"} & set(others):
            paths = list(takewhile(lambda word: _is_path([word]), others))
            return [command, *(word for path in paths for word in ("-d", path)), *others[len(paths) :]]
        return ["diagnose", *words] if _is_path(words) and not self._command_of([command]) else words

    def _command_of(self, words: Sequence[str]) -> list[str]:
        """Return the words that name a command, as it is called; none where the first word names none."""
        found: list[str] = []
        within: Any = self
        for word in words:
            within = getattr(within, "commands", {}).get(word.replace("_", "-"))
            if within is None:
                break
            found.append(within.name)
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help: the commands, each with its question."""
        speak(self, [self, *self.commands.values(), *self.get_params(ctx)])
        super().format_help(ctx, formatter)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options; flags without the word for a value."""
        params = super().get_params(ctx)
        for one in params:
            read_plainly(one)
            if getattr(one, "is_flag", False):
                one.metavar = ""
        return params


def _is_path(words: Sequence[str]) -> bool:
    """Return whether the first word is a path that is there."""
    # Path.exists() raises where a word is too long to be one.
    return bool(words) and not words[0].startswith("-") and os.path.exists(words[0])  # noqa: PTH110


_EPILOG = """\
Begin with (result is the folder of a profile):
  prof-analysis result
  prof-analysis advise result
  prof-analysis report result
Options and examples of a command: prof-analysis COMMAND --help

Exit codes: 0 done; 1 done, but some ranks failed; 2 wrong words or input;
3 the output could not be written; 130 interrupted; 143 terminated."""
# The modules of commands in the order of the help, each with its commands.
_MODULES: Mapping[str, Sequence[str]] = {
    "analyses": (*ANALYSES, "stage-durations"),
    "compare": ("compare",),
    "listing": ("ranks", "cache"),
    "tables": ("tables",),
    "table": ("table",),
    "query": ("sql",),
    "testing": ("test",),
    "collecting": ("collect",),
    "report": ("report",),
    "timeline": ("timeline",),
    "verify": ("verify",),
}


def _print_version(is_asked: bool) -> None:
    """Print the version at once."""
    if is_asked:
        print(f"prof-analysis {__version__}")
        raise typer.Exit


def app_of(word: str = "") -> typer.Typer:
    """Return the app with the command alone that the first word of a command line means, if it means one; else with all.

    To make the options of all commands takes 25 ms, a twentieth of a question that was asked before.
    """
    made = typer.Typer(
        cls=_Commands,
        name="prof-analysis",
        epilog=_EPILOG,
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={
            "token_normalize_func": lambda token: token.replace("_", "-"),
            "help_option_names": ["-h", "--help"],
        },
    )

    @made.callback(invoke_without_command=True)
    def main(
        version: Annotated[
            bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
        ] = False,
        lang: Lang = None,
    ) -> None:
        """Where does the time go on the device, and why? Answers from profiles of PyTorch on Ascend NPUs, and on GPUs."""

    name = word.replace("_", "-")
    if _is_path([word]) and not any(name in commands for commands in _MODULES.values()):
        name = "diagnose"
    for module in [module for module, commands in _MODULES.items() if name in commands] or _MODULES:
        commands = import_module(f"{__name__}.{module}")
        made.add_typer(commands.app_of(name) if module == "analyses" else commands.app)
    return made


def run() -> None:
    """Run the command `prof-analysis`."""
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    guard_streams()
    end_at_sigterm()
    atexit.register(_end_at_once)
    try:
        try:
            app_of(*sys.argv[1:2])()
        finally:
            sys.stdout.flush()  # Of a short answer, only this shows that it cannot be written.
    except UntakenError as error:
        if not error.is_closed:
            tell("error", str(error))
        _end_with(DONE if error.is_closed else OUTPUT_ERROR)
    except SystemExit as end:
        if end.code in (INTERRUPTED, TERMINATED):
            clean_up()
            _leave(end.code)
        if isinstance(end.code, int):
            _end_with(end.code)
        raise
    except (KeyboardInterrupt, typer.Abort):  # while the commands are set up, or a second time
        code, said = interruption()
        clean_up()
        report_error(said, "--json" in sys.argv)
        _leave(code)


def _end_with(code: int) -> NoReturn:
    _ending_with.append(code)
    sys.exit(code)


def _end_at_once() -> None:
    """End the process after the command's last work: Python would take 0.1 s to free memory that the system frees at once."""
    if _ending_with:
        _leave(_ending_with[0])


def _leave(code: int) -> NoReturn:
    """End the process even if threads that still read a file would keep it alive."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if TYPE_CHECKING:
    app: typer.Typer


def __getattr__(name: str) -> Any:
    """Make the app with all commands where it is asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = app_of()
    return globals()[name]
