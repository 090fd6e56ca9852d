-- One row is a call of a module on a stream of the device, from its first kernel there to its last one, kernels of modules
-- inside it included. A call with kernels on several streams has a row for each.
--
-- call_id             BIGINT   number of the row, in the order of time; a call comes before those inside it
-- parent_call_id      BIGINT   the row of the call around it on the same stream; NULL for an outermost module
-- range_id            BIGINT   the forward call that it is, or whose gradient it computes, an interval of module.interval
-- is_backward         BOOLEAN  true for the backward
-- device_id           BIGINT   device; NULL when not recorded
-- stream_id           BIGINT   stream; NULL for communication whose tasks run on several
-- step_id             BIGINT   step of its first kernel; NULL outside steps
-- start_ns            BIGINT   start of the first kernel, Unix ns
-- end_ns              BIGINT   end of the last kernel, Unix ns
-- kernel_count        BIGINT   kernels on the stream, with those of modules inside
-- kernel_duration_ns  BIGINT   their time, ns; overlapping kernels count fully
-- own_kernel_count    BIGINT   kernels directly in the module
-- own_duration_ns     BIGINT   their time, ns
--
-- The backward of a call is all backward work of it and of the calls inside it, up to the next backward work on the same host
-- thread that is of neither.
WITH RECURSIVE work AS (
    SELECT
        call.instance_id,
        call.range_id,
        call.is_backward,
        kernel.device_id,
        kernel.stream_id,
        arg_min(kernel.step_id, pair_key(kernel.start_ns, kernel.kernel_id)) AS step_id,
        min(kernel.start_ns) AS start_ns,
        max(kernel.end_ns) AS end_ns,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns
    FROM timeline.kernel
    JOIN module.call USING (interval_id)
    GROUP BY call.instance_id, call.range_id, call.is_backward, kernel.device_id, kernel.stream_id
),
forward_call AS (
    SELECT interval_id AS range_id, parent_range_id
    FROM module.call
    WHERE interval_id = range_id
),
-- Each call with itself and the calls around it.
around AS (
    SELECT range_id, range_id AS around_id, parent_range_id
    FROM forward_call
    UNION ALL
    SELECT around.range_id, forward_call.range_id, forward_call.parent_range_id
    FROM around
    JOIN forward_call ON forward_call.range_id = around.parent_range_id
),
instance AS (
    SELECT DISTINCT instance_id, range_id, is_backward
    FROM work
),
-- As they follow each other on each host thread: intervals are numbered so.
in_turn AS (
    SELECT instance.*, interval.tid, row_number() OVER (ORDER BY instance.instance_id) AS turn
    FROM instance
    JOIN module.interval ON interval.interval_id = instance.instance_id
),
-- Backward work that follows each other is one run. Windows over rows that are in order already are streamed: with partitions
-- this table takes 1.3 s of CPU more at a million kernels.
enclosing AS (
    SELECT in_turn.*, around.around_id, around.parent_range_id
    FROM in_turn
    JOIN around USING (range_id)
    WHERE is_backward
    ORDER BY tid, around_id, turn
),
enclosing_in_turn AS (
    SELECT
        *,
        coalesce(
            tid = lag(tid) OVER () AND around_id = lag(around_id) OVER () AND turn = lag(turn) OVER () + 1, false
        ) AS goes_on
    FROM enclosing
),
backward_run AS (
    SELECT
        instance_id,
        range_id,
        is_backward,
        around_id,
        parent_range_id,
        count_if(NOT goes_on) OVER (ROWS UNBOUNDED PRECEDING) AS run
    FROM enclosing_in_turn
),
-- A forward call is one run, wherever its work is done: to number them as well takes 2 s of CPU more at a million kernels.
run_around AS (
    SELECT backward_run.*, outer_run.run AS parent_run
    FROM backward_run
    LEFT JOIN backward_run AS outer_run
        ON outer_run.instance_id = backward_run.instance_id AND outer_run.around_id = backward_run.parent_range_id
    UNION ALL
    SELECT
        instance.instance_id,
        instance.range_id,
        instance.is_backward,
        around.around_id,
        around.parent_range_id,
        0,
        if(around.parent_range_id IS NULL, NULL, 0)
    FROM instance
    JOIN around USING (range_id)
    WHERE NOT instance.is_backward
),
span AS (
    SELECT
        run.around_id AS range_id,
        run.is_backward,
        run.run,
        min(run.parent_range_id) AS parent_range_id,
        min(run.parent_run) AS parent_run,
        work.device_id,
        work.stream_id,
        arg_min(work.step_id, pair_key(work.start_ns, work.instance_id)) AS step_id,
        min(work.start_ns) AS start_ns,
        max(work.end_ns) AS end_ns,
        sum(work.kernel_count)::BIGINT AS kernel_count,
        sum(work.duration_ns)::BIGINT AS kernel_duration_ns,
        coalesce(sum(work.kernel_count) FILTER (run.around_id = work.range_id), 0)::BIGINT AS own_kernel_count,
        coalesce(sum(work.duration_ns) FILTER (run.around_id = work.range_id), 0)::BIGINT AS own_duration_ns
    FROM work
    JOIN run_around AS run USING (instance_id)
    GROUP BY run.around_id, run.is_backward, run.run, work.device_id, work.stream_id
),
depth AS (
    SELECT range_id, count(*) AS depth
    FROM around
    GROUP BY range_id
),
numbered_span AS (
    SELECT
        *,
        row_number() OVER (
            ORDER BY start_ns, depth, end_ns, range_id, is_backward, run, device_id, stream_id
        ) AS call_id
    FROM span
    JOIN depth USING (range_id)
)
SELECT
    call.call_id,
    parent.call_id AS parent_call_id,
    call.range_id,
    call.is_backward,
    call.device_id,
    call.stream_id,
    call.step_id,
    call.start_ns,
    call.end_ns,
    call.kernel_count,
    call.kernel_duration_ns,
    call.own_kernel_count,
    call.own_duration_ns
FROM numbered_span AS call
LEFT JOIN numbered_span AS parent
    ON parent.range_id = call.parent_range_id
    AND parent.is_backward = call.is_backward
    AND parent.run = call.parent_run
    AND parent.device_id IS NOT DISTINCT FROM call.device_id
    AND parent.stream_id IS NOT DISTINCT FROM call.stream_id
