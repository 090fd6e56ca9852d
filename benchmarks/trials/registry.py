"""What a damage is, and all of them by name.

A damage is a function that changes a copy of a profile in place and returns what it did, or None where the profile has nothing
that it could damage. It stands in the file of its format; `damage` makes it known.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Literal

Kind = Literal["ascend_db", "ascend_text", "kineto", "memory_snapshot", "nsys"]
# A snapshot has no kernels: what all others are asked is not asked of it.
KINDS: tuple[Kind, ...] = ("ascend_db", "ascend_text", "kineto", "nsys")
Change = Callable[[Path], str | None]


@dataclass(frozen=True)
class Damage:
    """`untold` has the profiles in which the damage cannot be noticed (a pattern of their names), each with the reason.

    The only reason there is: nothing else in the profile records the same thing. It names the fields that were looked at.
    `asked` are further commands, which read what was damaged.
    """

    name: str
    kinds: tuple[Kind, ...]
    make: Change
    untold: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[str, ...] = ()

    def reason_for(self, profile: str) -> str | None:
        """Return why nobody could notice the damage in a profile; None where it must be noticed."""
        return next((reason for pattern, reason in self.untold.items() if fnmatch(profile, pattern)), None)


_KNOWN: dict[str, Damage] = {}


def damage(*kinds: Kind, untold: Mapping[str, str] | str = "", asked: tuple[str, ...] = ()) -> Callable[[Change], Change]:
    """Make a function known as a damage of profiles of these kinds; its name is `format-what`, from its file and its name."""
    reasons = {"*": untold} if isinstance(untold, str) and untold else untold or {}
    assert not isinstance(reasons, str)

    def known(make: Change) -> Change:
        name = f"{make.__module__.rpartition('.')[2]}-{make.__name__}".replace("_", "-")
        _KNOWN[name] = Damage(name, kinds or KINDS, make, reasons, asked)
        return make

    return known


def damages_of(*modules: ModuleType) -> dict[str, Damage]:
    """Return the damages of these files by name, in their order there."""
    formats = [module.__name__.rpartition(".")[2] for module in modules]
    return {name: one for start in formats for name, one in _KNOWN.items() if name.partition("-")[0] == start}
