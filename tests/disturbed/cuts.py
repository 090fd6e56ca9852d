"""Cuts of a recording, and what each kernel that is left says of where it belongs."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from tests.disturbed import databases, traces

DOUBT = "may lack the modules around them"
# What a kernel says of itself, by what it is: its name, stream and times in its rank.
Kernel = tuple[str, str, int | None, int, int]
KERNELS = """
    SELECT profile, name, stream_id, start_ns, end_ns, op_name, op_start_ns, location, reason, parent_module, module
    FROM module.kernel WHERE kind = 'compute'
"""


@dataclass(frozen=True)
class Belonging:
    """Where the kernels of a profile belong, and what it warns of."""

    kernels: dict[Kernel, dict[str, Any]]
    warnings: tuple[str, ...]


def belonging(path: Path) -> Belonging:
    """Return where each compute kernel of a profile belongs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(path) as profile:
            try:
                profile.module_stats()
            except InputError as nothing:
                # No module call is left of which to tell.
                return Belonging({}, (str(nothing),))
            rows = profile.rows(KERNELS)
            said = tuple(str(one) for one in profile.warnings)
    found = {}
    for row in rows:
        key = tuple(row.pop(name) for name in ("profile", "name", "stream_id", "start_ns", "end_ns"))
        found[key] = row
    return Belonging(found, said)


def cuts(whole: Belonging, count: int, is_database: bool) -> list[Callable[[Path], None]]:
    """Return so many cuts of a profile, in turn of its end and of its beginning.

    Two are at moments spread over the ops that launched its kernels, the next two at moments spread over the kernels.
    """
    launches = sorted(place["op_start_ns"] for place in whole.kernels.values() if place["location"] == "inside modules")
    starts = sorted(kernel[3] for kernel in whole.kernels)
    made = []
    for number in range(count):
        moments = starts if number // 2 % 2 else launches
        moment = moments[0] + (moments[-1] - moments[0]) * (number + 1) // (count + 1)
        within = (0, moment) if number % 2 == 0 else (moment, 2**62)
        made.append(
            databases.kept_within(*within) if is_database else traces.kept_within(*(Decimal(one) / 1000 for one in within))
        )
    return made


def misplaced(whole: Belonging, cut: Belonging) -> list[str]:
    """Say which kernels of a cut profile are elsewhere than in the whole of it, without a word of it.

    A kernel that is outside modules because of the cut, or in a module without those around it, needs a warning with a figure.
    """
    said = [warning for warning in set(cut.warnings) - set(whole.warnings) if any(sign.isdigit() for sign in warning)]
    found, elsewhere = [], []
    outside = 0
    for kernel, place in cut.kernels.items():
        expected = whole.kernels.get(kernel)
        if expected is None:
            found.append(f"{kernel} is new")
        elif place["location"] == "inside modules":
            if (place["parent_module"], place["module"]) != (expected["parent_module"], expected["module"]):
                elsewhere.append((kernel, place, expected))
        elif expected["location"] == "inside modules":
            outside += 1
    for kernel, place, expected in elsewhere:
        lacks_others = path_of(expected).endswith(f"/{path_of(place)}")
        if not lacks_others or not any(DOUBT in warning and warning.startswith(f"{kernel[0]}: ") for warning in said):
            found.append(f"{kernel}: {place} in place of {expected}")
    if outside and not said:
        found.append(f"{outside} kernels left their modules without a word")
    return found


def path_of(place: dict[str, Any]) -> str:
    """Return the modules of a kernel from the outermost one on."""
    return f"{place['parent_module']}/{place['module'].removeprefix('[Backward]')}".removeprefix("/")
