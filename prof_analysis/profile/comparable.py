"""Reasons that prevent a comparison of runs, and remarks about one."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from prof_analysis.common.errors import InputError
from prof_analysis.profile.profile import Profile

# The name of the run with which the others are compared; tables in runs/ know it.
BASE = "base"
Runs = Mapping[str, str | Path]


def kinds_of_units(profile: Profile) -> dict[str, str]:
    """Return the kind of units of each compared rank: step, call or run."""
    rows = profile.rows("SELECT DISTINCT profile, kind FROM runs.compared_unit")
    return {row["profile"]: row["kind"] for row in rows}


def reasons_against(profile: Profile, runs: Runs) -> dict[str, str]:
    """Return why runs cannot be compared with the base, by their names; raise InputError where no step of the base is left."""
    sides = {(row["run"], row["side"]) for row in profile.rows("SELECT run, side FROM runs.compared_run")}
    known = {row["run"] for row in profile.rows("SELECT run FROM runs.comparison_finding")}
    if known != {*runs} - {BASE} and has_memory(profile):  # Memory snapshots have no kernels.
        known |= {row["run"] for row in profile.rows("SELECT run FROM runs.memory_total")}
    reasons = {}
    for run in runs:
        if run == BASE:
            continue
        if (run, "base") not in sides:
            raise InputError(f"{runs[BASE]}: {_NO_STEP}", path=Path(runs[BASE]))
        if (run, "new") not in sides:
            reasons[run] = f"{runs[run]}: {_NO_STEP}"
        elif run not in known:
            said = f"{runs[run]}: has no kernels, and neither has {runs[BASE]}"
            reasons[run] = f"{said}{_why_no_kernels(profile, run)}; `prof-analysis ranks` says why"
    return {**without_common_modules(profile, runs), **reasons}


def has_memory(profile: Profile) -> bool:
    """Return whether the base and a run that is compared with it have records of device memory."""
    recorded = {run for run, answers in profile.answered_by_runs() if "memory" in answers}
    return BASE in recorded and len(recorded) > 1


def _why_no_kernels(profile: Profile, run: str) -> str:
    """Return why a rank of a run has no kernels to compare, as a question about kernels one by one says it."""
    asked = "free-time: "
    for rank in profile.rank_rows():
        for reason in (one.removeprefix(asked) for one in rank["unanswered"] if rank["run"] == run and one.startswith(asked)):
            has_sums = "kernel-stats" in rank["answers"]
            return f": {reason}{'; sums over types are not compared' if has_sums else ''}"
    return ""


_NO_STEP = "no step is left of it; leave out fewer steps"


def without_common_modules(profile: Profile, runs: Runs) -> dict[str, str]:
    """Return the runs whose modules have no partner in the base, by their names, and a sentence about each."""
    outermost = profile.rows(
        "SELECT DISTINCT run, name FROM compare.module_node WHERE parent_node_id IS NULL AND name IS NOT NULL ORDER BY name"
    )

    def names(run: str) -> str:
        return listed(row["name"] for row in outermost if row["run"] == run)

    alone = profile.rows("FROM runs.without_partner")
    return {
        run: f"{runs[run]}: has no module in common with {runs[BASE]} ({names(run)} against {names(BASE)}); compare runs of "
        "one model, or name what corresponds with --alias FILE, a csv file that --suggest-aliases FILE writes"
        for run in (row["run"] for row in alone)
    }


def check_rank_map(profile: Profile, runs: Runs, rank_map: Mapping[int, int]) -> None:
    """Raise InputError for a rank that a run does not have."""
    rows = profile.rows("SELECT DISTINCT run, rank_id FROM communication.parallel_rank ORDER BY rank_id")
    for base, new in rank_map.items():
        for run, path in runs.items():
            ranks = [row["rank_id"] for row in rows if row["run"] == run]
            if (rank := base if run == BASE else new) not in ranks:
                raise InputError(f"{path}: there is no rank {rank} to compare; its ranks are {listed(ranks)}", path=Path(path))


def warnings_of(profile: Profile, skipped: Iterable[int]) -> Iterator[str]:
    """Yield remarks: ranks without a partner, and steps to leave out that no run has."""
    alone = "SELECT DISTINCT profile FROM runs.compared_rank WHERE pair IS NULL ORDER BY profile"
    if profiles := [row["profile"] for row in profile.rows(alone)]:
        yield f"left out, as no rank of the other run is compared with them: {listed(profiles)}"
    steps = [row["step_id"] for row in profile.rows("SELECT DISTINCT step_id FROM compare.unit ORDER BY step_id")]
    if unknown := sorted({*skipped} - {*steps}):
        yield f"no run has step {listed(unknown)}, so it cannot be left out; the steps are {listed(steps)}"


def listed(things: Iterable[int | str | None]) -> str:
    """Return things in words, the middle of many left out."""
    known = [str(one) for one in things if one is not None]
    return ", ".join(known if len(known) <= 8 else [*known[:6], "...", known[-1]]) or "not numbered"
