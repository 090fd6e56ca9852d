"""Progress: how much of the work on ranks is done, in bytes of their input.

A rank is staged, then tables are built. The shares of staging and building are measured constants. Tables read from the cache
count as no work.
"""

from collections.abc import Callable, Container, Mapping
from fractions import Fraction
from threading import Lock

from prof_analysis.engine.planning import Plan
from prof_analysis.sources.rank import Rank

# Called with the bytes of a rank's input whose work is done, and with all bytes whose work is to do.
OnWork = Callable[[int, int], None]

# The share of staging in the CPU time of a rank: 0.25 to 0.5 of databases, 0.7 to 0.8 of text exports.
_STAGING = {"ascend_db": 0.4, "ascend_text": 0.75}
# CPU time of the tables that take long, in hundredths of a second for 100,000 kernels on one thread (the median of all commands
# in training and inference); that of others is 1 or less.
WEIGHTS = {
    "free.cause": 9, "free.gap_cause": 12, "free.host_stack": 6, "free.host_stretch": 11, "free.request": 14,
    "layer.anchor": 7, "layer.boundary": 5, "layer.kernel_layer": 5, "layer.segment": 6, "layer.segment_kernel": 12,
    "layer.sequence": 9, "mfu.kernel_efficiency": 14, "mfu.work": 6, "module.call": 7, "module.interval_parent": 5,
    "module.kernel": 8, "module.op_interval": 6, "module.statistic_row": 21, "mstx.event": 9, "mstx.launch": 6, "mstx.work": 14,
    "op.cost": 24, "op.parent": 32, "pmu.by_level": 47, "pmu.kernel_counters": 36, "pmu.metric": 23, "step.time": 10,
    "trace.communication_task": 6, "trace.kernel_metric": 6, "trace.queue": 5,
}  # fmt: skip
_LEAST_STEP = 0.002


def work_of(
    input_bytes: int, source: str, whole: Plan, plan: Plan, read: Container[str], on_work: OnWork
) -> tuple[Callable[[int], None], Callable[[str], None]]:
    """Return the functions to call with the size of each piece of input that is staged, and with each table that is made.

    `whole` is the plan of a rank of which nothing is kept, `plan` what is to do; tables in `read` are read from files. What is
    behind guards counts nothing, since guards seldom have rows.
    """
    of_staging = input_bytes * _STAGING.get(source, 0.5) * _column_count(plan) / max(_column_count(whole), 1)
    of_tables = input_bytes * (1 - _STAGING.get(source, 0.5)) / max(sum(_weights(whole, ()).values()), 1)
    weights = _weights(plan, read)
    total = int(of_staging + of_tables * sum(weights.values()))
    staged, built, reported, lock = 0, 0, 0, Lock()

    def report() -> None:
        nonlocal reported
        share = min(staged / input_bytes, 1) if input_bytes else 1
        done = min(int(of_staging * share + of_tables * built), total)
        if done - reported >= total * _LEAST_STEP:
            reported = done
            on_work(done, total)

    def on_staged(size: int) -> None:
        nonlocal staged
        with lock:
            staged += size
            report()

    def on_made(table: str) -> None:
        nonlocal built
        with lock:
            built += weights.get(table, 0)
            report()

    on_work(0, total)
    return on_staged, on_made


def _column_count(plan: Plan) -> int:
    return sum(map(len, plan.raw_columns.values()))


def _weights(plan: Plan, read: Container[str]) -> dict[str, int]:
    return {name: 1 if name in read else WEIGHTS.get(name, 1) for name in plan.order if name not in plan.deferred}


def of_all(
    sizes: Mapping[Rank, int], on_progress: OnWork | None
) -> tuple[Callable[[Rank, int, int], None], Callable[[Rank], None]]:
    """Return the functions to call with the work of a rank, and with a rank that has ended; they report the work of all.

    `sizes` has the bytes of the input of each rank, which are its work until it says how much that is. The share that is
    reported never falls.
    """
    works = {rank: (0, size) for rank, size in sizes.items()}
    all_done, all_work, shown, lock = 0, sum(sizes.values()), Fraction(0), Lock()

    def count(rank: Rank, done: int, work: int) -> None:
        nonlocal all_done, all_work, shown
        with lock:
            before_done, before_work = works[rank]
            works[rank] = done, work
            all_done += done - before_done
            all_work += work - before_work
            share = Fraction(all_done, all_work) if all_work else Fraction(1)
            if on_progress and share > shown:
                shown = share
                on_progress(all_done, all_work)

    def end(rank: Rank) -> None:
        _, work = works[rank]
        count(rank, work, work)

    return count, end
