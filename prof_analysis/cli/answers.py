"""The options of the answer of an analysis: what a row is, and those that its function takes."""

from collections.abc import Mapping
from enum import StrEnum
from inspect import Parameter
from typing import Any, cast

from prof_analysis.analyses import Analysis
from prof_analysis.cli.options import parameter_of
from prof_analysis.common.option_docs import ANSWER, Doc, documented
from prof_analysis.common.options import Keywords, ProfileOptions


def own_parameters(analysis: Analysis, of_answer: Mapping[str, tuple[Any, Doc]]) -> list[Parameter]:
    """Return the parameters of the options of an answer; an option of the profile with the same name serves both."""
    parameters = []
    if len(analysis.rows) > 1:
        choices = [name.replace("_", "-") for name in analysis.rows]
        kind = cast(Any, StrEnum)("Row", {name: name for name in choices})
        parameters.append(parameter_of("by", kind | None, Doc("What a row is.", ANSWER)))
    shared = _of_profile(analysis)
    parameters += [parameter_of(name, kind, doc) for name, (kind, doc) in of_answer.items() if name not in shared]
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
