-- One row is a framework op and its input shapes with its calls and their cost, whatever --filter chooses, the largest own
-- device time first. With a step chosen, only calls that started in that step count. The wrappers of profiler steps are left
-- out, and records of a launch (op.launch) count as a part of the op around them. An op of a replayed graph is a call in each
-- replay, without time on the host or ops around it, and with the shapes of the capture.
--
-- @keep
--
-- name_id          TEXT_ID  name of the op; NULL when the profile lost its text
-- input_shapes_id  TEXT_ID  input shapes; NULL without record_shapes
-- calls            BIGINT   calls
-- host_self_ns     BIGINT   their time on the host without that of the ops directly inside them, ns
-- host_total_ns    BIGINT   their time on the host, ns; a call inside a call of the same row does not count again, except where
--                           the op is known from operator_details.csv alone
-- kernel_count     BIGINT   kernels that they launched themselves; NULL where the op is known from operator_details.csv alone
-- device_self_ns   BIGINT   time of these kernels, ns
-- device_total_ns  BIGINT   time of these kernels and of those that ops inside them launched, ns; a call inside a call of the
--                           same row does not count again, except as for host_total_ns
-- share            DOUBLE   share of the device_self_ns of all ops of the rank; NULL when that is 0
-- launches         VARCHAR  names of the records of launches that launched its kernels, such as aclnnMm, sorted and separated
--                           by ', '; NULL without any
--
-- The same sums as of op.cost, but made by name and shapes at once: for 3.7 M ops 3.2 s of CPU in place of 4.8.
WITH call AS (
    SELECT op.op_id, op.name_id, op.input_shapes_id, op.duration_ns
    FROM trace.op
    ANTI JOIN op.launch USING (op_id)
    -- All pairs: periods of the chosen step are few.
    LEFT JOIN step.selected ON op.start_ns >= selected.start_ns AND op.start_ns < selected.end_ns
    WHERE NOT op.is_step AND (getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL)
),
part AS (
    SELECT
        call.name_id,
        call.input_shapes_id,
        count(*) AS calls,
        sum(call.duration_ns) AS host_self_ns,
        coalesce(sum(call.duration_ns) FILTER (recursive_call.op_id IS NULL), 0) AS host_total_ns,
        0 AS kernel_count,
        0 AS device_self_ns,
        0 AS device_total_ns
    FROM call
    LEFT JOIN op.recursive_call USING (op_id)
    GROUP BY call.name_id, call.input_shapes_id
    UNION ALL BY NAME
    SELECT call.name_id, call.input_shapes_id, -sum(parent.inside_ns) AS host_self_ns
    FROM op.parent
    ANTI JOIN op.launch USING (op_id)
    JOIN call ON call.op_id = parent.parent_id
    GROUP BY call.name_id, call.input_shapes_id
    UNION ALL BY NAME
    SELECT call.name_id, call.input_shapes_id, sum(beside.beside_ns) AS host_self_ns
    FROM op.beside
    JOIN call ON call.op_id = beside.parent_id
    GROUP BY call.name_id, call.input_shapes_id
    UNION ALL BY NAME
    SELECT
        call.name_id,
        call.input_shapes_id,
        launch.name_id AS launch_name_id,
        sum(kernel_time.kernel_count) AS kernel_count,
        sum(kernel_time.device_self_ns) AS device_self_ns,
        sum(kernel_time.device_total_ns) FILTER (launch.op_id IS NULL AND recursive_call.op_id IS NULL) AS device_total_ns
    FROM op.kernel_time
    LEFT JOIN op.launch USING (op_id)
    LEFT JOIN op.recursive_call ON recursive_call.op_id = kernel_time.op_id
    JOIN call ON call.op_id = coalesce(launch.call_id, kernel_time.op_id)
    GROUP BY call.name_id, call.input_shapes_id, launch.name_id
    UNION ALL BY NAME
    SELECT
        replayed_op.name_id,
        replayed_op.input_shapes_id,
        count(DISTINCT replayed_op.op_id) AS calls,
        0 AS host_self_ns,
        0 AS host_total_ns,
        count(*) AS kernel_count,
        sum(kernel.duration_ns) AS device_self_ns,
        sum(kernel.duration_ns) AS device_total_ns
    FROM trace.replayed_kernel
    JOIN trace.replayed_op USING (op_id)
    JOIN trace.kernel USING (kernel_id)
    WHERE replayed_op.is_op AND (getvariable('step_id') IS NULL OR kernel_id IN (SELECT kernel_id FROM kernels.in_step))
    GROUP BY replayed_op.name_id, replayed_op.input_shapes_id
    UNION ALL BY NAME
    SELECT
        name_id,
        input_shapes_id,
        count(*) AS calls,
        sum(host_self_ns) AS host_self_ns,
        sum(host_total_ns) AS host_total_ns,
        sum(device_self_ns) AS device_self_ns,
        sum(device_total_ns) AS device_total_ns
    FROM trace.reported_cost
    GROUP BY name_id, input_shapes_id
),
total AS (
    SELECT
        part.name_id,
        part.input_shapes_id,
        sum(part.calls)::BIGINT AS calls,
        sum(part.host_self_ns)::BIGINT AS host_self_ns,
        sum(part.host_total_ns)::BIGINT AS host_total_ns,
        sum(part.kernel_count)::BIGINT AS kernel_count,
        sum(part.device_self_ns)::BIGINT AS device_self_ns,
        sum(part.device_total_ns)::BIGINT AS device_total_ns,
        string_agg(launch_name.text, ', ' ORDER BY launch_name.text) AS launches
    FROM part
    LEFT JOIN trace.string AS launch_name ON launch_name.text_id = part.launch_name_id
    GROUP BY part.name_id, part.input_shapes_id
)
SELECT total.* EXCLUDE (launches), device_self_ns / nullif(sum(device_self_ns) OVER (), 0) AS share, launches
FROM total
LEFT JOIN trace.string AS name ON name.text_id = total.name_id
LEFT JOIN trace.string AS input_shapes ON input_shapes.text_id = total.input_shapes_id
ORDER BY device_self_ns DESC, host_self_ns DESC, name.text, input_shapes.text
