"""Aliases of modules: which class or path of the base is called otherwise in the new run."""

import csv
from collections.abc import Mapping
from pathlib import Path

from prof_analysis.common.errors import InputError


def read_aliases(given: object) -> dict[str, str]:
    """Return names of the new run by those of the base, from a csv file with the columns base and new, or from a mapping.

    Raises InputError, which names the file and the line, for what is no pair of names.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {base: _checked(base, new, "alias") for base, new in given.items()}
    if not isinstance(given, str | Path):
        raise InputError(f"alias={given!r}: give a csv file with the columns base and new, or a mapping")
    file = Path(given)
    try:
        # Spreadsheets put a mark in front.
        rows = list(csv.reader(file.read_text(encoding="utf-8-sig").splitlines()))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})", path=file) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: is no csv file in UTF-8; save it as one", path=file) from error
    if not rows or [name.strip() for name in rows[0][:2]] != ["base", "new"]:
        raise InputError(f"{file}: the first line does not name the columns base,new; write it so", path=file)
    found: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            base, new = (cell.strip().removeprefix("'") for cell in (*row[:2], "")[:2])
            where = f"{file}: line {number}"
            if found.get(base, new) != new:
                raise InputError(f"{where}: {base} is {found[base]} on a line above; give one name, run by run", path=file)
            found[base] = _checked(base, new, where, file)
    return found


def _checked(base: str, new: str, where: str, file: Path | None = None) -> str:
    """Return the new name of a pair; with as many * in it as in that of the base."""
    if not isinstance(base, str) or not isinstance(new, str) or not base or not new:
        raise InputError(f"{where}: give two names of modules, base and new", path=file)
    if base.count("*") != new.count("*"):
        raise InputError(
            f"{where}: {base} and {new} have different numbers of *; each * stands for the same part in both", path=file
        )
    return new
