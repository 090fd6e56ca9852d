"""Offline analysis of PyTorch profiles of Ascend NPUs: which module costs the time, through which ops and kernels.

import prof_analysis

prof_analysis.module_stats("./result")            # one frame over all ranks

with prof_analysis.open_profile("./result") as profile:
    profile.module_tree()
    profile.sql("SELECT kind, sum(duration_ns) FROM module.kernel GROUP BY kind")
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.errors import InputError, OutputError, ProfAnalysisError, ProfAnalysisWarning, QueryError

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

__version__ = "0.1.0"

__all__ = [
    "InputError",
    "OutputError",
    "ProfAnalysisError",
    "ProfAnalysisWarning",
    "Profile",
    "QueryError",
    "__version__",
    "module_stats",
    "open_profile",
]


def open_profile(path: str | Path, **options: Any) -> "Profile":
    """Open the profiling results under a path; see Profile for the options. Raises InputError when there are none."""
    from prof_analysis.profile import Profile

    return Profile(path, **options)


def module_stats(path: str | Path, *, arrow: bool = False, **options: Any) -> Any:
    """Kernel time by module and op of all ranks under a path, in one call; see Profile.module_stats for the columns."""
    with open_profile(path, **options) as profile:
        return profile.module_stats(arrow=arrow)


def __getattr__(name: str) -> Any:
    if name == "Profile":
        from prof_analysis.profile import Profile

        return Profile
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
