-- One row is a way in which a rank leaves graph mode: graphs that are compiled while it is recorded, steps without the graph
-- that other steps replay, or an op that is launched by itself between replays.
--
-- @title (way = compiled again) Graphs are compiled in steps after the first
-- @title (way = compiled) Graphs are compiled while the profile is recorded
-- @title (way = without a graph) Steps run without the graph of the others
-- @title Ops run one by one between replays of a graph
-- @evidence (way = compiled again) {count|one compilation|compilations}[ in {step_count|one step|steps}] {count?takes|take}
--     {host_ns} on the host; the device is idle for {time_ns} of it
-- @evidence (way = compiled) {count|one compilation|compilations}[ in {step_count|one step|steps}] {count?takes|take} {host_ns}
--     on the host; the device is idle for {time_ns} of it
-- @evidence (way = without a graph) {count} of {step_count} steps replay no graph and launch {eager_count} kernels one by one;
--     right before these the device is idle for {time_ns}
-- @evidence {count} of its kernels are launched one by one where graphs replay {replayed_count}; right before them the device
--     is idle for {time_ns}
-- @kind (way = compiled) hint
-- @kind upper bound
-- @remedy (way = compiled again) Find out what changes from step to step (TORCH_LOGS=recompiles): mark changing sizes with
--     torch._dynamo.mark_dynamic or dynamic=True, pad inputs to a few sizes, and keep Python values out of the compiled
--     function.
-- @remedy (way = compiled) Compile before the recording: run some steps with each shape first (warmup or skip_first in the
--     schedule of the profiler).
-- @remedy (way = without a graph) Find out what is different in these steps: a batch size or sequence length that was not
--     captured, or a branch that cannot be. Capture graphs for these sizes too (in vLLM and SGLang the list of captured batch
--     sizes), or pad to one that was.
-- @remedy Find out why it is not captured: an op that the compiler or the capture does not support, a size that changes, or a
--     list of ops at which graphs are split (piecewise graphs). Capture the whole step where the framework can (full graphs).
-- @query (way = compiled again) SELECT step_id, compilation_count, host_ns, idle_ns, rank_id FROM graph.compilation ORDER BY
--     idle_ns DESC LIMIT 20
-- @query (way = compiled) SELECT step_id, compilation_count, host_ns, idle_ns, rank_id FROM graph.compilation ORDER BY idle_ns
--     DESC LIMIT 20
-- @query (way = without a graph) SELECT step_id, replayed_count, eager_count, eager_idle_ns, rank_id FROM graph.by_step ORDER
--     BY replayed_count LIMIT 20
-- @query SELECT op_name, kernel_count, idle_ns, rank_id FROM graph.eager_op ORDER BY idle_ns DESC LIMIT 20
-- @counts idle
-- @requires kernels, ops
-- @threshold least_kernel_count 2: Kernels of an op that are launched one by one, at least
-- @threshold least_replayed_share 0.5: Share of the compute kernels that replayed graphs run, so that this is graph mode
--
-- @columns profile to rank_id, op, count to win_ns as in advice.finding_of_rank
-- way             VARCHAR  compiled (graphs are, in the first step), compiled again, without a graph (a step is), between
--                          replays (an op is)
-- step_count      BIGINT   steps in which graphs are compiled, of those without a graph all steps of the rank; NULL when not
--                          known
-- host_ns         BIGINT   time on the host of the compilations, ns; NULL for others
-- eager_count     BIGINT   kernels that are launched one by one in steps without a graph; NULL for others
-- replayed_count  BIGINT   kernels that graphs replay around an op between replays; NULL for others
--
-- The program leaves graph mode, in three ways:
--
-- - **Graphs are compiled** in steps after the first, as marked by Dynamo (`(dynamo_timed)`) and TorchAir. The win is an upper
--   bound: the idle time of the device during compilation. In the first step alone, or without steps, it is warm-up: a hint.
-- - **Steps run without the graph** that other steps replay, though they launch at least half as many kernels. The win is an
--   upper bound: the idle time right before the kernels that ops launch one by one in these steps.
-- - **An op is launched by itself** between replays, at least twice. The win is an upper bound: the idle time right before its
--   kernels.
--
-- The last two apply if replayed graphs run at least half of the compute kernels. A kernel counts as launched one by one only
-- if the op that launched it is known: some custom kernels of captured graphs carry no graph id. Tables: graph.compilation,
-- graph.by_step, graph.eager_op.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_replayed_share') AS least_replayed_share,
        max(value) FILTER (name = 'least_kernel_count') AS least_kernel_count
    FROM advice.threshold
    WHERE rule = 'graph_fallback'
),
first_step AS (
    SELECT profile, min(step_id) AS step_id
    FROM step.time
    GROUP BY profile
),
compiled AS (
    SELECT
        compilation.profile,
        compilation.rank_id,
        sum(compilation.compilation_count)::BIGINT AS compilation_count,
        count(*) AS step_count,
        count(compilation.step_id) AS known_count,
        sum(compilation.host_ns)::BIGINT AS host_ns,
        sum(compilation.idle_ns)::BIGINT AS idle_ns,
        bool_or(compilation.step_id > first_step.step_id) AS is_again
    FROM graph.compilation
    LEFT JOIN first_step USING (profile)
    GROUP BY compilation.profile, compilation.rank_id
),
-- Replays are the usual case of a rank whose replayed kernels outnumber the others in most steps that compute at all.
replaying_step AS (
    SELECT
        by_step.*,
        replayed_count > 0 AS is_replaying,
        sum(replayed_count) OVER of_rank / sum(replayed_count + eager_count) OVER of_rank AS replayed_share,
        quantile_disc(replayed_count, 0.5) FILTER (replayed_count > 0) OVER of_rank AS usual_count
    FROM graph.by_step
    WINDOW of_rank AS (PARTITION BY profile)
),
graphless AS (
    SELECT
        replaying_step.profile,
        replaying_step.rank_id,
        (count(*) FILTER (NOT is_replaying))::BIGINT AS step_count,
        count(*) AS all_count,
        (sum(eager_count) FILTER (NOT is_replaying))::BIGINT AS eager_count,
        (sum(eager_idle_ns) FILTER (NOT is_replaying))::BIGINT AS idle_ns
    FROM replaying_step
    CROSS JOIN threshold
    WHERE replaying_step.step_id IS NOT NULL AND replaying_step.replayed_share >= threshold.least_replayed_share
    GROUP BY replaying_step.profile, replaying_step.rank_id
    HAVING sum(eager_count) FILTER (NOT is_replaying AND eager_count * 2 >= usual_count) > 0
),
replaying_rank AS (
    SELECT
        profile,
        sum(replayed_count)::BIGINT AS replayed_count,
        sum(eager_count)::BIGINT AS eager_count
    FROM replaying_step
    CROSS JOIN threshold
    WHERE is_replaying AND replayed_share >= threshold.least_replayed_share
    GROUP BY profile
),
eager AS (
    SELECT eager_op.*, replaying_rank.replayed_count
    FROM graph.eager_op
    JOIN replaying_rank USING (profile)
    CROSS JOIN threshold
    WHERE eager_op.kernel_count >= threshold.least_kernel_count AND eager_op.idle_ns > 0
)
SELECT
    profile,
    rank_id,
    NULL::VARCHAR AS op,
    compilation_count AS count,
    idle_ns AS time_ns,
    if(coalesce(is_again, false), idle_ns, NULL) AS win_ns,
    if(coalesce(is_again, false), 'compiled again', 'compiled') AS way,
    if(known_count = 0, NULL, step_count) AS step_count,
    host_ns,
    NULL::BIGINT AS eager_count,
    NULL::BIGINT AS replayed_count
FROM compiled
UNION ALL
SELECT profile, rank_id, NULL, step_count, idle_ns, idle_ns, 'without a graph', all_count, NULL, eager_count, NULL
FROM graphless
UNION ALL
SELECT profile, rank_id, op_name, kernel_count, idle_ns, idle_ns, 'between replays', NULL, NULL, NULL, replayed_count
FROM eager
