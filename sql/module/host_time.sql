-- One row is a module path with its time on the host, the longest own time first. It needs no kernels. With a step
-- chosen, only calls and backward work that began in that step count.
--
-- parent_module  VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module         VARCHAR  class name of the module, with [Backward] before it in the backward
-- own_host_ns    BIGINT   time of its calls, or of the backward work of its ops, on host threads without that of modules and
--                         backward work inside them, ns
-- host_ns        BIGINT   own_host_ns with that of all modules inside it, ns; threads that work at the same time count fully
-- own_share      DOUBLE   part of the own time of all modules; NULL when that is 0
-- calls          BIGINT   calls; in the backward, forward calls whose backward ran
-- op_count       BIGINT   ops in it and in all modules inside it, ops inside ops too; records of launches are none
-- launches       BIGINT   launches of kernels by them; a replayed graph is one; NULL in a profile without kernels
-- device_ns      BIGINT   time of the kernels that they launched, ns; NULL in a profile without kernels
WITH call AS (
    SELECT call.interval_id, call.path_key, call.is_backward, call.range_id, interval.start_ns, interval.end_ns
    FROM module.call
    JOIN module.interval USING (interval_id)
    -- All pairs: periods of the chosen step are few.
    LEFT JOIN step.selected ON interval.start_ns >= selected.start_ns AND interval.start_ns < selected.end_ns
    WHERE interval.tid >= 0 AND (getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL)
),
-- What lies directly in a call, and until when the rest of it before has reached: calls that cross count once.
inside AS (
    SELECT
        call.interval_id,
        interval.start_ns,
        least(interval.end_ns, call.end_ns) AS end_ns,
        max(least(interval.end_ns, call.end_ns)) OVER (
            PARTITION BY call.interval_id
            ORDER BY interval.start_ns, interval.interval_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM call
    JOIN module.interval_parent AS parent ON parent.parent_id = call.interval_id
    JOIN module.interval ON interval.interval_id = parent.interval_id
),
inside_call AS (
    SELECT interval_id, sum(greatest(end_ns - greatest(start_ns, coalesce(reached_ns, start_ns)), 0)) AS duration_ns
    FROM inside
    GROUP BY interval_id
),
recorded_op AS (
    SELECT op_id AS item_id, tid, start_ns, end_ns
    FROM trace.op
    ANTI JOIN op.launch USING (op_id)
    WHERE NOT is_step
),
interval AS (
    SELECT interval_id AS span_id, interval_parent.parent_id, tid, start_ns, end_ns, is_last_started
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
),
op_of_call AS (
    SELECT span_id AS interval_id, count(*) AS op_count
    FROM innermost(recorded_op, interval)
    GROUP BY span_id
),
own AS (
    SELECT
        path.path_id,
        sum(call.end_ns - call.start_ns - coalesce(inside_call.duration_ns, 0)) AS host_ns,
        sum(coalesce(op_of_call.op_count, 0)) AS op_count
    FROM call
    JOIN module.path ON path.path_key = call.path_key AND path.is_backward = call.is_backward
    LEFT JOIN inside_call USING (interval_id)
    LEFT JOIN op_of_call USING (interval_id)
    GROUP BY path.path_id
),
called AS (
    SELECT path.path_id, count(DISTINCT call.range_id) AS calls
    FROM call
    JOIN module.path ON path.path_key = call.path_key AND path.is_backward = call.is_backward
    GROUP BY path.path_id
),
launched AS (
    SELECT
        kernel.path_id,
        count(DISTINCT device.launch_id) AS launches,
        sum(kernel.duration_ns) AS device_ns
    FROM module.kernel
    JOIN trace.kernel AS device USING (kernel_id)
    WHERE kernel.path_id IS NOT NULL
    GROUP BY kernel.path_id
),
recorded_kernel AS (
    SELECT count(*) > 0 AS has_rows
    FROM trace.kernel
),
inclusive AS (
    SELECT
        enclosing_path.enclosing_id AS path_id,
        sum(own.host_ns) AS host_ns,
        sum(own.op_count) AS op_count,
        sum(launched.launches) AS launches,
        sum(launched.device_ns) AS device_ns
    FROM module.enclosing_path
    LEFT JOIN own USING (path_id)
    LEFT JOIN launched USING (path_id)
    GROUP BY enclosing_path.enclosing_id
    HAVING count(own.path_id) > 0
)
SELECT
    path.parent_module,
    path.module,
    coalesce(own.host_ns, 0)::BIGINT AS own_host_ns,
    inclusive.host_ns::BIGINT AS host_ns,
    own_host_ns / nullif(sum(own_host_ns) OVER (), 0) AS own_share,
    coalesce(called.calls, 0) AS calls,
    coalesce(inclusive.op_count, 0)::BIGINT AS op_count,
    if(recorded_kernel.has_rows, coalesce(inclusive.launches, 0), NULL)::BIGINT AS launches,
    if(recorded_kernel.has_rows, coalesce(inclusive.device_ns, 0), NULL)::BIGINT AS device_ns
FROM inclusive
JOIN module.path USING (path_id)
LEFT JOIN own USING (path_id)
LEFT JOIN called USING (path_id)
CROSS JOIN recorded_kernel
ORDER BY own_host_ns DESC, path.path_id
