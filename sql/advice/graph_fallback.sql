-- One row is a way in which a rank leaves graph mode: graphs that are compiled while it is recorded, steps without the graph
-- that other steps replay, or an op that is launched by itself between replays.
-- Requires kernels, ops.
--
-- profile to sql as in advice.finding_of_rank
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
compiling AS (
    SELECT
        profile,
        rank_id,
        if(
            coalesce(is_again, false),
            'Graphs are compiled in steps after the first',
            'Graphs are compiled while the profile is recorded'
        ) AS title,
        NULL::VARCHAR AS op,
        format(
            '{}{} {} {} on the host; the device is idle for {} of it',
            if(compilation_count = 1, 'one compilation', format('{} compilations', compilation_count)),
            if(known_count = 0, '', if(step_count = 1, ' in one step', format(' in {} steps', step_count))),
            if(compilation_count = 1, 'takes', 'take'),
            shown_time(host_ns),
            shown_time(idle_ns)
        ) AS evidence,
        compilation_count AS count,
        idle_ns AS time_ns,
        if(coalesce(is_again, false), idle_ns, NULL) AS win_ns,
        if(coalesce(is_again, false), 'upper bound', 'hint') AS kind,
        if(
            coalesce(is_again, false),
            'Find out what changes from step to step (TORCH_LOGS=recompiles): mark changing sizes with '
            || 'torch._dynamo.mark_dynamic or dynamic=True, pad inputs to a few sizes, and keep Python values out of the '
            || 'compiled function.',
            'Compile before the recording: run some steps with each shape first (warmup or skip_first in the schedule of the '
            || 'profiler).'
        ) AS what_to_do,
        'SELECT step_id, compilation_count, host_ns, idle_ns, rank_id FROM graph.compilation '
        || 'ORDER BY idle_ns DESC LIMIT 20' AS sql
    FROM compiled
),
-- Replays are the usual case of a rank whose replayed kernels outnumber the others in most steps that compute at all.
judged AS (
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
        judged.profile,
        judged.rank_id,
        'Steps run without the graph of the others' AS title,
        NULL::VARCHAR AS op,
        format(
            '{} of {} steps replay no graph and launch {} kernels one by one; right before these the device is idle for {}',
            count(*) FILTER (NOT is_replaying),
            count(*),
            sum(eager_count) FILTER (NOT is_replaying),
            shown_time(sum(eager_idle_ns) FILTER (NOT is_replaying))
        ) AS evidence,
        (count(*) FILTER (NOT is_replaying))::BIGINT AS count,
        (sum(eager_idle_ns) FILTER (NOT is_replaying))::BIGINT AS time_ns,
        time_ns AS win_ns,
        'upper bound' AS kind,
        'Find out what is different in these steps: a batch size or sequence length that was not captured, or a branch that '
        || 'cannot be. Capture graphs for these sizes too (in vLLM and SGLang the list of captured batch sizes), or pad to '
        || 'one that was.' AS what_to_do,
        'SELECT step_id, replayed_count, eager_count, eager_idle_ns, rank_id FROM graph.by_step '
        || 'ORDER BY replayed_count LIMIT 20' AS sql
    FROM judged
    CROSS JOIN threshold
    WHERE judged.step_id IS NOT NULL AND judged.replayed_share >= threshold.least_replayed_share
    GROUP BY judged.profile, judged.rank_id
    HAVING sum(eager_count) FILTER (NOT is_replaying AND eager_count * 2 >= usual_count) > 0
),
replaying AS (
    SELECT
        profile,
        sum(replayed_count)::BIGINT AS replayed_count,
        sum(eager_count)::BIGINT AS eager_count
    FROM judged
    CROSS JOIN threshold
    WHERE is_replaying AND replayed_share >= threshold.least_replayed_share
    GROUP BY profile
),
eager AS (
    SELECT
        eager_op.profile,
        eager_op.rank_id,
        'Ops run one by one between replays of a graph' AS title,
        eager_op.op_name AS op,
        format(
            '{} of its kernels are launched one by one where graphs replay {}; right before them the device is idle for {}',
            eager_op.kernel_count,
            replaying.replayed_count,
            shown_time(eager_op.idle_ns)
        ) AS evidence,
        eager_op.kernel_count AS count,
        eager_op.idle_ns AS time_ns,
        eager_op.idle_ns AS win_ns,
        'upper bound' AS kind,
        'Find out why it is not captured: an op that the compiler or the capture does not support, a size that changes, or a '
        || 'list of ops at which graphs are split (piecewise graphs). Capture the whole step where the framework can (full '
        || 'graphs).' AS what_to_do,
        'SELECT op_name, kernel_count, idle_ns, rank_id FROM graph.eager_op ORDER BY idle_ns DESC LIMIT 20' AS sql
    FROM graph.eager_op
    JOIN replaying USING (profile)
    CROSS JOIN threshold
    WHERE eager_op.kernel_count >= threshold.least_kernel_count AND eager_op.idle_ns > 0
),
found AS (
    FROM compiling
    UNION ALL
    FROM graphless
    UNION ALL
    FROM eager
)
SELECT
    profile,
    rank_id,
    title,
    NULL::VARCHAR AS module,
    op,
    NULL::VARCHAR AS kernel_type,
    evidence,
    count,
    time_ns,
    win_ns,
    kind,
    what_to_do,
    'docs/rules.md#graph-fallback' AS doc,
    sql
FROM found
