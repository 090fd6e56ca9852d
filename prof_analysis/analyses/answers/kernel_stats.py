"""The analysis `kernel-stats`: which types of kernels cost the time?"""

from collections.abc import Iterator

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, Sort, heaviest_of, left_out_lines, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, percent, several
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE

# A rate of less of the time of a category is said to be that of a part.
_MOST_OF_IT = 0.5
ANALYSIS = Analysis(
    "kernel-stats",
    "Which types of kernels cost the time?\n\n"
    "Shows for each type and core how many kernels there are and how long they take: total, mean, median, p95.",
    "kernels",
    {"kernels.statistic": "KernelStatistic", "across.kernel_statistic": "KernelStatisticAllRanks"},
    section="kernels",
    captions=("Types of kernels",),
    requires=(any_of("kernels", "reported_kernels"),),
    options=(INPUT, MACHINE, "filter"),
    also=("across.kernel_kind",),
    extras={
        "by name": Extra(("kernels",), {"kernels.by_name": "KernelByName", "across.kernel_by_name": "KernelByNameAllRanks"}),
        "by shapes": Extra(
            ("kernels",), {"kernels.by_shapes": "KernelByShapes", "across.kernel_by_shapes": "KernelByShapesAllRanks"}
        ),
        "by cpu": Extra(("kernels", "ops"), {"kernels.on_cpu": "KernelOnCpu", "across.kernel_on_cpu": "KernelOnCpuAllRanks"}),
        "by overlap": Extra(
            ("kernels", "communication", "shapes"),
            {"kernels.beside_communication": "KernelBesideCommunication"},
            ("across.beside_communication",),
        ),
        "by category": Extra(
            ("kernels",), {"kernels.by_category": "KernelByCategory", "across.kernel_by_category": "KernelByCategoryAllRanks"}
        ),
        "by phase": Extra(("kernels",), {"kernels.by_phase": "KernelByPhase"}, ("across.kernel_by_phase",)),
        "by kernel": Extra(("kernels",), {"kernels.longest": "LongestKernel"}, ("across.longest_kernel",)),
    },
    counted="kernels.duration",
    rows={
        "type": Rows("kernels.statistic", "across.kernel_statistic"),
        "name": Rows("kernels.by_name", "across.kernel_by_name", extra="by name"),
        "shapes": Rows("kernels.by_shapes", "across.kernel_by_shapes", extra="by shapes"),
        "category": Rows("kernels.by_category", "across.kernel_by_category", requires=("kernels",), extra="by category"),
        "cpu": Rows("kernels.on_cpu", "across.kernel_on_cpu", extra="by cpu"),
        "kernel": Rows("kernels.longest", "across.longest_kernel", extra="by kernel", is_listed=True),
        "phase": Rows("kernels.by_phase", "across.kernel_by_phase", requires=("kernels",), extra="by phase", is_listed=True),
        "overlap": Rows(
            "kernels.beside_communication",
            "across.beside_communication",
            requires=("kernels", "communication", "shapes"),
            extra="by overlap",
            is_listed=True,
        ),
    },
    place=1,
    examples={
        "How much slower kernels are beside communication": "result --by overlap",
        "By what they compute: products, attention, norms, ...": "result --by category",
    },
    returns="""Return kernel time by kind, type and core, the heaviest first; or by name, or by name, input shapes and types.

    With by="cpu" a row is a name of kernels that ran on CPUs of the device (AI CPU), with their op and module;
    with by="category" what kernels compute or move, with their FLOPs, bytes and place on the roofline;
    with by="kernel" one of the 100 longest kernels of a rank, and where it is; with by="overlap" a type
    and shape of compute kernels, beside communication and alone.

    Median and p95 are times that occur: the smallest that at least 50 % and 95 % of the kernels do not exceed. With
    across_ranks a row covers all ranks.
    Raises InputError when no rank holds kernels.
    """,
    keys=lambda: schema.answer(
        kinds=schema.rows("all kernels by kind", schema.row("across.kernel_kind", "kind", "kernel_count", "total_ns")),
        types_from_names_share=schema.or_null(
            schema.share("part of the compute time of kernels whose type is known from their name"), "without compute kernels"
        ),
        rows_left_out=schema.LEFT_OUT,
        heaviest_kernels=schema.rows(
            "by type; with --by by name, by shapes, by category, or those on CPUs of the device",
            "across.kernel_statistic",
            "across.kernel_by_category",
            "across.kernel_by_name",
            "across.kernel_by_shapes",
            "across.kernel_on_cpu",
        ),
    ),
)

_SPREAD = {name: f"{name}_ns" for name in ("mean", "median", "p95", "min", "max")}


