"""What a source finds in a folder."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Found:
    """The results in a folder, each a folder or a file; where several sources find one, that which answers more reads it.

    `inner_folders` belong to them and are not searched. `is_by_name_only` says that a folder is named like a result and holds
    nothing of one: where results lie below, it is none.
    """

    results: tuple[Path, ...] = ()
    inner_folders: frozenset[str] = frozenset()
    is_by_name_only: bool = False
