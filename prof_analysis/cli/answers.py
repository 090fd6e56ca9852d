"""The options of the answer of an analysis: what a row is, and those that its function takes."""

from collections.abc import Mapping
from enum import StrEnum
from inspect import Parameter
from typing import Annotated, Any, cast

import typer

from prof_analysis.analyses import Analysis
from prof_analysis.common.command_line import word
from prof_analysis.common.option_docs import ANSWER, Doc, documented
from prof_analysis.common.options import Keywords, ProfileOptions


def own_parameters(analysis: Analysis, of_answer: Mapping[str, tuple[Any, Doc]]) -> list[Parameter]:
    """Return the parameters of the options of an answer; an option of the profile with the same name serves both."""
    parameters = []
    if len(analysis.rows) > 1:
        choices = [name.replace("_", "-") for name in analysis.rows]
        kind = cast(Any, StrEnum)("Row", {name: name for name in choices})
        about = typer.Option("--by", help="What a row is.", rich_help_panel=ANSWER, show_default=False)
        parameters.append(_parameter("by", kind | None, about))
    for name, (kind, doc) in of_answer.items():
        if name not in _of_profile(analysis):
            meaning = f"{doc.meaning} Example: {doc.spelled}." if doc.spelled else doc.meaning
            about = typer.Option(word(name), metavar=doc.value, help=meaning, rich_help_panel=doc.section)
            parameters.append(_parameter(name, kind, about))
    return parameters


def rows_and_options(
    of_answer: Mapping[str, object], own: Mapping[str, Any], options: Keywords
) -> tuple[str | None, dict[str, Any]]:
    """Return what was chosen as a row, None for what is usual, and the options of the answer with their values."""
    chosen = own.get("by")
    given: Mapping[str, Any] = {**options, **own}
    return None if chosen is None else str(chosen).replace("-", "_"), {name: given.get(name) for name in of_answer}


def _of_profile(analysis: Analysis) -> set[str]:
    return {name for name, (_, doc) in documented(ProfileOptions).items() if {name, doc.section} & {*analysis.options}}


def _parameter(name: str, kind: Any, option: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option])
