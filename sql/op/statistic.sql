-- One row is a framework op and its input shapes with its calls and their cost, the largest own device time first. With a step
-- chosen, only calls that started in that step count. The wrappers of profiler steps are left out.
--
-- name_id          TEXT_ID  name of the op; NULL when the profile lost its text
-- input_shapes_id  TEXT_ID  input shapes; NULL without record_shapes
-- calls            BIGINT   calls
-- host_self_ns     BIGINT   their time on the host without that of the ops directly inside them, ns
-- host_total_ns    BIGINT   their time on the host, ns; where an op calls itself, each call counts in full
-- kernel_count     BIGINT   kernels that they launched themselves; NULL where the op is known from operator_details.csv alone
-- device_self_ns   BIGINT   time of these kernels, ns
-- device_total_ns  BIGINT   time of these kernels and of those that ops inside them launched, ns; where an op calls itself,
--                           each call counts in full
-- share            DOUBLE   share of the device_self_ns of all ops of the rank; NULL when that is 0
WITH call AS (
    SELECT op.name_id, op.input_shapes_id, cost.*
    FROM trace.op
    JOIN op.cost USING (op_id)
    LEFT JOIN step.selected ON op.start_ns >= selected.start_ns AND op.start_ns < selected.end_ns
    WHERE NOT op.is_step AND (getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL)
    UNION ALL BY NAME
    FROM trace.reported_cost
),
total AS (
    SELECT
        name_id,
        input_shapes_id,
        count(*) AS calls,
        sum(host_self_ns)::BIGINT AS host_self_ns,
        sum(host_total_ns)::BIGINT AS host_total_ns,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(device_self_ns)::BIGINT AS device_self_ns,
        sum(device_total_ns)::BIGINT AS device_total_ns
    FROM call
    GROUP BY name_id, input_shapes_id
)
SELECT total.*, device_self_ns / nullif(sum(device_self_ns) OVER (), 0) AS share
FROM total
LEFT JOIN trace.string AS name ON name.text_id = total.name_id
LEFT JOIN trace.string AS input_shapes ON input_shapes.text_id = total.input_shapes_id
ORDER BY device_self_ns DESC, host_self_ns DESC, name.text, input_shapes.text
