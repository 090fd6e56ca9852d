"""Groups of options that commands share: a command takes a group as one argument and has an option for each of its fields."""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

import typer

from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answer import USUAL_ROWS
from prof_analysis.cli.values import PARSERS
from prof_analysis.common.command_line import word
from prof_analysis.common.errors import OutputError
from prof_analysis.common.option_docs import ANSWER, COMPARE, INPUT, MACHINE, MODULES, RESULT, SHOW, Doc, documented
from prof_analysis.common.options import Keywords, ProfileOptions
from prof_analysis.exports import ExportType
from prof_analysis.languages import LANGUAGES

# The groups of options, as the help has them one below the other.
_GROUPS = (INPUT, COMPARE, ANSWER, MODULES, SHOW, RESULT, MACHINE)
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts: docs/json.md.", rich_help_panel=SHOW)]
Anonymize = Annotated[
    bool,
    typer.Option(
        "--anonymize",
        help="Replace files, hosts, addresses and processes by names such as host1, in all that is shown and written.",
        rich_help_panel=SHOW,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.", rich_help_panel=SHOW)]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=SHOW)]
Language = StrEnum("Language", list(LANGUAGES))  # type: ignore[misc]  # LANGUAGES is no literal.
_LANG_HELP = "Speak English or Chinese; by default as LANG of the environment says."
Lang = Annotated[Language | None, typer.Option("--lang", help=_LANG_HELP)]
_LANG_OPTION = typer.Option("--lang", help=_LANG_HELP, rich_help_panel=SHOW)
# Every command has it; choose() reads it before the command is called, since help and errors speak too.
_LANG = Parameter("lang", Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[Language | None, _LANG_OPTION])

SqlFolder = Annotated[
    Path | None,
    typer.Option("--sql-folder", help="A folder of your own tables, as <schema>/<table>.sql.", rich_help_panel=INPUT),
]
AllowFiles = Annotated[
    bool, typer.Option("--allow-files", help="Let these tables read files of this machine.", rich_help_panel=INPUT)
]
# The paths of a profile: as arguments of the command or with -d; only with -d where the command has another argument.
ProfilePath = Annotated[Sequence[Path], "the arguments or -d"]
ProfileOption = Annotated[Sequence[Path], "-d"]
# The options of a profile that a command takes, by their names or by their sections.
SourceOption = Annotated[Keywords, "source"]
ModuleOptions = Annotated[Keywords, INPUT, MODULES, MACHINE]
# Comparisons know modules by instance, and choose steps in a way of their own.
CompareOptions = Annotated[
    Keywords,
    *("source", "rank_list", "sql", COMPARE, "module_source", "module_domains", "depth", "nesting_tolerance_ns", MACHINE),
]


def _drawing(export_type: str) -> str:
    """Return the commands that write this format, where it is a picture."""
    return ", ".join(name for name, analysis in ANALYSES.items() if export_type in analysis.pictures)


@dataclass(frozen=True)
class ResultOptions:
    """Options of the result: the folder, the format, and how much of it is printed."""

    output_path: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output-path",
            help="Write into this folder; by default into that of the profile.",
            rich_help_panel=RESULT,
        ),
    ] = None
    export_type: Annotated[
        ExportType | None,
        typer.Option(
            metavar="FORMAT",
            help=f"Write all rows as {', '.join(one for one in ExportType if not _drawing(one))}; text and excel mean xlsx. "
            f"Or a picture: {_drawing('trace')} write what `timeline` does (trace), {_drawing('collapsed')} a flame "
            "graph (speedscope, collapsed). With -o alone the format is db; without both options nothing is written.",
            rich_help_panel=RESULT,
            show_default=False,
        ),
    ] = None
    top: Annotated[int, typer.Option(min=1, help="Show this many rows.", rich_help_panel=SHOW)] = USUAL_ROWS

    @property
    def is_written(self) -> bool:
        """Whether an option says to write files."""
        return self.output_path is not None or self.export_type is not None

    def write(self, export: Callable[[Path | None, str], list[Path]], shown: Callable[[str], str] = str) -> "Written":
        """Call a function that writes to a folder, by default its own, in a format; only where an option says so.

        It returns what written_by() does.
        """
        if not self.is_written:
            return Written()
        return written_by(lambda: export(self.output_path, (self.export_type or ExportType.db).value), shown)


@dataclass(frozen=True)
class Written:
    """The files that were written, or why they could not be."""

    files: Sequence[Path] = ()
    problem: OutputError | None = None


def written_by(write: Callable[[], list[Path]], shown: Callable[[str], str]) -> Written:
    """Return the files that a function writes, with their names as they are printed, which `shown` gives.

    A file that could not be written does not hide the answer: its error is kept.
    """
    try:
        return Written([Path(shown(str(file))) for file in write()])
    except OutputError as error:
        return Written(problem=error)


@dataclass(frozen=True)
class ScreenOptions:
    """Options of the output."""

    as_json: AsJson = False
    columns: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Show these columns, or all; by their headings, in lines longer than the terminal. Example: module,calls.",
            rich_help_panel=SHOW,
        ),
    ] = ""
    quiet: Quiet = False
    debug: Debug = False


