"""Names of modules that aliases give: what a class or path of the base may be called in the new run."""

import re
from collections.abc import Mapping

# Names of the new run by those of the base, where * stands for a part of a name.
Aliases = Mapping[str, str]


def renamed(name: str, aliases: Aliases) -> list[str]:
    """Return the names that a class or a path of classes of the base may have in the new run by the aliases, without itself."""
    names = []
    for base, new in aliases.items():
        if ("/" in base) == ("/" in name) and (match := _pattern(base).fullmatch(name)):
            first, *others = new.split("*")
            names.append(first + "".join(part + rest for part, rest in zip(match.groups(), others, strict=True)))
    return [one for one in dict.fromkeys(names) if one != name]


def _pattern(base: str) -> re.Pattern[str]:
    return re.compile("([^/]*)".join(map(re.escape, base.split("*"))))
