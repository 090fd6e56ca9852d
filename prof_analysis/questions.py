"""The questions about profiles: one method each, which returns the rows of a documented table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import cleandoc
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

from prof_analysis.engine.tables import documented_tables
from prof_analysis.options import one_of

if TYPE_CHECKING:
    import pandas
    import pyarrow

    Frame: TypeAlias = pandas.DataFrame | pyarrow.Table

Method = TypeVar("Method", bound=Callable[..., Any])
Yes = Literal[True]
No = Literal[False]

KernelRow = Literal["type", "name", "shapes", "cpu"]
CommunicationRow = Literal["op", "group", "module", "rank", "link", "p2p"]
PipelineRow = Literal["pass", "stage", "rank"]
LinkRow = Literal["pair", "packet", "kind"]
SlowRankRow = Literal["rank", "group", "module", "finding", "collective"]
MfuLevel = Literal["module", "op", "kernel", "rank"]
PmuLevel = Literal["kernel_type", "op", "module", "metric"]
MemoryRow = Literal["peak", "module", "op", "block", "step", "time", "component", "kept", "rank"]
StackRow = Literal["frame", "stack"]
LayerLevel = Literal["position", "layer", "pass", "rank"]

_KERNELS = {
    "type": "kernels.statistic", "name": "kernels.by_name", "shapes": "kernels.by_shapes", "cpu": "kernels.on_cpu"
}  # fmt: skip
_KERNELS_OF_ALL = {
    "type": "across.kernel_statistic", "name": "across.kernel_by_name", "shapes": "across.kernel_by_shapes",
    "cpu": "across.kernel_on_cpu"
}  # fmt: skip
_COMMUNICATION_TIME = {
    "op": "communication.time", "group": "communication.group_time", "module": "communication.module_time",
    "rank": "communication.rank_time", "link": "communication.link",
    "p2p": "across.p2p"
}  # fmt: skip
_PIPELINE = {"pass": "pipeline.pass", "stage": "pipeline.stage", "rank": "across.pipeline_rank"}
_LINKS = {"pair": "across.link", "packet": "across.link_packet", "kind": "across.link_kind"}
_SLOW_RANKS = {
    "rank": "across.slow_rank", "group": "across.rank_communication", "module": "across.slow_rank_module",
    "finding": "across.slow_rank_finding", "collective": "across.collective"
}  # fmt: skip
_MFU = {"module": "mfu.module", "op": "mfu.op", "kernel": "mfu.kernel_efficiency", "rank": "mfu.rank"}
_PMU = {"kernel_type": "pmu.kernel_type", "op": "pmu.op", "module": "pmu.module", "metric": "pmu.metric"}
_MEMORY = {
    "peak": "allocation.peak", "module": "allocation.module", "op": "allocation.op", "block": "allocation.block",
    "step": "allocation.step", "time": "allocation.usage", "component": "allocation.component", "kept": "allocation.kept",
    "rank": "across.memory_rank"
}  # fmt: skip
_STACKS = {"frame": "stack.by_frame", "stack": "stack.by_stack"}
_STACKS_OF_ALL = {"frame": "across.stack_frame", "stack": "across.stack"}
_LAYERS = {
    "position": "layer.statistic", "layer": "layer.by_index", "pass": "layer.pass_layer", "rank": "layer.structure"
}  # fmt: skip


def _gives(*tables: str) -> Callable[[Method], Method]:
    """Add the columns of tables, as their heads document them, to the docstring of the method that returns them."""

    def with_columns(method: Method) -> Method:
        method.__doc__ = "\n\n".join([cleandoc(method.__doc__ or ""), *map(_columns_of, tables)])
        return method

    return with_columns


def _columns_of(name: str) -> str:
    table = documented_tables()[name]
    front = "" if table.grain == "job" else ", after profile and rank_id"
    lines = [f"{column.shown_name} ({column.shown_type}): {column.meaning}" for column in table.columns]
    return "\n".join([f"Columns of table {name}{front}:", *map(_wrapped, lines)])


def _wrapped(line: str) -> str:
    """Return a line of a docstring, wrapped where it is long; to look at all words of the short ones takes longer."""
    return fill(line, 100, initial_indent="    ", subsequent_indent="        ") if len(line) > 96 else f"    {line}"


class Questions(ABC):
    """Each question about profiles as a method. With arrow=True it returns a pyarrow.Table in place of a pandas.DataFrame."""

    @abstractmethod
    def _answer(self, analysis: str, table: str, arrow: bool, also: str | None = None) -> Frame:
        """Return a table of an analysis; warn of ranks that cannot answer it or, if given, the analysis `also`."""

    @abstractmethod
    def _table(self, name: str, arrow: bool) -> Frame:
        """Return a table."""

    @overload
    def module_stats(self, *, across_ranks: bool = ..., source_line: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def module_stats(self, *, across_ranks: bool = ..., source_line: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("module.statistic", "across.module", "stack.by_module", "across.module_source_line")
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
    @_gives("module.tree")
    def module_tree(self, *, arrow: bool = False) -> Frame:
        """Return kernel time by module path: that of the module itself, and with all modules inside it.

        Raises InputError when no rank holds module ranges.
        """
        return self._answer("module-stats", "module.tree", arrow)

    @overload
    def coverage(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def coverage(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("module.coverage")
    def coverage(self, *, arrow: bool = False) -> Frame:
        """Return where all kernel time went: inside modules, outside modules, or linked to no op.

        The times of a rank add up to all its kernel time.
        """
        return self._table("module.coverage", arrow)

    @overload
    def kernel_stats(self, by: KernelRow = ..., *, across_ranks: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def kernel_stats(self, by: KernelRow = ..., *, across_ranks: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_KERNELS.values(), *_KERNELS_OF_ALL.values())
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
    @_gives("op.statistic", "across.op_statistic", "stack.by_op", "across.op_source_line")
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
    @_gives("api.statistic", "across.api_statistic")
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
    @_gives(*_STACKS.values(), *_STACKS_OF_ALL.values())
    def stacks(self, by: StackRow = "frame", *, across_ranks: bool = False, arrow: bool = False) -> Frame:
        """Return what the ops that were called from each place in the Python source cost, the heaviest on the device first.

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
    @_gives("communication.statistic", "across.communication_statistic")
    def communication_stats(self, *, across_ranks: bool = False, arrow: bool = False) -> Frame:
        """Return communication operators by type and group, the heaviest first; median and p95 as in kernel_stats().

        With across_ranks a row covers all ranks.
        Raises InputError when no rank holds communication operators.
        """
        table = "across.communication_statistic" if across_ranks else "communication.statistic"
        return self._answer("communication-stats", table, arrow)

    @overload
    def communication_time(self, by: CommunicationRow = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def communication_time(self, by: CommunicationRow = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_COMMUNICATION_TIME.values())
    def communication_time(self, by: CommunicationRow = "op", *, arrow: bool = False) -> Frame:
        """Return communication time split into transfer, wait and idle, from the tasks on the planes of the device.

        A row is an operator, a group, a module, a rank or, with by="link", a link between two ranks; with by="p2p" a send and
        the receive of the other rank.
        elapse_ns = transit_ns + wait_ns + idle_ns, those of the master plane, as in the profiler's own files; reason says why
        a split is None.
        Raises InputError when no rank holds communication operators.
        """
        one_of("by", by, _COMMUNICATION_TIME)
        return self._answer("communication-time", _COMMUNICATION_TIME[by], arrow)

    @overload
    def pipeline(self, by: PipelineRow = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def pipeline(self, by: PipelineRow = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_PIPELINE.values())
    def pipeline(self, by: PipelineRow = "pass", *, arrow: bool = False) -> Frame:
        """Return the forward and backward passes of micro-batches on the device.

        With by="stage" a row is a step of a rank with its bubbles: span = passes + bubble, bubble = p2p + idle; with by="rank"
        the means of all steps of a rank.
        Raises InputError when no rank holds modules, marks or Python stacks.
        """
        one_of("by", by, _PIPELINE)
        return self._answer("pipeline", _PIPELINE[by], arrow)

    @overload
    def links(self, by: LinkRow = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def links(self, by: LinkRow = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_LINKS.values())
    def links(self, by: LinkRow = "pair", *, arrow: bool = False) -> Frame:
        """Return what was moved between each pair of ranks, how fast, and how much slower than between other pairs.

        A row is a pair of ranks and a link, in ranks of the whole job; with by="packet" it is of one group, type of operators
        and size of packets; with by="kind" a kind of link.
        Raises InputError when no rank holds transfers between ranks.
        """
        one_of("by", by, _LINKS)
        return self._answer("links", _LINKS[by], arrow)

    @overload
    def slow_ranks(self, by: SlowRankRow = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def slow_ranks(self, by: SlowRankRow = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_SLOW_RANKS.values())
    def slow_ranks(self, by: SlowRankRow = "rank", *, arrow: bool = False) -> Frame:
        """Return which rank, or pipeline stage, makes the others wait, with the evidence.

        A row is a rank, with means per step; with by="group" a rank and a group, all steps together; with by="module" a module
        of a slow rank, the largest excess first; with by="finding" the only row is the conclusion; with by="collective" a
        collective in which ranks waited, with the rank that came last and the cause.
        Raises InputError when no rank holds communication or steps.
        """
        one_of("by", by, _SLOW_RANKS)
        return self._answer("slow-ranks", _SLOW_RANKS[by], arrow)

    @overload
    def mfu(self, level: MfuLevel = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def mfu(self, level: MfuLevel = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_MFU.values())
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
    def step_time(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def step_time(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("step.time")
    def step_time(self, *, arrow: bool = False) -> Frame:
        """Return where the time of each step went on the device, in ns; where kernels overlap, time counts once.

        stage + bubble = computing + communication not overlapped + free.
        Raises InputError when no rank holds kernels or step times reported by the profiler.
        """
        return self._answer("step-time", "step.time", arrow)

    @overload
    def free_time(self, *, gaps: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def free_time(self, *, gaps: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("free.cause", "free.longest_gap")
    def free_time(self, *, gaps: bool = False, arrow: bool = False) -> Frame:
        """Return what the host did while the device was idle within steps: the causes in each step, the longest first.

        The causes of a step add up to its free_ns in step_time(). With gaps a row is one of the 100 longest gaps of a rank.
        Raises InputError when no rank holds kernels and ops.
        """
        return self._answer("free-time", "free.longest_gap" if gaps else "free.cause", arrow)

    @overload
    def pmu_stats(self, level: PmuLevel = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def pmu_stats(self, level: PmuLevel = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_PMU.values())
    def pmu_stats(self, level: PmuLevel = "kernel_type", *, arrow: bool = False) -> Frame:
        """Return hardware counters (PMU) of kernels: how busy the pipes of the cores were, and what bounds the kernels.

        Ratios are means weighted by time, 0 to 1, and NULL where the set of counters lacks them. With level="metric" a row is
        a kernel type and one counter, of any set.
        Raises InputError when no rank holds hardware counters, or with level="module" no modules.
        """
        one_of("level", level, _PMU)
        return self._answer("pmu-stats", _PMU[level], arrow, also="module-stats" if level == "module" else None)

    @overload
    def experts(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def experts(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("across.expert_call")
    def experts(self, *, arrow: bool = False) -> Frame:
        """Return the grouped matmuls of experts (MoE) at each place of a step, and what their uneven spread over ranks costs.

        Sums by rank and by group of ranks are in across.expert_rank and across.expert_total.
        Raises InputError when no rank holds grouped matmuls.
        """
        return self._answer("experts", "across.expert_call", arrow)

    @overload
    def clock(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def clock(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("clock.device")
    def clock(self, *, arrow: bool = False) -> Frame:
        """Return the real clock of each device beside its rated one, and what a lower clock cost at most.

        Spans of time are in clock.span, types of kernels in clock.kernel_type.
        Raises InputError when no rank holds compute kernels and samples of the clock.
        """
        return self._answer("clock", "clock.device", arrow)

    @overload
    def memory(self, by: MemoryRow = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def memory(self, by: MemoryRow = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_MEMORY.values())
    def memory(self, by: MemoryRow = "peak", *, arrow: bool = False) -> Frame:
        """Return what held the memory of the device.

        With by="peak" a row is a part of what was alive when an allocator, or another component, held most; the rows of each
        peak add up to it. by="module" and by="op" sum up the blocks that were allocated, by="block" has each of them with its
        lifetime. by="step" has the floor and the peak of each step, by="kept" the ops whose blocks stay (a leak), by="time" the
        totals over time, by="component" what else holds memory, by="rank" how full the device of each rank was.
        Raises InputError when no rank holds records of device memory.
        """
        one_of("by", by, _MEMORY)
        return self._answer("memory", _MEMORY[by], arrow)

    @overload
    def mstx_stats(self, *, per_step: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def mstx_stats(self, *, per_step: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("mstx.statistic", "mstx.step_statistic")
    def mstx_stats(self, *, per_step: bool = False, arrow: bool = False) -> Frame:
        """Return mstx marks and ranges by domain and message: host and device time, and the kernels launched inside.

        The heaviest come first. Median and p95 as in kernel_stats(). With per_step a row covers one profiler step, and marks
        and ranges that began outside every step have no row.
        Raises InputError when no rank holds mstx marks or ranges.
        """
        return self._answer("mstx-stats", "mstx.step_statistic" if per_step else "mstx.statistic", arrow)

    @overload
    def layer_stats(self, level: LayerLevel = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def layer_stats(self, level: LayerLevel = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives(*_LAYERS.values())
    def layer_stats(self, level: LayerLevel = "position", *, arrow: bool = False) -> Frame:
        """Return the repeating layers of a model, found in the sequence of its kernels; nothing needs to mark modules.

        With level="position" a row is a kernel in the layers of one kind. level="layer" has a row for the first layer of all
        passes, the second, and so on; level="pass" one for each layer of each pass, such as a step or token. level="rank" says
        what was found and where all compute time is, or why no period is convincing; then the other levels have no rows.
        Raises InputError when no rank holds compute kernels.
        """
        one_of("level", level, _LAYERS)
        return self._answer("layer-stats", _LAYERS[level], arrow)

    @overload
    def graph_overhead(self, *, calls: bool = ..., arrow: Yes) -> pyarrow.Table: ...
    @overload
    def graph_overhead(self, *, calls: bool = ..., arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("graph.statistic", "graph.call")
    def graph_overhead(self, *, calls: bool = False, arrow: bool = False) -> Frame:
        """Return what calls of compiled graphs cost on the host, by graph and phase; compiling calls apart from replays.

        The phases front_end, torchair_python, torchair_cpp and ge_to_end add up to call; ge_to_first_kernel ends at the first
        kernel on the device. With calls a row is a call.
        Raises InputError when no rank holds calls of compiled graphs.
        """
        return self._answer("graph-overhead", "graph.call" if calls else "graph.statistic", arrow)

    @overload
    def kernels(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def kernels(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("module.kernel")
    def kernels(self, *, arrow: bool = False) -> Frame:
        """Return every kernel with its times, shapes, the op that launched it and the module that it belongs to."""
        return self._table("module.kernel", arrow)

    @overload
    def ops(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def ops(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @_gives("trace.op")
    def ops(self, *, arrow: bool = False) -> Frame:
        """Return every framework op with its thread, times, sequence number and shapes."""
        return self._table("trace.op", arrow)
