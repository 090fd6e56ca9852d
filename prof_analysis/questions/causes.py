"""The questions of why it takes so long: steps, idle time, pipelines, links, ranks, memory, experts, clocks, layers, graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from prof_analysis.options import one_of
from prof_analysis.questions.question import Answers, No, Yes, gives

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from prof_analysis.questions.question import Frame

CommunicationRow = Literal["op", "group", "module", "rank", "link", "p2p"]
PipelineRow = Literal["pass", "stage", "rank"]
LinkRow = Literal["pair", "packet", "kind"]
SlowRankRow = Literal["rank", "group", "module", "finding", "collective"]
MemoryRow = Literal["peak", "module", "op", "block", "step", "time", "component", "kept", "rank"]
LayerLevel = Literal["position", "layer", "pass", "rank"]

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
_MEMORY = {
    "peak": "allocation.peak", "module": "allocation.module", "op": "allocation.op", "block": "allocation.block",
    "step": "allocation.step", "time": "allocation.usage", "component": "allocation.component", "kept": "allocation.kept",
    "rank": "across.memory_rank"
}  # fmt: skip
_LAYERS = {
    "position": "layer.statistic", "layer": "layer.by_index", "pass": "layer.pass_layer", "rank": "layer.structure"
}  # fmt: skip


class Causes(Answers):
    """Why it takes so long."""

    @overload
    def communication_time(self, by: CommunicationRow = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def communication_time(self, by: CommunicationRow = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives(*_COMMUNICATION_TIME.values())
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
    def advise(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def advise(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives("advice.finding")
    def advise(self, *, arrow: bool = False) -> Frame:
        """Return changes to make, the finding with the most time to win first.

        Wins overlap: never add them up. rules() says which rules lack data.
        Raises InputError when no rank holds kernels or step times reported by the profiler.
        """
        return self._answer("advise", "advice.finding", arrow)

    @overload
    def pipeline(self, by: PipelineRow = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def pipeline(self, by: PipelineRow = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives(*_PIPELINE.values())
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
    @gives(*_LINKS.values())
    def links(self, by: LinkRow = "pair", *, arrow: bool = False) -> Frame:
        """Return the data moved between each pair of ranks, how fast, and how much slower than between other pairs.

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
    @gives(*_SLOW_RANKS.values())
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
    def step_time(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def step_time(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives("step.time")
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
    @gives("free.cause", "free.longest_gap")
    def free_time(self, *, gaps: bool = False, arrow: bool = False) -> Frame:
        """Return the activity of the host while the device was idle within steps: the causes in each step, the longest first.

        The causes of a step add up to its free_ns in step_time(). With gaps a row is one of the 100 longest gaps of a rank.
        Raises InputError when no rank holds kernels and ops.
        """
        return self._answer("free-time", "free.longest_gap" if gaps else "free.cause", arrow)

    @overload
    def experts(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def experts(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives("across.expert_call")
    def experts(self, *, arrow: bool = False) -> Frame:
        """Return the grouped matmuls of experts (MoE) at each place of a step, and the cost of their uneven spread over ranks.

        Sums by rank and by group of ranks are in across.expert_rank and across.expert_total.
        Raises InputError when no rank holds grouped matmuls.
        """
        return self._answer("experts", "across.expert_call", arrow)

    @overload
    def clock(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def clock(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives("clock.device")
    def clock(self, *, arrow: bool = False) -> Frame:
        """Return the real clock of each device beside its rated one, and the most that a lower clock cost.

        Spans of time are in clock.span, types of kernels in clock.kernel_type.
        Raises InputError when no rank holds compute kernels and samples of the clock.
        """
        return self._answer("clock", "clock.device", arrow)

    @overload
    def memory(self, by: MemoryRow = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def memory(self, by: MemoryRow = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives(*_MEMORY.values())
    def memory(self, by: MemoryRow = "peak", *, arrow: bool = False) -> Frame:
        """Return the holders of the device's memory.

        With by="peak" a row is a part of what was alive when an allocator, or another component, held most; the rows of each
        peak add up to it. by="module" and by="op" sum up the blocks that were allocated, by="block" has each of them with its
        lifetime. by="step" has the floor and the peak of each step, by="kept" the ops whose blocks stay (a leak), by="time" the
        totals over time, by="component" what else holds memory, by="rank" how full the device of each rank was.
        Raises InputError when no rank holds records of device memory.
        """
        one_of("by", by, _MEMORY)
        return self._answer("memory", _MEMORY[by], arrow)

    @overload
    def layer_stats(self, level: LayerLevel = ..., *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def layer_stats(self, level: LayerLevel = ..., *, arrow: No = ...) -> pandas.DataFrame: ...
    @gives(*_LAYERS.values())
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
    @gives("graph.statistic", "graph.call")
    def graph_overhead(self, *, calls: bool = False, arrow: bool = False) -> Frame:
        """Return the cost of calls of compiled graphs on the host, by graph and phase; compiling calls apart from replays.

        The phases front_end, torchair_python, torchair_cpp and ge_to_end add up to call; ge_to_first_kernel ends at the first
        kernel on the device. With calls a row is a call.
        Raises InputError when no rank holds calls of compiled graphs.
        """
        return self._answer("graph-overhead", "graph.call" if calls else "graph.statistic", arrow)
