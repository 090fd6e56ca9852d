"""The analyses of where the time goes: modules, kernels, ops, host calls, communication, and how well the device is used."""

from prof_analysis.analyses.analysis import COMMUNICATION, COUNTERS, STACKS, TIMELINE, Analysis, Extra, flame
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.options import INPUT, MACHINE, MODULES

COSTS = (
    Analysis(
        "module-stats",
        "Which modules cost the time, by which ops and kernels?\n\n"
        "Shows the modules as a tree with the compute time inside each and of its own, the ops and kernels that cost "
        "them most, and how much of all kernel time modules explain.",
        "modules",
        {"module.statistic": "ModuleStatistic", "module.tree": "ModuleTree", "module.coverage": "ModuleCoverage"},
        requires=("modules", "kernels"),
        options=(INPUT, MODULES, MACHINE),
        # Of the first tables only the warnings are shown.
        also=(
            "module.chosen_domain",
            "module.replayed",
            "module.lost_launch",
            "module.lost_backward",
            "module.crossing_time",
            "module.doubted_time",
            "across.module_time",
            "across.module_cost",
            "across.coverage",
        ),
        of_several_ranks={"across.module": "ModuleAcrossRanks"},
        extras={
            "pmu": Extra(COUNTERS, {"pmu.module": "PmuModule"}, also=("across.pmu",)),
            "source-line": Extra(
                STACKS, {"stack.by_module": "ModuleSourceLine", "across.module_source_line": "ModuleSourceLineAllRanks"}
            ),
        },
        pictures={**flame("flame.module", "ModuleFlame"), **TIMELINE},
        counted="module.tree",
    ),
    Analysis(
        "kernel-stats",
        "Which types of kernels cost the time?\n\n"
        "Shows for each type and core how many kernels there are and how long they take: total, mean, median, p95.",
        "kernels",
        {"kernels.statistic": "KernelStatistic", "across.kernel_statistic": "KernelStatisticAllRanks"},
        requires=(any_of("kernels", "reported_kernels"),),
        options=(INPUT, MACHINE, "filter"),
        also=("across.kernel_kind",),
        extras={
            "by name": Extra(
                ("kernels",), {"kernels.by_name": "KernelByName", "across.kernel_by_name": "KernelByNameAllRanks"}
            ),
            "by shapes": Extra(
                ("kernels",), {"kernels.by_shapes": "KernelByShapes", "across.kernel_by_shapes": "KernelByShapesAllRanks"}
            ),
            "by cpu": Extra(
                ("kernels", "ops"), {"kernels.on_cpu": "KernelOnCpu", "across.kernel_on_cpu": "KernelOnCpuAllRanks"}
            ),
        },
        counted="kernels.duration",
    ),
    Analysis(
        "op-stats",
        "Which framework ops cost the time, on host and device?\n\n"
        "Shows ops by name and input shapes, with the time of the kernels that they launched.",
        "ops",
        {"op.statistic": "OpStatistic", "across.op_statistic": "OpStatisticAllRanks"},
        requires=(any_of("ops", "reported_ops"),),
        options=(INPUT, MACHINE, "filter"),
        also=("kernels.duration", "across.op_total"),
        extras={"source-line": Extra(STACKS, {"stack.by_op": "OpSourceLine", "across.op_source_line": "OpSourceLineAllRanks"})},
        pictures=flame("flame.op", "OpFlame", "ops", "kernels"),
        counted="op.by_shape",
    ),
    Analysis(
        "api-stats",
        "Which host calls into CANN or CUDA cost the time?\n\n"
        "Shows the calls by layer and name: how many there are, how long they take without the calls inside them, and how "
        "long the device was idle meanwhile.",
        "host calls",
        {"api.statistic": "ApiStatistic", "across.api_statistic": "ApiStatisticAllRanks"},
        requires=("host_calls",),
        options=(INPUT, MACHINE, "filter"),
        also=("op.host", "across.api_role"),
        counted="api.duration",
        counts_kernels=False,
    ),
    Analysis(
        "stacks",
        "Where in my Python source is the time spent?\n\n"
        "Shows the places in the source, or whole stacks, from which ops were called: the time of their kernels, and their "
        "own time on the host.",
        "ops with Python stacks",
        {
            "stack.by_frame": "StackFrame",
            "stack.by_stack": "Stack",
            "across.stack_frame": "StackFrameAllRanks",
            "across.stack": "StackAllRanks",
        },
        requires=STACKS,
        options=(INPUT, MODULES, MACHINE, "under", "module", "user_code"),
        also=("op.host", "kernels.duration", "stack.cost", "stack.chosen_path"),
        extras={"module": Extra(("modules",), {})},
        pictures=flame("flame.stack", "StackFlame", "kernels"),
        counted="stack.cost",
    ),
    Analysis(
        "communication-stats",
        "Which kinds of communication cost the time?\n\n"
        "Shows communication operators by type and group: how many there are and how long they take. Why they take so "
        "long: communication-time.",
        "communication operators",
        {
            "communication.statistic": "CommunicationStatistic",
            "across.communication_statistic": "CommunicationStatisticAllRanks",
            "across.communication_group": "CommunicationGroup",
        },
        requires=(COMMUNICATION,),
        also=("across.communication_total",),
    ),
    Analysis(
        "mfu",
        "How much of the peak of the device does the model use?\n\n"
        "Shows model FLOPs utilisation (MFU: FLOPs by the time of the steps), and how well the matrix products use the "
        "device while they run.",
        "compute kernels",
        {
            "mfu.rank": "Mfu",
            "mfu.module": "MfuModule",
            "mfu.op": "MfuOp",
            "mfu.kernel_efficiency": "MfuKernel",
            "mfu.audit": "MfuAudit",
            "mfu.operator_mfu": "OperatorMFU",
            "mfu.module_mfu": "ModuleMFU",
            "across.mfu": "MfuAllRanks",
        },
        requires=("compute", "shapes"),
        options=(INPUT, MODULES, MACHINE, "peak_tflops"),
        also=(
            "module.chosen_domain",
            "across.mfu_peak",
            "across.mfu_left_out",
            "across.mfu_finding",
        ),
    ),
    Analysis(
        "pmu-stats",
        "What bounds the kernels: computing, memory or neither?\n\n"
        "Shows hardware counters: how busy the pipes of the cores were, how often caches were hit.",
        "kernels with hardware counters",
        {
            "pmu.kernel_type": "PmuKernelType",
            "pmu.op": "PmuOp",
            "pmu.module": "PmuModule",
            "pmu.metric": "PmuMetric",
            "across.pmu": "PmuAllRanks",
        },
        requires=COUNTERS,
        options=(INPUT, MODULES, MACHINE),
        also=("module.chosen_domain",),
    ),
    Analysis(
        "mstx-stats",
        "How long did my mstx ranges take, and what ran inside?\n\n"
        "Shows mstx marks and ranges by domain and message: host and device time, and the kernels launched inside.",
        "mstx marks or ranges",
        {"mstx.statistic": "MstxStatistic", "mstx.step_statistic": "MstxStepStatistic"},
        requires=("marks",),
        also=("op.host", "across.mstx", "across.mstx_producer"),
    ),
)
