"""The analysis `api-stats`: which host calls into CANN or CUDA cost the time?"""

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, Sort, heaviest_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, percent, several
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE

ANALYSIS = Analysis(
    "api-stats",
    "Which host calls into CANN or CUDA cost the time?\n\n"
    "Shows the calls by layer and name: how many there are, how long they take without the calls inside them, and how "
    "long the device was idle meanwhile.",
    "host calls",
    {"api.statistic": "ApiStatistic", "across.api_statistic": "ApiStatisticAllRanks"},
    requires=(any_of("host_calls", "reported_host_calls"),),
    options=(INPUT, MACHINE, "filter"),
    also=("op.host", "across.api_role", "api.statistic_audit"),
    counted="api.duration",
    counts_kernels=False,
    rows={"call": Rows("api.statistic", "across.api_statistic")},
    place=3,
    examples={"Where the host waits for the device": "result --filter Synchronize"},
    returns="""Return host calls into CANN, CUDA or HIP by layer and name, the largest own time first.

    Quantiles are times that occur, as in kernel_stats(). With across_ranks a row covers all ranks.
    Raises InputError when no rank holds host calls.
    """,
    keys=lambda: schema.answer(
        roles=schema.rows(
            "all host calls by role", schema.row("across.api_role", "role", "calls", "self_ns", "idle_ns", "total_ns")
        ),
        rows_left_out=schema.LEFT_OUT,
        heaviest_calls=schema.rows("host calls", "across.api_statistic"),
    ),
)

_COLUMNS = {
    "call": "name",
    "layer": "level",
    "own": "self_ns",
    "share of calls": "share",
    "calls": "calls",
    "device idle": "idle_ns",
    "median": "median_ns",
    "p95": "p95_ns",
    "max": "max_ns",
    "total": "total_ns",
    "mean": "mean_ns",
    "role": "role",
}
_DOING = {
    "launch": "to launch",
    "synchronise": "to wait for the device",
    "copy": "to copy",
    "allocate": "to allocate and free memory",
    "compile": "to compile ops",
}


def api_stats(profile: Tables, top: int, sort: Sort = None) -> tuple[Facts, list[Block]]:
    """Return the host calls that cost most, and the time of each role, over all ranks.

    Raises InputError where `sort` is no column.
    """
    roles = profile.rows("FROM across.api_role")
    heaviest = heaviest_of(profile, "across.api_statistic", top, _COLUMNS, sort)
    left_out = sum(row["rows_left_out"] for row in roles)
    facts: Facts = {
        **size_of(profile, "api.statistic", "api.duration"),
        "roles": [{name: row[name] for name in ("role", "calls", "self_ns", "idle_ns", "total_ns")} for row in roles],
        "rows_left_out": left_out,
        "heaviest_calls": heaviest,
    }
    # Where one rank has only the profiler's sums, own times are not known, and times contain those of calls inside.
    known = "self_ns" if all(row["self_ns"] is not None for row in roles) else "total_ns"
    total_ns = sum(row[known] for row in roles)
    calls = several(sum(row["calls"] for row in roles), "call")
    how = " on host threads" if known == "self_ns" else ", calls inside others counted in both"
    lines = [f"{calls} took {duration(total_ns)}{how}; {several(facts['ranks'], 'rank')}"]
    if known == "self_ns":
        parts = [f"{duration(row['self_ns'])} {_DOING[row['role']]}" for row in roles if row["role"]]
        rest_ns = sum(row["self_ns"] for row in roles if not row["role"])
        lines.append(", ".join([*parts, *([f"{duration(rest_ns)} for all else"] if rest_ns else [])]))
    waiting = next((row for row in roles if row["role"] == "synchronise"), None)
    if waiting and waiting["self_ns"] and waiting["idle_ns"] is not None:
        lines.append(f"the device was idle for {duration(waiting['idle_ns'])} while the host waited for it")
    if left_out:
        chosen_ns = sum(row[known] for row in profile.rows("FROM across.api_statistic"))
        share = 1 - chosen_ns / total_ns if total_ns else 0
        lines.append(f"--filter leaves out {several(left_out, 'row')}, with {percent(share)} of the time of all calls")
    return facts, [table_of("across.api_statistic", heaviest, _COLUMNS), said(*lines)]
