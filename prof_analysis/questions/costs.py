"""The questions of where the time goes: modules, kernels, ops, host calls, communication, and how well the device is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from prof_analysis.options import one_of
from prof_analysis.questions.question import Answers, No, Yes, gives

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from prof_analysis.questions.question import Frame

KernelRow = Literal["type", "name", "shapes", "cpu"]
MfuLevel = Literal["module", "op", "kernel", "rank"]
PmuLevel = Literal["kernel_type", "op", "module", "metric"]
StackRow = Literal["frame", "stack"]

_KERNELS = {
    "type": "kernels.statistic", "name": "kernels.by_name", "shapes": "kernels.by_shapes", "cpu": "kernels.on_cpu"
}  # fmt: skip
_KERNELS_OF_ALL = {
    "type": "across.kernel_statistic", "name": "across.kernel_by_name", "shapes": "across.kernel_by_shapes",
    "cpu": "across.kernel_on_cpu"
}  # fmt: skip
_MFU = {"module": "mfu.module", "op": "mfu.op", "kernel": "mfu.kernel_efficiency", "rank": "mfu.rank"}
_PMU = {"kernel_type": "pmu.kernel_type", "op": "pmu.op", "module": "pmu.module", "metric": "pmu.metric"}
_STACKS = {"frame": "stack.by_frame", "stack": "stack.by_stack"}
_STACKS_OF_ALL = {"frame": "across.stack_frame", "stack": "across.stack"}


class Costs(Answers):
    """Where the time goes."""

    @overload
    def module_stats(self, *, across_ranks: bool = ..., source_line: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def module_stats(self, *, across_ranks: bool = ..., source_line: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @gives("module.statistic", "across.module", "stack.by_module", "across.module_source_line")
    def module_stats(self, *, across_ranks: bool = False, source_line: bool = False, arrow: bool = False) -> Frame:
        """Return kernel time by module and op, merged over layers, steps and micro-batches, as msprof-analyze does.

        Rows of a rank are in the order of execution. With across_ranks a row compares a module over the ranks that have it,
        and the modules that differ most come first. With source_line a row is an op in a module and the line of user code that
        called it; with both, over all ranks.
        Raises InputError when no rank holds module ranges.
        """
        if source_line:
            return self._answer(
                "module-stats", "across.module_source_line" if across_ranks else "stack.by_module", arrow, also="stacks"
            )
        return self._answer("module-stats", "across.module" if across_ranks else "module.statistic", arrow)

    @overload
    def module_tree(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def module_tree(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives("module.tree")
    def module_tree(self, *, arrow: bool = False) -> Frame:
        """Return kernel time by module path: that of the module itself, and with all modules inside it.

        Raises InputError when no rank holds module ranges.
        """
        return self._answer("module-stats", "module.tree", arrow)

    @overload
    def coverage(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def coverage(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives("module.coverage")
    def coverage(self, *, arrow: bool = False) -> Frame:
        """Return where all kernel time went: inside modules, outside modules, or linked to no op.

        The times of a rank add up to all its kernel time.
        """
        return self._table("module.coverage", arrow)

    @overload
    def kernel_stats(self, by: KernelRow = ..., *, across_ranks: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def kernel_stats(self, by: KernelRow = ..., *, across_ranks: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @gives(*_KERNELS.values(), *_KERNELS_OF_ALL.values())
    def kernel_stats(self, by: KernelRow = "type", *, across_ranks: bool = False, arrow: bool = False) -> Frame:
        """Return kernel time by kind, type and core, the heaviest first; or by name, or by name, input shapes and types.

        With by="cpu" a row is a name of kernels that ran on CPUs of the device (AI CPU), with their op and module.

        Median and p95 are times that occur: the smallest that at least 50 % and 95 % of the kernels do not exceed. With
        across_ranks a row covers all ranks.
        Raises InputError when no rank holds kernels.
        """
        one_of("by", by, _KERNELS)
        return self._answer("kernel-stats", (_KERNELS_OF_ALL if across_ranks else _KERNELS)[by], arrow)

    @overload
    def op_stats(self, *, across_ranks: bool = ..., source_line: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def op_stats(self, *, across_ranks: bool = ..., source_line: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @gives("op.statistic", "across.op_statistic", "stack.by_op", "across.op_source_line")
    def op_stats(self, *, across_ranks: bool = False, source_line: bool = False, arrow: bool = False) -> Frame:
        """Return framework ops by name and input shapes, the heaviest on the device first.

        Records of a launch, such as aclnnMm, count as a part of the op around them. A call inside a call of the same row does
        not count again in the totals. With across_ranks a row covers all ranks. With source_line a row is an op and the line of
        user code that called it.
        Raises InputError when no rank holds framework ops.
        """
        if source_line:
            return self._answer("op-stats", "across.op_source_line" if across_ranks else "stack.by_op", arrow, also="stacks")
        return self._answer("op-stats", "across.op_statistic" if across_ranks else "op.statistic", arrow)

    @overload
    def api_stats(self, *, across_ranks: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def api_stats(self, *, across_ranks: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @gives("api.statistic", "across.api_statistic")
    def api_stats(self, *, across_ranks: bool = False, arrow: bool = False) -> Frame:
        """Return host calls into CANN, CUDA or HIP by layer and name, the largest own time first.

        Quantiles are times that occur, as in kernel_stats(). With across_ranks a row covers all ranks.
        Raises InputError when no rank holds host calls.
        """
        return self._answer("api-stats", "across.api_statistic" if across_ranks else "api.statistic", arrow)

    @overload
    def stacks(self, by: StackRow = ..., *, across_ranks: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def stacks(self, by: StackRow = ..., *, across_ranks: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @gives(*_STACKS.values(), *_STACKS_OF_ALL.values())
    def stacks(self, by: StackRow = "frame", *, across_ranks: bool = False, arrow: bool = False) -> Frame:
        """Return the cost of the ops called from each place in the Python source, the heaviest on the device first.

        With by="stack" a row is a whole stack. Work whose stack is not known has a row with the reason. With across_ranks a row
        covers all ranks.
        Raises InputError when no rank holds Python stacks.
        """
        one_of("by", by, _STACKS)
        return self._answer("stacks", (_STACKS_OF_ALL if across_ranks else _STACKS)[by], arrow)

    @overload
    def communication_stats(self, *, across_ranks: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def communication_stats(self, *, across_ranks: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @gives("communication.statistic", "across.communication_statistic")
    def communication_stats(self, *, across_ranks: bool = False, arrow: bool = False) -> Frame:
        """Return communication operators by type and group, the heaviest first; median and p95 as in kernel_stats().

        With across_ranks a row covers all ranks.
        Raises InputError when no rank holds communication operators.
        """
        table = "across.communication_statistic" if across_ranks else "communication.statistic"
        return self._answer("communication-stats", table, arrow)

    @overload
    def mfu(self, level: MfuLevel = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def mfu(self, level: MfuLevel = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives(*_MFU.values())
    def mfu(self, level: MfuLevel = "module", *, arrow: bool = False) -> Frame:
        """Return model FLOPs utilisation, and how much of the peak of the device the matrix products used while they ran.

        mfu = time that the FLOPs would take at the peak / time from the first kernel to the end of the last one;
        efficiency = known_flops / possible_flops, over kernels with known FLOPs and peak; reasons say why others are left out.
        Table across.mfu has the same over all ranks.
        Raises InputError when no rank holds compute kernels with types, or with level="module" no modules.
        """
        one_of("level", level, _MFU)
        return self._answer("mfu", _MFU[level], arrow, also="module-stats" if level == "module" else None)

    @overload
    def pmu_stats(self, level: PmuLevel = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def pmu_stats(self, level: PmuLevel = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives(*_PMU.values())
    def pmu_stats(self, level: PmuLevel = "kernel_type", *, arrow: bool = False) -> Frame:
        """Return hardware counters (PMU) of kernels: how busy the pipes of the cores were, and what bounds the kernels.

        Ratios are means weighted by time, 0 to 1, and NULL where the set of counters lacks them. With level="metric" a row is
        a kernel type and one counter, of any set.
        Raises InputError when no rank holds hardware counters, or with level="module" no modules.
        """
        one_of("level", level, _PMU)
        return self._answer("pmu-stats", _PMU[level], arrow, also="module-stats" if level == "module" else None)

    @overload
    def mstx_stats(self, *, per_step: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def mstx_stats(self, *, per_step: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @gives("mstx.statistic", "mstx.step_statistic")
    def mstx_stats(self, *, per_step: bool = False, arrow: bool = False) -> Frame:
        """Return mstx marks and ranges by domain and message: host and device time, and the kernels launched inside.

        The heaviest come first. Median and p95 as in kernel_stats(). With per_step a row covers one profiler step, and marks
        and ranges that began outside every step have no row.
        Raises InputError when no rank holds mstx marks or ranges.
        """
        return self._answer("mstx-stats", "mstx.step_statistic" if per_step else "mstx.statistic", arrow)

    @overload
    def kernels(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def kernels(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives("module.kernel")
    def kernels(self, *, arrow: bool = False) -> Frame:
        """Return every kernel with its times, shapes, the op that launched it and the module that it belongs to."""
        return self._table("module.kernel", arrow)

    @overload
    def ops(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def ops(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives("trace.op")
    def ops(self, *, arrow: bool = False) -> Frame:
        """Return every framework op with its thread, times, sequence number and shapes."""
        return self._table("trace.op", arrow)
