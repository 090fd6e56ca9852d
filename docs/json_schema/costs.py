"""The keys of `summary` of the commands about costs.

The rows, their columns, types and units come from the heads of the files in sql/; here is only what they do not say.
"""

from collections.abc import Mapping

from docs.json_schema.parts import (
    LEFT_OUT,
    MODULE,
    SIZE,
    Schema,
    amount,
    answer,
    by_level,
    columns_of,
    count,
    fields,
    of_module,
    one,
    or_null,
    row,
    rows,
    share,
    text,
)

_PMU_FIGURES = (
    "duration_ns", "known_duration_ns", "known_share", "compute_ns", "memory_ns", "on_chip_ns", "scalar_ns", "wait_ns",
    "unbound_ns",
    "occupancy_duration_ns", "occupancy", "few_blocks_ns", "blocks_per_sm", "warps_per_sm", "registers_per_thread",
    "shared_memory_bytes", "aic_kernel_count", "aic_uncounted_count", "aic_uncounted_ns", "aiv_kernel_count",
    "aiv_uncounted_count", "aiv_uncounted_ns",
)  # fmt: skip
_PMU_RATIOS = (
    "aic_mac_ratio", "aic_scalar_ratio", "aic_mte1_ratio", "aic_mte2_ratio", "aic_fixpipe_ratio", "aiv_vec_ratio",
    "aiv_scalar_ratio", "aiv_mte2_ratio", "aiv_mte3_ratio",
)  # fmt: skip
_OF_PMU_MODULE = row("across.pmu", *_PMU_FIGURES, *_PMU_RATIOS, module=MODULE)
_MFU_FIGURES = ("mfu", "efficiency", "achieved_tflops", "known_share", "duration_ns", "kernel_count", "mac_ratio", "reasons")
COSTS: Mapping[str, Schema] = {
    "module-stats": {
        "anyOf": [
            answer(
                "counters",
                heaviest_modules=rows("modules with most kernel time of their own", of_module("across.module_time")),
                heaviest_costs=rows(
                    "what costs them: ops with their kernels; with --source-line, with the lines that called them",
                    of_module("across.module_cost"),
                    of_module("across.module_source_line"),
                ),
                coverage=rows("where all kernel time is", row("across.coverage")),
                counters=rows("with --pmu: the hardware counters of modules", _OF_PMU_MODULE),
            ),
            fields(
                ranks=SIZE["ranks"],
                modules=count("modules"),
                most_different_modules=rows("with --across-ranks: modules that differ most", row("across.module")),
            ),
        ]
    },
    "kernel-stats": answer(
        kinds=rows("all kernels by kind", row("across.kernel_kind", "kind", "kernel_count", "total_ns")),
        types_from_names_share=or_null(
            share("part of the compute time of kernels whose type is known from their name"), "without compute kernels"
        ),
        rows_left_out=LEFT_OUT,
        heaviest_kernels=rows(
            "by type; with --by by name, by shapes, or those on CPUs of the device",
            row("across.kernel_statistic"),
            row("across.kernel_by_name"),
            row("across.kernel_by_shapes"),
            row("across.kernel_on_cpu"),
        ),
    ),
    "op-stats": answer(
        **columns_of("across.op_total"),
        heaviest_ops=rows(
            "ops; with --source-line each with a line that called it", row("across.op_statistic"), row("across.op_source_line")
        ),
    ),
    "api-stats": answer(
        roles=rows("all host calls by role", row("across.api_role", "role", "calls", "self_ns", "idle_ns")),
        rows_left_out=LEFT_OUT,
        heaviest_calls=rows("host calls", row("across.api_statistic")),
    ),
    "stacks": by_level(
        answer(
            all_kernels_ns=amount("time of all kernels", "ns"),
            parts=rows(
                "what has a stack (reason null), and what has none",
                fields(
                    reason=or_null(text("why there is no stack"), "where there is one"),
                    kernel_count=count("kernels"),
                    device_ns=amount("their time", "ns"),
                    backward_ns=amount("of it in the backward", "ns"),
                    host_ns=amount("time of the ops on host threads", "ns"),
                    stack_count=count("stacks"),
                ),
            ),
            heaviest=rows("places in the source, or whole stacks"),
        ),
        "heaviest",
        {"frame": row("across.stack_frame"), "stack": row("across.stack")},
    ),
    "communication-stats": answer(
        **columns_of("across.communication_total"),
        heaviest_communication=rows("operators by type and group", row("across.communication_statistic")),
    ),
    "mfu": by_level(
        answer(
            heaviest=rows("modules, ops, kernels or ranks with most kernel time"),
            all=one("all together", row("across.mfu", *_MFU_FIGURES, "elapsed_ns", "cube_duration_ns", "cube_known_share")),
            peaks=rows("the peaks that it counts with", row("across.mfu_peak")),
            left_out=rows("kernels without FLOPs", row("across.mfu_left_out")),
            audit=rows("what contradicts itself", row("across.mfu_finding")),
        ),
        "heaviest",
        {
            "module": row("across.mfu", *_MFU_FIGURES, module=MODULE),
            "op": row("across.mfu", *_MFU_FIGURES, "type", "input_shapes", op=columns_of("across.mfu")["op_name"]),
            "kernel": row("across.mfu", *_MFU_FIGURES, kernel=columns_of("mfu.kernel_efficiency")["name"]),
            "rank": row("across.mfu", *_MFU_FIGURES, rank=columns_of("mfu.rank")["profile"]),
        },
    ),
    "pmu-stats": by_level(
        answer(
            heaviest=rows("kernel types, ops or modules with most kernel time"),
            all=one("all kernels", row("across.pmu", *_PMU_FIGURES)),
        ),
        "heaviest",
        {
            "kernel_type": row("across.pmu", "type", "core", "kind", *_PMU_FIGURES, *_PMU_RATIOS),
            "op": row("across.pmu", "type", "core", *_PMU_FIGURES, *_PMU_RATIOS, op=columns_of("across.pmu")["op_name"]),
            "module": _OF_PMU_MODULE,
        },
    ),
    "mstx-stats": answer(
        producers=rows("who made marks and ranges", row("across.mstx_producer")),
        heaviest=rows("ranges with most host time, then marks", row("across.mstx")),
    ),
}
