"""The results that a source finds in a folder."""

from dataclasses import dataclass
from pathlib import Path

# How the names of folders begin into which this project writes, in which files have names and forms of results, too.
WRITTEN = "cluster_analysis_output"


@dataclass(frozen=True)
class Found:
    """The results in a folder, each a folder or a file; of several sources that find one, the one that answers more reads it.

    `inner_folders` belong to the results and are not searched. `is_by_name_only`: the folder is named like a result but holds
    no part of one; where results lie below it, it is not a result.
    """

    results: tuple[Path, ...] = ()
    inner_folders: frozenset[str] = frozenset()
    is_by_name_only: bool = False
