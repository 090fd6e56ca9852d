"""What a profile is opened from: a path, several paths that are one profile, or several runs by their names."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from prof_analysis.common.errors import InputError
from prof_analysis.common.option_docs import check_path
from prof_analysis.sources.discovery import folder_of_all

Given = str | Path | Sequence[str | Path] | Mapping[str, str | Path]


def paths_of(given: Given) -> tuple[dict[str, Path], tuple[Path, ...]]:
    """Return the paths of several runs by their names, or one path without a name; of several paths the folder that holds all.

    The second are these several paths: only what is at or below one of them is meant; else nothing.
    Raises InputError for no path, for fewer than two runs with names, and for a run without a name.
    """
    if isinstance(given, Mapping):
        return _runs_by_name(given), ()
    paths = [given] if isinstance(given, str | Path) else list(dict.fromkeys(given))
    for one in paths:
        check_path("path", one)
    if not paths:
        raise InputError("give the path of a profile, or several")
    if len(paths) == 1:
        return {"": Path(paths[0])}, ()
    among = tuple(map(Path, paths))
    for path in among:
        if not path.exists():
            raise InputError(f"{path}: there is no such folder or file", path=path)
    return {"": folder_of_all(among)}, among


def _runs_by_name(path: Mapping[str, str | Path]) -> dict[str, Path]:
    for name, one in path.items():
        check_path(name, one)
    if len(path) < 2 or not all(isinstance(run, str) and run.strip() for run in path):
        raise InputError(
            'give two or more runs with their names, as in {"before": path, "after": path}; open_profile() opens one'
        )
    return {run: Path(one) for run, one in path.items()}
