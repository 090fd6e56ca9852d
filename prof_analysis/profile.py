"""Profile: what was found under a path, and each question about it as a method that gives a DataFrame."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar

import duckdb

from prof_analysis import frames
from prof_analysis.analyses import ANALYSES
from prof_analysis.engine.database import Variables
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.tables import documented_tables, referenced_tables
from prof_analysis.errors import InputError, QueryError, reason_of, remedy_of
from prof_analysis.run.pool import Machine
from prof_analysis.run.session import Session
from prof_analysis.sources import NAMES, discovery
from prof_analysis.sources.rank import ModuleChoice, readable
from prof_analysis.visible import visible

Answer = TypeVar("Answer")


class Profile:
    """The profiling results under a path, ready to be asked. Use it as a context manager, or call close().

    Every frame begins with the columns `profile` (the folder below the path, the identity of a rank) and `rank_id`
    (NULL when the files tell none), and holds all ranks in the order of ranks(). Times are integer nanoseconds since
    1970, UTC. With arrow=True a method gives a pyarrow.Table in place of a pandas.DataFrame.

    Threads may share a Profile: their questions are answered one after the other; a Profile each is faster. A process that was
    forked opens its own. close() in one thread ends what another one asks, with a QueryError.

    A rank that cannot be read does not stop the others: it is named in `failures` and by a ProfAnalysisWarning. A method raises
    InputError when no rank at all can answer.

    Args:
        path: a result folder (*_ascend_pt), a folder of them, a tree of them down to a depth of 5, or a single
            trace_view.json, trace_view.json.gz, kernel_details.csv or profiler database.
        rank_list: only these rank ids.
        source: what to read where a rank has both, the profiler database (db) or the text exports; auto is what answers more,
            the database where both answer the same.
        step_id: only the kernels launched in this profiler step.
        nesting_tolerance_ns: how much later than its enclosing range a range or op may end and still count as inside.
        module_source: what marks the modules: mstx ranges, nn.Module rows of the Python tracer (with_modules or with_stack),
            or auto: mstx where there are any.
        module_domains: the mstx domains whose start/end ranges are modules.
        by: class merges all calls under one chain of classes; instance tells siblings of one class apart, as in
            Layer[3]/Linear[0], numbered in call order within one call of the root module.
        depth: modules nested deeper belong to the module at this depth.
        audit_links: judge the op of every launch by the host's intervals (table module.link_audit), not only of doubtful ones.
        peak_tflops: peaks to measure MFU by, in 10^12 operations a second by data type, as in {"fp16": 376}, in place of
            cores * clock * operations of a core in a cycle; or "published" for those of table mfu.published_peak.
        workers: how many ranks at a time, each in a process of its own where they are large; as many as threads unless given.
        threads: threads of all workers together; those of the machine or its container unless given.
        memory_limit: bytes that all workers together may take; what does not fit is spilled to temporary files.
        scheduler: the address of a Dask scheduler whose workers analyse the ranks, as in tcp://host:8786.
        store: a folder that keeps what was built, so that the same question about unchanged files is answered at once.
        on_progress: called with (bytes read, bytes of all input files) as files are read, in any thread.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        rank_list: Iterable[int] | None = None,
        source: str = "auto",
        step_id: int | None = None,
        nesting_tolerance_ns: int = 0,
        module_source: Literal["auto", "mstx", "nn.Module"] = "auto",
        module_domains: str | Iterable[str] = ("Module",),
        by: Literal["class", "instance"] = "class",
        depth: int | None = None,
        audit_links: bool = False,
        peak_tflops: Mapping[str, float] | Literal["published"] | None = None,
        workers: int | None = None,
        threads: int | None = None,
        memory_limit: int | None = None,
        scheduler: str | None = None,
        store: str | Path | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        modules = ModuleChoice(module_source, (module_domains,) if isinstance(module_domains, str) else tuple(module_domains))
        _require("source", source, source in ("auto", *NAMES), f"auto or {' or '.join(NAMES)}")
        _require("by", by, by in ("class", "instance"), "class or instance")
        _require("module_source", module_source, module_source in ("auto", "mstx", "nn.Module"), "auto, mstx or nn.Module")
        _require("module_domains", module_domains, all(modules.domains) and bool(modules.domains), "at least one domain")
        _require("depth", depth, depth is None or depth > 0, "1 or more")
        variables: Variables = {
            "step_id": step_id,
            "nesting_tolerance_ns": nesting_tolerance_ns,
            "module_source": modules.source,
            "module_domains": list(modules.domains),
            "by_instance": by == "instance",
            "depth": depth,
            "audit_links": audit_links,
            **_peaks(peak_tflops),
        }
        machine = Machine(workers, threads, memory_limit, scheduler)
        for option, value in (("workers", workers), ("threads", threads), ("memory_limit", memory_limit)):
            _require(option, value, value is None or value > 0, "1 or more")
        if scheduler is not None:
            for option, value in (("workers", workers), ("memory_limit", memory_limit)):
                _require(option, value, value is None, "nothing, a cluster has limits of its own")
            _require("store", store, store is not None, "a folder that the workers of the cluster see too")
        self.path = Path(path)
        store_folder = None if store is None else Path(os.path.abspath(store))  # noqa: PTH100  (links stay)
        self._session = Session(self.path, rank_list, source, modules, variables, machine, store_folder, on_progress)
        self.failures = self._session.failures
        self.warnings = self._session.warnings
        self.details = self._session.details

    def ranks(self, *, arrow: bool = False) -> Any:
        """What was found.

        Columns: profile, rank_id, rank_id_from (the file that told it), device_id, profiler_level, source (None when
        nothing can be read), modules_from (what marks the modules: mstx or nn.Module), answers (list of questions it can
        answer), may_answer (list of those of which only asking finds out), unanswered (list of those it cannot answer, each
        with the reason), missing (list of all that was not collected or found), unread (list of files beside those read that
        cannot be read, each with the reason), left_out (why nothing can be read), files (list), folder.
        """
        import pyarrow

        columns: dict[str, pyarrow.DataType] = {
            "profile": pyarrow.string(),
            "rank_id": pyarrow.int32(),
            "rank_id_from": pyarrow.string(),
            "device_id": pyarrow.int32(),
            "profiler_level": pyarrow.string(),
            "source": pyarrow.string(),
            "modules_from": pyarrow.string(),
            "answers": pyarrow.list_(pyarrow.string()),
            "may_answer": pyarrow.list_(pyarrow.string()),
            "unanswered": pyarrow.list_(pyarrow.string()),
            "missing": pyarrow.list_(pyarrow.string()),
            "unread": pyarrow.list_(pyarrow.string()),
            "left_out": pyarrow.string(),
            "files": pyarrow.list_(pyarrow.string()),
            "folder": pyarrow.string(),
        }
        rows = [
            {
                **vars(rank),
                "answers": rank.answers,
                "may_answer": rank.may_answer,
                "unanswered": [": ".join(pair) for pair in rank.unanswered],
                "folder": readable(rank.folder),
            }
            for rank in self._session.ranks
        ]
        table = pyarrow.table({name: pyarrow.array([row[name] for row in rows], type_) for name, type_ in columns.items()})
        return table if arrow else frames.to_pandas(table)

    def module_stats(self, *, across_ranks: bool = False, arrow: bool = False) -> Any:
        """Kernel time by module and op, merged over layers, steps and micro-batches, as msprof-analyze counts it.

        Columns: profile, rank_id, parent_module, module, op_name, kernel_list, total_kernel_duration_ns (int),
        avg_kernel_duration_ns (float), op_count, avg_mfu (text, as msprof-analyze 8.3 defines it; mfu() has the better
        figures), op_chain (the framework ops around the op). Rows of a rank are in the
        order of execution.
        With across_ranks a row compares a module over the ranks that have it, those that differ most first: parent_module,
        module, rank_count, lacking_rank_count (ranks without it), then of its own kernel time own_mean_ns (float),
        own_stddev_ns (float), own_min_ns, own_min_profile, own_min_rank_id (the rank of the shortest), own_max_ns,
        own_max_profile, own_max_rank_id, own_max_to_mean (float), and of the time with all modules inside the same without
        own_ in the names.
        Raises InputError when no rank holds module ranges.
        """
        return self._answer("module-stats", "across.module" if across_ranks else "module.statistic", arrow)

    def module_tree(self, *, arrow: bool = False) -> Any:
        """Kernel time by module path, own and with all modules inside.

        Columns: profile, rank_id, parent_module, module, depth, calls, own_kernel_duration_ns, kernel_duration_ns,
        kernel_duration_share (of all kernel time of the rank), avg_kernel_duration_ns.
        Raises InputError when no rank holds module ranges.
        """
        return self._answer("module-stats", "module.tree", arrow)

    def coverage(self, *, arrow: bool = False) -> Any:
        """Where all kernel time went: inside modules, outside modules, or linked to no op.

        Columns: profile, rank_id, kind (compute, communication, schedule), location, reason (why not inside), kernel_count,
        kernel_duration_ns, kernel_duration_share (of the kind), top_ops (the heaviest ops outside modules). The times of a
        rank add up to all its kernel time.
        """
        return self.table("module.coverage", arrow=arrow)

    def kernel_stats(self, *, across_ranks: bool = False, arrow: bool = False) -> Any:
        """Kernel time by kind, type and core, the heaviest first.

        Columns: profile, rank_id, kind (compute, communication, schedule), type, core, kernel_count, total_ns, mean_ns (float),
        median_ns, p95_ns, min_ns, max_ns, share (of the kernel time of the same kind in the rank). Median and p95 are times
        that occur: the smallest that at least 50 % and 95 % of the kernels do not exceed.
        With across_ranks a row is over all ranks, and profile and rank_id are not there.
        Raises InputError when no rank holds kernels.
        """
        return self._answer("kernel-stats", "across.kernel_statistic" if across_ranks else "kernels.statistic", arrow)

    def op_stats(self, *, across_ranks: bool = False, arrow: bool = False) -> Any:
        """Framework ops by name and input shapes, the heaviest on the device first.

        Columns: profile, rank_id, name, input_shapes, calls, host_self_ns (without the ops directly inside), host_total_ns,
        kernel_count (launched by the op itself), device_self_ns (time of these), device_total_ns (with the kernels that ops
        inside launched), share (of device_self_ns in the rank). Of an op that calls itself, each call counts in full in the
        totals.
        With across_ranks a row is over all ranks, and profile and rank_id are not there.
        Raises InputError when no rank holds framework ops.
        """
        return self._answer("op-stats", "across.op_statistic" if across_ranks else "op.statistic", arrow)

    def communication_stats(self, *, across_ranks: bool = False, arrow: bool = False) -> Any:
        """Communication operators by type and group, the heaviest first.

        Columns: profile, rank_id, type, group_name (the communicator), op_count, total_ns, mean_ns (float), median_ns, p95_ns,
        min_ns, max_ns, share (of all communication time of the rank), origin (kernels; or profiler: communication.json or
        analysis.db, of operators without a kernel); median and p95 as in kernel_stats().
        With across_ranks a row is over all ranks, and profile, rank_id and origin are not there.
        Raises InputError when no rank holds communication operators.
        """
        table = "across.communication_statistic" if across_ranks else "communication.statistic"
        return self._answer("communication-stats", table, arrow)

    def communication_time(self, by: Literal["op", "group", "module", "rank", "link"] = "op", *, arrow: bool = False) -> Any:
        """Communication operators with their time as transfer, wait and idle, from their tasks on the planes of the device.

        Columns after profile and rank_id: of an op kernel_id, name, type, kind (p2p, collective), group_name, step_id,
        location, parent_module, module, start_ns; of a group group_name, kind, type; of a module location, parent_module,
        module; then elapse_ns = transit_ns + wait_ns + idle_ns, of the master plane as the profiler counts them;
        synchronization_ns (waits before the first transfer), longest_plane_wait_ns (of an op also longest_waiting_plane: what
        the master plane hides), size_bytes, transfer_ns and bandwidth_gb_s (bytes over links / time of the transfers). reason
        says why a split is None: an op has origin too (planes, or profiler: communication.json, analysis.db), the others
        op_count and unknown_ns, time that is not split. Of a link: type, group_name, group_label (such as pp), source_rank,
        destination_rank (within the group), source_global_rank, destination_global_rank (None when not recorded), link,
        op_count, transfer_count, size_bytes, duration_ns, bandwidth_gb_s, origin.
        Raises InputError when no rank holds communication operators.
        """
        tables = {"op": "time", "group": "group_time", "module": "module_time", "rank": "rank_time", "link": "link"}
        _require("by", by, by in tables, "op, group, module, rank or link")
        return self._answer("communication-time", f"communication.{tables[by]}", arrow)

    def slow_ranks(self, by: Literal["rank", "group", "module", "finding"] = "rank", *, arrow: bool = False) -> Any:
        """Which rank, or pipeline stage, makes the others wait, and what shows it.

        Columns: profile, rank_id, pipeline_stage, dp_rank, cp_rank, tp_rank (None when not recorded), step_count,
        then means of a step: step_ns, computing_ns, p2p_elapse_ns, p2p_wait_ns, collective_elapse_ns, collective_wait_ns,
        waited_ns (time in communication beyond that of the rank that came last); last_count (collectives that it came last
        to), is_slow (others wait for it; None when no other rank has its operators).
        With by="group" a row is a rank and a group: profile, rank_id, group_name, kind (p2p, collective), op_count, elapse_ns,
        wait_ns, common_op_count, waited_ns, last_count, of all steps together. With by="module" a row is a module of a slow
        rank: profile, rank_id, parent_module, module, computing_ns, others_mean_ns (float, of the ranks that wait), excess_ns
        (float), the largest first. With by="finding" the one row says what follows:
        finding (slow stage, slow rank, fast rank, none, unknown), sentence, pipeline_stage, slow_ranks, waited_ns, share,
        computing_ns, computing_of_others_ns.
        Raises InputError when no rank holds communication or steps.
        """
        tables = {
            "rank": "slow_rank",
            "group": "rank_communication",
            "module": "slow_rank_module",
            "finding": "slow_rank_finding",
        }
        _require("by", by, by in tables, "rank, group, module or finding")
        return self._answer("slow-ranks", f"across.{tables[by]}", arrow)

    def mfu(self, level: Literal["module", "op", "kernel", "rank"] = "module", *, arrow: bool = False) -> Any:
        """Model FLOPs utilisation: how much of the peak of the cube cores the matrix products used.

        Columns after profile and rank_id: of a module parent_module, module, depth; of an op op_name, type, input_shapes; then
        mfu (mfu_flops / possible_flops, over kernels with FLOPs and a peak), mfu_flops, possible_flops, flops (also without
        a peak), achieved_tflops, peak_tflops, mfu_at_measured_clock, duration_ns (all compute kernels; of an op those that
        may multiply matrices), cube_duration_ns (those that may), flops_duration_ns, known_duration_ns (what is in mfu),
        known_share (of duration_ns), cube_known_share (of cube_duration_ns), kernel_count, flops_sources, peaks, reasons (why
        kernels are not in mfu). A kernel has its own source of flops, origin of the peak, and reason: mfu.kernel_mfu. Table
        across.mfu has the same over all ranks.
        Raises InputError when no rank holds compute kernels with types, or with level="module" no modules.
        """
        _require("level", level, level in ("module", "op", "kernel", "rank"), "module, op, kernel or rank")
        if level == "module":
            self._session.require(ANALYSES["module-stats"].requires)
        return self._answer("mfu", "mfu.kernel_mfu" if level == "kernel" else f"mfu.{level}", arrow)

    def step_time(self, *, arrow: bool = False) -> Any:
        """Where the time of each step went on the device, in ns; times count once where kernels overlap.

        Columns: profile, rank_id, step_id (None for the whole profile where it has no steps, and for kernels of no step),
        computing_ns, communication_ns, communication_not_overlapped_ns, overlapped_ns, free_ns (neither, from first start to
        last end), stage_ns (first start to last end without the bubble), bubble_ns (hcom_receive operators), preparing_ns
        (from the step's start on the host to the first kernel), origin (kernels; or profiler: step_trace_time.csv or
        analysis.db, of a rank without kernels), reason (why something is None, or preparing is of the profiler).
        stage + bubble = computing + communication not overlapped + free.
        Raises InputError when no rank holds kernels, or what the profiler worked out of steps.
        """
        return self._answer("step-time", "step.time", arrow)

    def free_time(self, *, gaps: bool = False, arrow: bool = False) -> Any:
        """What the host did while the device idled within steps, the causes of a step by their time.

        Columns: profile, rank_id, step_id, cause (inside an op, waiting in a synchronise, data loading, garbage collection,
        between queue and device, nothing recorded, launch not recorded, kernels of another step), gap_count, total_ns, share
        (of the free time of the step). The causes of a step add up to its free_ns in step_time().
        With gaps a row is one of the 100 longest gaps of a rank: step_id, start_ns, duration_ns, cause (the main one),
        cause_ns, kernel_before, op_before, kernel_after, op_after, host_ops (framework ops around the middle of the host's
        part of it, outermost first), host_call (the call into CANN that took most of it), host_call_ns, python_stack (None
        without with_stack).
        Raises InputError when no rank holds kernels and ops.
        """
        return self._answer("free-time", "free.longest_gap" if gaps else "free.cause", arrow)

    def pmu_stats(self, level: Literal["kernel_type", "op", "module", "metric"] = "kernel_type", *, arrow: bool = False) -> Any:
        """What the hardware counters (PMU) of the kernels say: how busy the pipes of the cores were, and what bounds.

        Columns after profile and rank_id: of a kernel type kind, type, core; of an op op_name, kind, type, core; of a module
        parent_module, module, depth, with all inside it; then kernel_count, duration_ns, known_duration_ns (of kernels with
        counters, only these are in what follows), known_share, bound (compute, memory, scalar or wait), compute_ns, memory_ns,
        scalar_ns, wait_ns (time of kernels that each bounds); of the cube cores aic_duration_ns (of kernels that ran on them),
        aic_time_share, aic_mac_ratio, aic_scalar_ratio, aic_mte1_ratio, aic_mte2_ratio, aic_fixpipe_ratio, cube_utilization,
        aic_l2_read_hit_rate, aic_l2_write_hit_rate; of the vector cores aiv_duration_ns, aiv_time_share, aiv_vec_ratio,
        aiv_scalar_ratio, aiv_mte2_ratio, aiv_mte3_ratio, aiv_l2_read_hit_rate, aiv_l2_write_hit_rate; reason (why there is no
        bound).
        Ratios are means by time, 0 to 1, and NULL where the set of counters lacks them.
        With level="metric" a row is a kernel type and one counter of whatever set: kind, type, core, metric, unit,
        kernel_count, kernel_duration_ns, mean (by time), min, max.
        Raises InputError when no rank holds hardware counters, or with level="module" no modules.
        """
        _require("level", level, level in ("kernel_type", "op", "module", "metric"), "kernel_type, op, module or metric")
        if level == "module":
            self._session.require(ANALYSES["module-stats"].requires)
        return self._answer("pmu-stats", f"pmu.{level}", arrow)

    def mstx_stats(self, *, per_step: bool = False, arrow: bool = False) -> Any:
        """mstx marks and ranges by domain and message: host and device time, and the kernels launched inside, heaviest first.

        Columns: profile, rank_id, kind (range or mark), producer (communication, dataloader, save_checkpoint, profiler step,
        flops recording, or user), domain, message, event_count, host_total_ns, host_mean_ns (float), host_median_ns,
        host_p95_ns, host_min_ns, host_max_ns (all NULL for marks, which are moments), device_count (those with a stream),
        device_total_ns, device_mean_ns (float), device_median_ns, device_p95_ns, device_min_ns, device_max_ns (NULL where none
        was), kernel_count and kernel_duration_ns (of kernels launched inside by the thread of the range, once for each range
        around; NULL for marks). Median and p95 as in kernel_stats().
        With per_step a row is of one profiler step, step_id stands before kind, and what began outside every step has no row.
        Raises InputError when no rank holds mstx marks or ranges.
        """
        return self._answer("mstx-stats", "mstx.step_statistic" if per_step else "mstx.statistic", arrow)

    def layer_stats(self, level: Literal["position", "layer", "pass", "rank"] = "position", *, arrow: bool = False) -> Any:
        """The repeating layers of a model, found in the sequence of its kernels on all streams, where nothing marks modules.

        By position, the columns after profile and rank_id are: kind (layers of one kind have the same kernels), layer_count,
        position (which kernel of the layer, from 1), type, core, name, kernel_count, total_ns, mean_ns (float), median_ns,
        p95_ns, min_ns, max_ns, mean_gap_ns (float, since the kernel before), share (of the kind). level="layer" has a row for
        the first layer of all passes, the second, and so on: layer (from 0), kind, pass_count, kernel_count, the same times,
        mean_span_ns, share. level="pass" has one for each layer of each pass, such as a step or token: pass, layer, kind,
        reason (why it is irregular), kernel_count, extra_kernel_count, duration_ns, span_ns, start_ns, types (of irregular
        ones). level="rank" says what was found and where all compute time is: streams, beside_streams, kernel_count,
        layer_count, alike_count, kind_count, pass_count, kernels_of_layers, alike_ns, irregular_ns, prologue_ns, between_ns,
        epilogue_ns, unstructured_ns, other_streams_ns, reason (why no period is convincing; then the other levels have no
        rows).
        Raises InputError when no rank holds compute kernels.
        """
        tables = {
            "position": "layer.statistic", "layer": "layer.by_index", "pass": "layer.pass_layer", "rank": "layer.structure"
        }  # fmt: skip
        _require("level", level, level in tables, "position, layer, pass or rank")
        return self._answer("layer-stats", tables[level], arrow)

    def graph_overhead(self, *, calls: bool = False, arrow: bool = False) -> Any:
        """What calls of compiled graphs cost on the host, by graph and phase; first calls, which compile, apart from replays.

        Columns: profile, rank_id, name (what marks the inference), region (as in Torch-Compiled Region: 0/0), is_compiling,
        phase, call_count, total_ns, mean_ns (float), median_ns, p95_ns, min_ns, max_ns, share (of the whole calls). Phases:
        front_end (of it before_lookup and Dynamo's lookup), torchair_python (of it the aten ops creation, contiguous, clone,
        other_op), torchair_cpp, ge_to_end: these four add up to call. torchair is both of its parts; ge_to_first_kernel ends
        at the first kernel on the device.
        With calls a row is a call: start_ns, tid, name, region, is_compiling, call_ns, front_end_ns, entry_from (frame, region
        or look-up), lookup_ns, before_lookup_ns, inference_ns, torchair_ns, torchair_python_ns, torchair_cpp_ns, ge_to_end_ns,
        ge_to_first_kernel_ns, then count and ns of the aten ops of the Python part, and reason (why something is None).
        Raises InputError when no rank holds calls of compiled graphs.
        """
        return self._answer("graph-overhead", "graph.call" if calls else "graph.statistic", arrow)

    def kernels(self, *, arrow: bool = False) -> Any:
        """Every kernel with its times, shapes, the op that launched it and the module it belongs to: module.kernel."""
        return self.table("module.kernel", arrow=arrow)

    def ops(self, *, arrow: bool = False) -> Any:
        """Every framework op with its thread, times, sequence number and shapes: table trace.op."""
        return self.table("trace.op", arrow=arrow)

    def table(self, name: str, *, arrow: bool = False) -> Any:
        """A table of the engine over all ranks; `prof-analysis tables` documents them.

        Raises QueryError for an unknown name.
        """
        if name not in documented_tables():
            raise QueryError(f"there is no table {name}; `prof-analysis tables` lists those there are")
        return self.sql(f"FROM {name}", arrow=arrow)

    def sql(self, query: str, *, arrow: bool = False) -> Any:
        """The answer of a DuckDB query on the tables of the engine, over all ranks.

        The tables that the query names are built first. A sum of integers is an integer where 64 bits hold it. A query changes
        nothing and loads nothing from the net, but may read files, as in `JOIN read_csv('mine.csv')`: any that its user may
        read. So do not pass on queries of people whom you would not give an account.
        Raises QueryError when the query cannot be read or run.
        """
        answer = frames.plain(self._asked(query, lambda relation: relation.to_arrow_table()))
        return answer if arrow else frames.to_pandas(answer)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The answer of a query as sql() takes it: its rows, each a value by column.

        Raises QueryError when the query cannot be read or run.
        """
        return self._asked(query, frames.rows)

    def _asked(self, query: str, fetch: Callable[[duckdb.DuckDBPyRelation], Answer]) -> Answer:
        with self._session.turn():
            return self._asked_in_turn(query, fetch)

    def _asked_in_turn(self, query: str, fetch: Callable[[duckdb.DuckDBPyRelation], Answer]) -> Answer:
        needed = referenced_tables(query)
        if unknown := sorted(needed - documented_tables().keys()):
            raise QueryError(f"there is no table {unknown[0]}; `prof-analysis tables` lists those there are")
        if of_logs := sorted(name for name in needed if documented_tables()[name].is_of_logs):
            raise QueryError(f"{of_logs[0]} is made of logs, not of profiles: ask `prof-analysis stage-durations LOG`")
        self._session.provide(tuple(sorted(needed)))
        create_macros(self._session.connection, query)
        try:
            return fetch(self._session.connection.sql(query))
        except duckdb.Error as error:
            raise QueryError(f"the query failed: {reason_of(error)}{remedy_of(error)}") from error

    def export(
        self,
        folder: str | Path | None = None,
        export_type: str = "db",
        analysis: str = "module-stats",
        extras: Iterable[str] = (),
    ) -> list[Path]:
        """Write the tables of an analysis, of all ranks, below `folder`/cluster_analysis_output.

        `folder` is the profile's own path unless given. export_type is db, text (xlsx; also called excel), csv, parquet
        or json. `analysis` is named as its command; `extras` are the options of it that add tables, such as pmu. Gives the
        files written; what a format could not hold whole is in `warnings`.
        Tables that compare ranks, left there by an earlier run of several, are removed by a run of one.
        Raises InputError when no rank can answer or there is no such type, OutputError when a file cannot be written.
        """
        from prof_analysis import exports

        _require("analysis", analysis, analysis in ANALYSES, " or ".join(ANALYSES))
        _require("export_type", export_type, export_type in exports.EXPORT_TYPES, ", ".join(exports.EXPORT_TYPES))
        chosen = ANALYSES[analysis]
        with self._session.turn():
            for extra in extras:
                _require("extras", extra, extra in chosen.extras, f"{' or '.join(chosen.extras) or 'none'} with {analysis}")
                self._session.require(chosen.extras[extra].requires)
                chosen = chosen.with_extra(extra)
            self._session.answer(chosen)
            tables = dict(chosen.exports)
            comparing = chosen.of_several_ranks
            if len(self._session.stores) > 1:
                tables |= comparing
                self._session.provide(tuple(tables))
            target = Path(folder) if folder is not None else discovery.root_of(self.path)
            cuts: list[str] = []
            files = exports.export(
                self._session.connection,
                self._session.stores,
                target / "cluster_analysis_output",
                tables,
                export_type,
                cuts,
                outdated=[name for table, name in comparing.items() if table not in tables],
            )
            for cut in cuts:
                self._session.warn(cut)
        return files

    def close(self) -> None:
        """Give back memory and temporary files. Nothing can be asked afterwards, and what another thread asks ends."""
        self._session.close()

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        readable = sum(rank.left_out is None for rank in self._session.ranks)
        lines = [f"Profile {self.path}: {readable} of {len(self._session.ranks)} ranks readable"]
        for rank in self._session.ranks[:_SHOWN_RANKS]:
            known = "no rank id" if rank.rank_id is None else f"rank {rank.rank_id}"
            lines.append(f"  {rank.profile}: {known}, {rank.left_out or ', '.join(rank.answers) or 'answers nothing'}")
        if len(self._session.ranks) > _SHOWN_RANKS:
            lines.append(f"  and {len(self._session.ranks) - _SHOWN_RANKS} more: see .ranks()")
        return "\n".join(map(visible, lines))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def _answer(self, analysis: str, table: str, arrow: bool) -> Any:
        self._session.answer(ANALYSES[analysis])
        return self.table(table, arrow=arrow)


_SHOWN_RANKS = 20


# Types that a peak can be given for, as mfu.shape calls them.
_DATA_TYPES = (
    "fp16", "bf16", "hf32", "fp32", "int8", "int4", "hifloat8", "float8_e4m3fn", "float8_e5m2", "float4_e2m1", "float4_e1m2"
)  # fmt: skip


def _peaks(peak_tflops: Mapping[str, float] | str | None) -> Variables:
    """The variables that say which peaks count."""
    if isinstance(peak_tflops, str):
        _require("peak_tflops", peak_tflops, peak_tflops == "published", "'published' or a peak by data type")
        return {"published_peaks": True}
    for data_type, tflops in (peak_tflops or {}).items():
        is_right = data_type in _DATA_TYPES and 0 < tflops < 1_000_000
        _require("peak_tflops", f"{data_type}={tflops}", is_right, f"a positive number for one of {', '.join(_DATA_TYPES)}")
    return {"peak_tflops": [f"{data_type}={float(tflops)}" for data_type, tflops in sorted((peak_tflops or {}).items())]}


def _require(option: str, value: object, is_right: bool, expected: str) -> None:
    if not is_right:
        raise InputError(f"{option}={value!r}: give {expected}")
