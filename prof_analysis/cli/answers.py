"""The options of the answer of an analysis: what a row is, and those that its function takes."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from inspect import Parameter
from typing import Annotated, Any, cast

import typer

from prof_analysis.analyses import Analysis
from prof_analysis.common.option_docs import ANSWER, SHOW, documented
from prof_analysis.common.options import Keywords, ProfileOptions

_OPTIONS: Mapping[str, tuple[Any, Any]] = {
    "sort": (
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Sort by this column, by its heading or its name in exports: the largest first, texts from A. Example: calls.",
            rich_help_panel=SHOW,
        ),
    ),
    "module": (
        str | None,
        typer.Option(
            "--module",
            metavar="NAME",
            help="Show only this module and the modules inside it. Example: Layer/Linear.",
            rich_help_panel=ANSWER,
        ),
    ),
}


def own_parameters(analysis: Analysis, of_answer: Iterable[str]) -> list[Parameter]:
    """Return the parameters of the options of an answer; an option of the profile with the same name serves both."""
    parameters = []
    if len(analysis.rows) > 1:
        choices = [name.replace("_", "-") for name in analysis.rows]
        kind = cast(Any, StrEnum)("Row", {name: name for name in choices})
        about = typer.Option("--by", help="What a row is.", rich_help_panel=ANSWER, show_default=False)
        parameters.append(_parameter("by", kind | None, about, None))
    for name in of_answer:
        if name not in _of_profile(analysis):
            kind, option = _OPTIONS[name]
            parameters.append(_parameter(name, kind, option, None))
    return parameters


def rows_and_options(analysis: Analysis, own: Mapping[str, Any], options: Keywords) -> tuple[str | None, dict[str, Any]]:
    """Return what was chosen as a row, None for what is usual, and the options of the answer with their values."""
    chosen = own.get("by")
    shared = {name: cast(Mapping[str, Any], options).get(name) for name in _OPTIONS if name in _of_profile(analysis)}
    return None if chosen is None else str(chosen).replace("-", "_"), {**shared, **{k: v for k, v in own.items() if k != "by"}}


def _of_profile(analysis: Analysis) -> set[str]:
    return {name for name, (_, doc) in documented(ProfileOptions).items() if {name, doc.section} & {*analysis.options}}


def _parameter(name: str, kind: Any, option: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])
