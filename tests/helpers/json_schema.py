"""What --json prints, held against the schema that users get with the wheel."""

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from docs.json_schema import schema


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


def misfits(output: Any) -> list[str]:
    """Where an output does not fit the schema, and why; of several forms that it may have, against the nearest one."""
    return [f"{error.json_path}: {error.message}" for error in map(_nearest, validator().iter_errors(output))]


def _nearest(error: Any) -> Any:
    """Return the error inside the form that fails deepest."""
    while error.context:
        error = max(error.context, key=lambda one: len(one.absolute_path))
    return error
