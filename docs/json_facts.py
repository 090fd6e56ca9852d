"""What `summary` of each command holds: the keys, and of which tables their rows are.

The rows, their columns, types and units come from the heads of the files in sql/; here is only what they do not say.
"""

from collections.abc import Mapping

from docs.json_parts import (
    PATH,
    Schema,
    amount,
    by_level,
    columns_of,
    count,
    fields,
    or_null,
    row,
    rows,
    share,
    text,
)

_SIZE = {"ranks": count("ranks that answered"), "rows": count("rows of the whole answer, of which the lists have the first")}
_LEFT_OUT = count("rows that --filter leaves out")
_MODULE = text(PATH)
_IN_MODULE = or_null(text(PATH), "outside modules")


def _answer(*optional: str, **properties: Schema) -> Schema:
    """Return the schema of an answer that begins with its size."""
    return fields(*optional, **_SIZE, **properties)


def _of_module(table: str) -> Schema:
    """Return the schema of a row of a module with the whole path in one column."""
    return row(table, without=("parent_module", "module"), module=_MODULE)


_PMU_FIGURES = (
    "duration_ns", "known_duration_ns", "known_share", "compute_ns", "memory_ns", "on_chip_ns", "scalar_ns", "wait_ns",
    "occupancy_duration_ns", "occupancy", "few_blocks_ns", "blocks_per_sm", "warps_per_sm", "registers_per_thread",
    "shared_memory_bytes",
)  # fmt: skip
_PMU_RATIOS = (
    "aic_mac_ratio", "aic_scalar_ratio", "aic_mte1_ratio", "aic_mte2_ratio", "aic_fixpipe_ratio", "aiv_vec_ratio",
    "aiv_scalar_ratio", "aiv_mte2_ratio", "aiv_mte3_ratio",
)  # fmt: skip
_OF_PMU_MODULE = row("across.pmu", *_PMU_FIGURES, *_PMU_RATIOS, module=_MODULE)
_MFU_FIGURES = ("mfu", "efficiency", "achieved_tflops", "known_share", "duration_ns", "kernel_count", "reasons")
_PARTS = (
    "elapse_ns", "transit_ns", "wait_ns", "synchronization_ns", "idle_ns", "longest_plane_wait_ns", "unknown_ns",
)  # fmt: skip
_OF_STEPS = (
    "computing_ns", "communication_ns", "communication_not_overlapped_ns", "overlapped_ns", "free_ns", "stage_ns",
    "bubble_ns", "copying_not_overlapped_ns",
)  # fmt: skip
_OF_STEP_REST = {
    name: one
    for name, one in columns_of("across.step_total").items()
    if name in ("ranks_of_profiler", "computing_of_no_step_ns", "steps_known_in_part")
}

