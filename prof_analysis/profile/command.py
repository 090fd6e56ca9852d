"""The command line of this process, as exports and reports show it."""

import os
import re
import shlex
import sys
from pathlib import Path

from prof_analysis.analyses import ANALYSES


def command_line(is_anonymous: bool) -> str:
    """Return the command line of this process; bytes that are not UTF-8 are written as \\xff.

    Where it is to be anonymous, `...` stands in place of each value, and of another program it is the kind alone.
    """
    program, *arguments = getattr(sys, "argv", None) or [""]
    file = Path(program)
    if not is_anonymous:
        name = f"python -m {file.parent.name}" if file.name == "__main__.py" else shlex.quote(file.name)
        return os.fsencode(" ".join([name, *map(shlex.quote, arguments)])).decode("utf-8", "backslashreplace")
    if file.name != "prof-analysis" and (file.name, file.parent.name) != ("__main__.py", "prof_analysis"):
        return "a Python program"
    known = rf"--[a-z][a-z-]*|-[a-z]|({'|'.join((*ANALYSES, 'compare', 'report', 'table'))})$"
    names = (re.match(known, word) for word in arguments)
    return " ".join(["prof-analysis", *("..." if name is None else name[0] for name in names)])