def takes_options(
    command: Callable[..., None], of_profile: tuple[str, ...] = (), further: Sequence[Parameter] = ()
) -> Callable[..., None]:
    """Turn a function that takes groups of options into a command for typer with an option for each field of a group.

    `of_profile` names the options of a profile that it takes, or their sections, where its annotation does not. `further` are
    parameters that it takes as keywords.
    """
    hints = get_type_hints(command, include_extras=True)
    hints |= {name: Annotated[Keywords, *of_profile] for name, hint in hints.items() if hint is Keywords}
    groups = {name: group for name, hint in hints.items() if (group := _group(hint))}

    @wraps(command)
    def flat(*, lang: Language | None = None, **given: Any) -> None:  # noqa: ARG001
        made = {
            name: make({one.name: given.pop(one.name) for one in parameters}) for name, (parameters, make) in groups.items()
        }
        command(**given, **made)

    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            parameters += further
            continue
        own = [parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)]
        parameters += groups[name][0] if name in groups else own
    parameters.append(_LANG)
    for parameter in parameters:
        _shorten_type(parameter)
    cast(Any, flat).__signature__ = signature(command).replace(parameters=sorted(parameters, key=_group_number))
    return flat


def _shorten_type(parameter: Parameter) -> None:
    """Name the value of an option by a short word, where its choices do not say it."""
    type_, *about = get_args(parameter.annotation)
    option = next((one for one in about if isinstance(one, typer.models.OptionInfo)), None)
    if option is not None and option.metavar is None:
        kinds = {type_, *get_args(type_)}
        option.metavar = next((word for kind, word in {bool: "", int: "N", Path: "PATH"}.items() if kind in kinds), None)


def _group_number(parameter: Parameter) -> int:
    """Return the place of an option's group in the help; arguments come first."""
    groups = [getattr(one, "rich_help_panel", None) for one in get_args(parameter.annotation)[1:]]
    return next((_GROUPS.index(group) for group in groups if group in _GROUPS), -1)


Make = Callable[[dict[str, Any]], Any]


@cache  # Most commands take the same groups.
def _group(hint: Any) -> tuple[Sequence[Parameter], Make] | None:
    """Return the parameters of a group of options and a function that makes the group of their values; None for others."""
    if hint == ProfilePath:
        return [_PATH_ARGUMENT, _path_option(_PROFILE)], _paths
    if hint == ProfileOption:
        return [_path_option(_PROFILE)], _paths
    if get_origin(hint) is Annotated and get_args(hint)[0] is Keywords:
        words = get_args(hint)[1:]
        parameters = [
            _parameter(name, type_, doc)
            for name, (type_, doc) in documented(ProfileOptions).items()
            if name in words or doc.section in words or name == _OF_EVERY_PROFILE
        ]
        return parameters, _keywords
    if is_dataclass(hint) and isinstance(hint, type):
        of_fields = get_type_hints(hint, include_extras=True)
        parameters = [
            Parameter(
                one.name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if one.default is MISSING else one.default,
                annotation=of_fields[one.name],
            )
            for one in fields(hint)
        ]
        return parameters, lambda values: hint(**values)
    return None


_PROFILE = "The same as PATH: a folder *_ascend_pt of a rank, a tree of such folders, a file of a rank, or several of these."
_PATH_ARGUMENT = Parameter(
    "profile_path",
    Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[list[Path] | None, typer.Argument(metavar="PATH", help=_PROFILE, hidden=True, show_default=False)],
)


def _path_option(meaning: str) -> Parameter:
    option = typer.Option("-d", "--profiling-path", metavar="PATH", help=meaning, rich_help_panel=INPUT)
    return Parameter("profiling_path", Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[list[Path] | None, option])


def _paths(values: dict[str, Any]) -> Sequence[Path]:
    """Return the paths that were given in both ways."""
    given = (*(values.get("profile_path") or ()), *(values["profiling_path"] or ()))
    if not given:
        raise typer.BadParameter("give the folder of a profile, as in -d ./result", param_hint="-d")
    return given


def _parameter(name: str, type_: Any, doc: Doc) -> Parameter:
    """Build the command's option for an option of a profile. A type that typer cannot read is a text, which PARSERS reads."""
    default = next(one.default for one in fields(ProfileOptions) if one.name == name)
    read_as = type_
    if name in PARSERS:
        read_as, default = str | None, (",".join(default) or None) if isinstance(default, tuple) else None
    elif Path in get_args(type_):
        read_as = Path | None
    elif get_origin(type_) is Literal:
        read_as = cast(Any, StrEnum)(name, {choice: choice for choice in get_args(type_)})
        default = read_as(default)
    return parameter_of(name, read_as, doc, default, None if name in PARSERS else doc.at_least)


def parameter_of(name: str, type_: Any, doc: Doc, default: Any = None, least: int | None = None) -> Parameter:
    """Build the command's option for one with this documentation."""
    meaning = f"{doc.meaning} Example: {doc.spelled}." if doc.spelled else doc.meaning
    option = typer.Option(word(name), metavar=doc.value, help=meaning, min=least, rich_help_panel=doc.section)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[type_, option])


def _keywords(values: dict[str, Any]) -> dict[str, object]:
    """Return the values of a command line as options of a profile, without those that were not given."""
    return {
        name: PARSERS[name](value) if name in PARSERS else str(value) if isinstance(value, StrEnum) else value
        for name, value in values.items()
        if value is not None
    }


# The option of every command that opens a profile.
_OF_EVERY_PROFILE = "anonymize"