_COSTS: Mapping[str, Schema] = {
    "module-stats": {
        "anyOf": [
            _answer(
                "counters",
                heaviest_modules=rows("modules with most kernel time of their own", _of_module("across.module_time")),
                heaviest_costs=rows(
                    "what costs them: ops with their kernels; with --source-line, with the lines that called them",
                    _of_module("across.module_cost"),
                    _of_module("across.module_source_line"),
                ),
                coverage=rows("where all kernel time is", row("across.coverage")),
                counters=rows("with --pmu: the hardware counters of modules", _OF_PMU_MODULE),
            ),
            fields(
                ranks=_SIZE["ranks"],
                modules=count("modules"),
                most_different_modules=rows("with --across-ranks: modules that differ most", row("across.module")),
            ),
        ]
    },
    "kernel-stats": _answer(
        kinds=rows("all kernels by kind", row("across.kernel_kind", "kind", "kernel_count", "total_ns")),
        types_from_names_share=or_null(
            share("part of the compute time of kernels whose type is known from their name"), "without compute kernels"
        ),
        rows_left_out=_LEFT_OUT,
        heaviest_kernels=rows(
            "by type; with --by by name, by shapes, or those on CPUs of the device",
            row("across.kernel_statistic"),
            row("across.kernel_by_name"),
            row("across.kernel_by_shapes"),
            row("across.kernel_on_cpu"),
        ),
    ),
    "op-stats": _answer(
        **columns_of("across.op_total"),
        heaviest_ops=rows(
            "ops; with --source-line each with a line that called it", row("across.op_statistic"), row("across.op_source_line")
        ),
    ),
    "api-stats": _answer(
        roles=rows("all host calls by role", row("across.api_role", "role", "calls", "self_ns", "idle_ns")),
        rows_left_out=_LEFT_OUT,
        heaviest_calls=rows("host calls", row("across.api_statistic")),
    ),
    "stacks": by_level(
        _answer(
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
    "communication-stats": _answer(
        **columns_of("across.communication_total"),
        heaviest_communication=rows("operators by type and group", row("across.communication_statistic")),
    ),
    "mfu": by_level(
        _answer(
            heaviest=rows("modules, ops, kernels or ranks with most kernel time"),
            all=row("across.mfu", *_MFU_FIGURES, "elapsed_ns", "cube_duration_ns", "cube_known_share"),
            peaks=rows("the peaks that it counts with", row("across.mfu_peak")),
            left_out=rows("kernels without FLOPs", row("across.mfu_left_out")),
            audit=rows("what contradicts itself", row("across.mfu_finding")),
        ),
        "heaviest",
        {
            "module": row("across.mfu", *_MFU_FIGURES, module=_MODULE),
            "op": row("across.mfu", *_MFU_FIGURES, "type", "input_shapes", op=columns_of("across.mfu")["op_name"]),
            "kernel": row("across.mfu", *_MFU_FIGURES, kernel=columns_of("mfu.kernel_efficiency")["name"]),
            "rank": row("across.mfu", *_MFU_FIGURES, rank=columns_of("mfu.rank")["profile"]),
        },
    ),
    "pmu-stats": by_level(
        _answer(
            heaviest=rows("kernel types, ops or modules with most kernel time"),
            all=row("across.pmu", *_PMU_FIGURES),
        ),
        "heaviest",
        {
            "kernel_type": row("across.pmu", "type", "core", "kind", *_PMU_FIGURES, *_PMU_RATIOS),
            "op": row("across.pmu", "type", "core", *_PMU_FIGURES, *_PMU_RATIOS, op=columns_of("across.pmu")["op_name"]),
            "module": _OF_PMU_MODULE,
        },
    ),
    "mstx-stats": _answer(
        producers=rows("who made marks and ranges", row("across.mstx_producer")),
        heaviest=rows("ranges with most host time, then marks", row("across.mstx")),
    ),
}

_CAUSES: Mapping[str, Schema] = {
    "step-time": _answer(
        all=row("across.step_total", *_OF_STEPS),
        **_OF_STEP_REST,
        longest_steps=rows("steps", row("step.time")),
        durations=row("across.step_duration"),
        communication=rows("communication by type and group, and how much is not covered", row("across.step_communication")),
        copies=rows("copies by direction", row("across.copy")),
    ),
    "free-time": _answer(
        causes=rows("idle time by cause", row("across.free_cause")),
        longest_gaps=rows("gaps", row("free.longest_gap")),
        unknown_causes=rows("causes that this recording cannot show", row("across.free_unknown_cause")),
    ),
    "pipeline": _answer(stages=rows("each rank as a stage", row("across.pipeline_rank"))),
    "communication-time": _answer(
        all=row("across.communication_time"),
        longest_groups=rows(
            "operators by type and group",
            row("across.communication_group_time", "op_count", *_PARTS, "bandwidth_gb_s", "type", "group_name"),
        ),
        unknown=rows("what is not split, by reason", row("across.communication_unknown")),
        unpaired=rows(
            "operators that send or receive without a partner",
            fields(reason=text("why there is none"), operators=count("operators")),
        ),
    ),
    "links": _answer(
        links=rows("each kind of link", row("across.link_kind")),
        pairs=rows("pairs of ranks that lose most time beside others", row("across.link")),
    ),
    "slow-ranks": {
        "anyOf": [
            _answer(
                **columns_of("across.slow_rank_finding"),
                evidence=rows("ranks, those that waited least first", row("across.slow_rank")),
                modules=rows("modules in which a slow rank computes longer", row("across.slow_rank_module")),
            ),
            _answer(
                causes=rows(
                    "with --by collective: all waiting in collectives by cause",
                    fields(
                        cause=columns_of("across.collective")["cause"],
                        collectives=count("collectives"),
                        all_waited_ns=amount("what all ranks waited", "ns"),
                    ),
                ),
                worst=rows("with --by collective: the collectives in which ranks waited most", row("across.collective")),
            ),
        ]
    },
    "experts": _answer(
        groups=rows("groups of ranks", row("across.expert_total")),
        most_loaded_ranks=rows("ranks", row("across.expert_rank")),
        costliest_calls=rows("grouped matmuls", row("across.expert_call")),
        rows_by_expert=rows("experts", row("across.expert_rows")),
    ),
    "memory": by_level(
        _answer(
            "components",
            "peaks",
            "floor",
            "kept",
            devices=rows(
                "the fullest first; components, peaks, floor and kept are of the first one", row("across.memory_rank")
            ),
            rows_shown=rows("rows of the first device; with --level another row each"),
            out_of_memory=rows("attempts to allocate that failed", row("allocation.out_of_memory")),
            components=rows("who holds memory", row("allocation.component")),
            peaks=rows("the peaks", row("allocation.peak_moment")),
            floor=fields(
                step_count=count("steps"),
                first_bytes=or_null(amount("least that is allocated in the first step", "bytes"), "without steps"),
                last_bytes=or_null(amount("least that is allocated in the last step", "bytes"), "without steps"),
            ),
            kept=rows("ops whose blocks stay", row("allocation.kept")),
        ),
        "rows_shown",
        {
            "peak": row("allocation.peak", without=(), module_path=_IN_MODULE),
            "module": row("allocation.module", without=("module",), module=_MODULE),
            "op": row("allocation.op"),
            "block": row("allocation.block", module_path=_IN_MODULE),
            "step": row("allocation.step"),
            "time": row(
                "allocation.usage",
                since_ns=amount("time since the first moment", "ns"),
                all_ns=amount("time from the first moment to the last, both included", "ns"),
            ),
            "component": row("allocation.component"),
        },
    ),
    "clock": _answer(
        all=fields(
            slow_count=count("devices that computed below the rated clock"),
            lost_ns=or_null(amount("what that cost at most", "ns"), "where unknown"),
            computing_lost_ns=or_null(amount("of it in kernels bound by computing", "ns"), "where unknown"),
            computing_ns=or_null(amount("computing", "ns"), "where unknown"),
            unrated_count=count("devices whose rated clock is not recorded"),
        ),
        devices=rows("devices whose lower clock cost most", row("clock.device")),
        kernel_types=rows("types of kernels that it cost most", row("across.clock_kernel_type")),
    ),
    "layer-stats": _answer(
        structures=rows("the layers of each rank", row("layer.structure")),
        all=row("across.layer_time"),
        heaviest_positions=rows("positions in the layers", row("layer.statistic")),
    ),
    "graph-overhead": _answer(
        **columns_of("across.graph_total"),
        phases=rows("phases of the graphs", row("across.graph_phase", without=("graph_number",))),
        unknown=rows("why values are unknown", row("across.graph_unknown")),
    ),
}


def _of_runs(table: str) -> Schema:
    """Return the schema of a row of a table over runs, for one of them."""
    return row(table, without=("run",))


_OTHERS: Mapping[str, Schema] = {
    "stage-durations": fields(
        **columns_of("vllm.total"),
        stages=rows("stages over all processes", row("vllm.across_processes")),
        stages_of_processes=rows("stages of each process", row("vllm.statistic")),
    ),
    "compare": fields(
        "memory",
        "efficiency",
        finding=_of_runs("runs.comparison_finding"),
        size=_of_runs("runs.comparison"),
        summary=rows("figures of the whole runs", _of_runs("runs.comparison_summary")),
        modules=rows("modules that changed", _of_runs("runs.module_group")),
        ops=rows("ops that changed", _of_runs("runs.op_group")),
        kernels=rows("types and shapes of kernels that changed", _of_runs("runs.kernel_comparison")),
        kernels_in_one_run_share=or_null(
            share("part of the kernel time of both runs whose types and shapes one run alone has"), "without kernels"
        ),
        communication=rows("communication that changed", _of_runs("runs.communication_comparison")),
        step_count=fields(
            base=count("steps of the base"),
            new=count("steps of the new run"),
            base_outliers=count("of those of the base, outliers"),
            new_outliers=count("of those of the new run, outliers"),
        ),
        steps=rows("steps; where there are more than --top, the outliers", _of_runs("runs.step_comparison")),
        idle=rows("idle time by cause", _of_runs("runs.idle_comparison")),
        locations=rows("kernel time inside and outside modules", _of_runs("runs.comparison_location")),
        memory=rows("where both runs recorded it: memory that changed", _of_runs("runs.memory_comparison")),
        efficiency=rows("with --efficiency: MFU and bounds of modules", _of_runs("runs.efficiency_comparison")),
    ),
}

# Command -> the schema of its facts.
FACTS: Mapping[str, Schema] = {**_COSTS, **_CAUSES, **_OTHERS}