_TOTALS = {"total": "total_ns", "share of kind": "share", "kernels": "kernel_count"}
_QUARTILES = {
    "mean": "mean_ns",
    "deviation": "stddev_ns",
    "min": "min_ns",
    "1st quartile": "q1_ns",
    "median": "median_ns",
    "3rd quartile": "q3_ns",
    "max": "max_ns",
}
_OF_KERNEL = {"type": "type", "core": "core", "kind": "kind"}
# What a row is -> its table over all ranks, and the columns that are shown of it.
_KERNELS = {
    "type": ("across.kernel_statistic", {"type": "type", **_TOTALS, **_SPREAD, "core": "core", "kind": "kind"}),
    "name": ("across.kernel_by_name", {"kernel": "name", **_TOTALS, **_QUARTILES, **_OF_KERNEL}),
    "shapes": (
        "across.kernel_by_shapes",
        {"kernel": "name", "input shapes": "input_shapes", **_TOTALS, **_QUARTILES, **_OF_KERNEL, "input types": "input_types"},
    ),
    "category": (
        "across.kernel_by_category",
        {
            "category": "category",
            "total": "total_ns",
            "share of all kernels": "share",
            "kernels": "kernel_count",
            "TFLOP/s": "achieved_tflops",
            "share of peak": "efficiency",
            "GB/s": "bandwidth_gb_s",
            "share of memory rate": "memory_share",
            "roof": "bound",
            "with FLOPs": "flops_time_share",
            "with bytes": "bytes_time_share",
        },
    ),
    "cpu": (
        "across.kernel_on_cpu",
        {
            "kernel": "name",
            "op": "op_name",
            "module": "module",
            "total": "total_ns",
            "share of computing": "share",
            "kernels": "kernel_count",
            "type": "type",
            "inside": "parent_module",
        },
    ),
}


def kernel_stats(profile: Tables, top: int, by: str = "type", sort: Sort = None) -> tuple[Facts, list[Block]]:
    """Return the heaviest types, or names, of kernels and the time of each kind, over all ranks.

    Raises InputError where `sort` is no column.
    """
    kinds = profile.rows("FROM across.kernel_kind")
    table, columns = _KERNELS[by]
    heaviest = heaviest_of(profile, table, top, columns, sort)
    left_out = sum(row["rows_left_out"] for row in kinds)
    share = next((row["types_from_names_share"] for row in kinds if row["kind"] == "compute"), None)
    facts: Facts = {
        **size_of(profile, "kernels.statistic", "kernels.duration"),
        "kinds": [{name: row[name] for name in ("kind", "kernel_count", "total_ns")} for row in kinds],
        "types_from_names_share": share,
        "rows_left_out": left_out,
        "heaviest_kernels": heaviest,
    }
    of_kinds = [f"{row['kind']} {duration(row['total_ns'])} in {several(row['kernel_count'], 'kernel')}" for row in kinds]
    lines = [f"{'; '.join(of_kinds)}; {several(facts['ranks'], 'rank')}"]
    if share:
        lines.append(
            f"for {percent(share)} of the compute time, types are not recorded but certain from the names of the kernels"
        )
    if by == "type":
        lines += left_out_lines(left_out, heaviest)
    elif by == "cpu":
        lines += [] if heaviest else ["none of the kernels ran on CPUs of the device"]
    elif by == "category":
        lines += _of_categories(profile)
    else:
        (chosen,) = profile.rows(f"SELECT coalesce(sum(total_ns), 0)::BIGINT AS total_ns FROM {table}")
        all_ns = sum(row["total_ns"] for row in kinds)
        if left_out_ns := all_ns - chosen["total_ns"]:
            lines.append(f"--filter leaves out {percent(left_out_ns / all_ns)} of the time of all kernels")
    # The profiler writes shapes in quotes.
    shown = [{**row, "input_shapes": row["input_shapes"].strip('"')} if row.get("input_shapes") else row for row in heaviest]
    return facts, [table_of(table, shown, columns), said(*lines)]


def _of_categories(profile: Tables) -> Iterator[str]:
    """Yield sentences about what the rates of categories are measured against, and what has no category."""
    rows = profile.rows("FROM across.kernel_by_category")
    other = next((row["share"] for row in rows if row["category"] == "other"), None)
    yield f"{percent(other)} of the time is of kernels of no known category" if other else "all kernels have a category"
    for row in rows:
        for unit, rate, part in (("TFLOP/s", "achieved_tflops", "flops"), ("GB/s", "bandwidth_gb_s", "bytes")):
            known = row[f"{part}_time_share"]
            if row[rate] is not None and known is not None and known < _MOST_OF_IT:
                what = "FLOPs" if part == "flops" else part
                yield f"the {unit} of {row['category']} are of {percent(known)} of its time: of the rest, {what} are not known"
    memory = {row["memory_gb_s"] for row in rows}
    of_memory = memory.pop() if len(memory) == 1 else None
    yield (
        f"the memory moves {of_memory:,.0f} GB/s by the data sheet" if of_memory else "the bandwidth of the memory is not known"
    )
