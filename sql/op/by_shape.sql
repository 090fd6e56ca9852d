-- One row is a framework op and its input shapes with its calls and their cost, whatever --filter chooses, the largest own
-- device time first. With a step chosen, only calls that started in that step count. The wrappers of profiler steps are left
-- out, and records of a launch (op.launch) count as a part of the op around them.
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
-- launches         VARCHAR  names of the records of launches that count as a part of it, such as aclnnMm, sorted and separated
--                           by ', '; NULL without any
--
-- Kept for other questions.
WITH recorded AS (
    SELECT
        call.name_id,
        call.input_shapes_id,
        launch.name_id AS launch_name_id,
        launch.op_id IS NULL AS is_call,
        launch.op_id IS NULL AND recursive_call.op_id IS NULL AS has_total,
        cost.host_self_ns,
        cost.host_total_ns,
        cost.kernel_count,
        cost.device_self_ns,
        cost.device_total_ns
    FROM op.cost
    LEFT JOIN op.launch USING (op_id)
    LEFT JOIN op.recursive_call ON recursive_call.op_id = cost.op_id
    JOIN trace.op AS call ON call.op_id = coalesce(launch.call_id, cost.op_id)
    LEFT JOIN step.selected ON call.start_ns >= selected.start_ns AND call.start_ns < selected.end_ns
    WHERE NOT call.is_step AND (getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL)
    UNION ALL BY NAME
    SELECT *, true AS is_call, true AS has_total
    FROM trace.reported_cost
),
part AS (
    SELECT
        name_id,
        input_shapes_id,
        launch_name_id,
        count(*) FILTER (is_call) AS calls,
        sum(host_self_ns) AS host_self_ns,
        sum(host_total_ns) FILTER (has_total) AS host_total_ns,
        sum(kernel_count) AS kernel_count,
        sum(device_self_ns) AS device_self_ns,
        sum(device_total_ns) FILTER (has_total) AS device_total_ns
    FROM recorded
    GROUP BY name_id, input_shapes_id, launch_name_id
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
