"""What --json prints, held against the schema that users get with the package."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(files("prof_analysis").joinpath("json.schema.json").read_text(encoding="utf-8")))


def misfits(output: Any) -> list[str]:
    """Where an output does not fit the schema, and why; of several forms that it may have, against the nearest one."""
    return [f"{error.json_path}: {error.message}" for error in map(_nearest, validator().iter_errors(output))]


def _nearest(error: Any) -> Any:
    """Return the error inside the form that fails deepest."""
    while error.context:
        error = max(error.context, key=lambda one: len(one.absolute_path))
    return error
