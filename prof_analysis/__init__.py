"""Offline analysis of PyTorch profiles of Ascend NPUs: which module costs the time, through which ops and kernels.

import prof_analysis

prof_analysis.module_stats("./result")            # one frame over all ranks

with prof_analysis.open_profile("./result") as profile:
    profile.module_tree()
    profile.sql("SELECT kind, sum(duration_ns) FROM module.kernel GROUP BY kind")
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from prof_analysis.common.errors import InputError, OutputError, ProfAnalysisError, ProfAnalysisWarning, QueryError
from prof_analysis.common.option_docs import check
from prof_analysis.common.options import Keywords, shows_options
from prof_analysis.common.version import __version__

if TYPE_CHECKING:
    import pandas

    from prof_analysis.profile.comparison import Comparison
    from prof_analysis.profile.profile import Profile

__all__ = [
    "Comparison",
    "InputError",
    "OutputError",
    "ProfAnalysisError",
    "ProfAnalysisWarning",
    "Profile",
    "QueryError",
    "__version__",
    "compare",
    "module_stats",
    "open_profile",
    "open_profiles",
    "stage_durations",
]


@shows_options
def open_profile(path: str | Path | Sequence[str | Path], **options: Unpack[Keywords]) -> "Profile":
    """Open the profiling results under a path, or several; see Profile for both. Raises InputError when there are none."""
    from prof_analysis.profile.profile import Profile

    return Profile(path, **options)


@shows_options
def open_profiles(runs: Mapping[str, str | Path], **options: Unpack[Keywords]) -> "Profile":
    """Open several runs together, as in {"before": "./result_1", "after": "./result_2"}; see Profile for the options.

    Every table has the column `run` in front, profiles have names such as before/rank0_ascend_pt, and tables over ranks compare
    the ranks of one run with each other. Your own tables in runs/ compare runs.
    Raises InputError when a path holds no results or several runs.
    """
    from prof_analysis.profile.profile import Profile

    return Profile(runs if isinstance(runs, Mapping) else {}, **options)  # Paths without names are no runs with names.


@shows_options
def compare(base: str | Path, new: str | Path, *more: str | Path, **options: Unpack[Keywords]) -> "Comparison":
    """Compare runs with a base: what changed, in which module, op and kernel, and whether it is more than noise.

    Any formats compare with each other. Each figure is a mean over steps unless `per` says otherwise; see Comparison for the
    tables and Profile for the options. Raises InputError when a path holds no results or several runs.
    """
    from prof_analysis.profile.comparison import open_comparison

    return open_comparison(base, (new, *more), options)


@shows_options
def module_stats(path: str | Path | Sequence[str | Path], **options: Unpack[Keywords]) -> "pandas.DataFrame":
    """Return kernel time by module and op of all ranks under a path, in one call; see Profile.module_stats for the columns."""
    with open_profile(path, **options) as profile:
        return profile.module_stats()


Logs = str | Path | Iterable[str | Path]
StageRow = Literal["process", "all", "log", "iteration"]


def stage_durations(
    paths: Logs, *, by: StageRow = "process", anonymize: bool = False, level: StageRow | None = None
) -> "pandas.DataFrame":
    """Return how long the stages of vLLM-Ascend took, from logs written with VLLM_ASCEND_MODEL_EXECUTE_TIME_OBSERVE=1.

    Newer versions log each iteration of the engine instead, with enable_logging_iteration_details of ObservabilityConfig.

    `paths` is one log or several, plain or gzipped; "-" is standard input. Columns: log, process, phase, stage,
    duration_count, mean_ns (float), p50_ns, p95_ns, p99_ns, max_ns, first_tenth_mean_ns, last_tenth_mean_ns, last_to_first
    (floats; NULL for fewer than 10 durations), inner_stages (the stages inside this one), inner_mean_ns, host_rest_mean_ns
    (the mean without these; floats), host_rest_reason (why there is none).
    by="all" merges processes and logs: phase, stage, process_count, then the same. by="log" has one row per log: log,
    line_count, announcement_count, other_line_count (skipped), unread_count, process_count. by="iteration" has one row per
    iteration that the log of an engine tells of (enable_logging_iteration_details): log_number, log, line_number,
    record_number, process, iteration, phase, prefill_request_count, prefill_token_count, decode_request_count,
    decode_token_count, duration_ns.
    With anonymize=True names such as log1 and process1 are in place of files, hosts and processes.
    A ProfAnalysisWarning names each log that cannot be
    read, if others can. Raises InputError when no log holds durations.
    """
    import warnings

    from prof_analysis.common import frames
    from prof_analysis.logs.vllm_stages import LEVELS, open_logs

    by = level or by  # An old word.
    check("by", by, by in LEVELS, ", ".join(LEVELS))
    with open_logs([paths] if isinstance(paths, str | Path) else paths, anonymize) as logs:
        for warning in (*logs.failures, *logs.warnings):
            warnings.warn(warning, ProfAnalysisWarning, stacklevel=2)
        table = frames.plain(logs.connection.sql(f"FROM {LEVELS[by]}").to_arrow_table())
    return frames.to_pandas(table)


def __dir__() -> list[str]:
    """Return the public names alone: what this file imports for itself is not among them."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name == "Profile":
        from prof_analysis.profile.profile import Profile

        return Profile
    if name == "Comparison":
        from prof_analysis.profile.comparison import Comparison

        return Comparison
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
