-- One row is a framework op and the line of user code that called it, with its calls and their cost; the largest own device
-- time first. Records of a launch count as a part of the op around them. The times add up to those of op.by_shape.
--
-- name_id         TEXT_ID  name of the op; NULL when the profile lost its text
-- source_line     VARCHAR  file, line and function: net.py(7): forward, the innermost frame that is neither of PyTorch nor of
--                          Python itself; of an op in the backward that of its forward op, of an op of a replayed graph
--                          that of the launch of the graph; NULL when not known
-- reason          VARCHAR  why it is not known: 'op without stack' or 'no user code'; NULL when it is
-- calls           BIGINT   calls; without profiler steps
-- kernel_count    BIGINT   kernels that they launched themselves
-- device_self_ns  BIGINT   time of these kernels, ns; overlapping kernels count fully
-- share           DOUBLE   device_self_ns / that of all ops; NULL when that is 0
-- host_self_ns    BIGINT   time of the calls on the host without that of the ops inside them, ns
WITH call AS (
    SELECT
        op.op_id,
        coalesce(launch.call_id, op.op_id) AS call_id,
        coalesce(around.name_id, op.name_id) AS name_id,
        launch.op_id IS NULL AS is_call,
        op.start_ns
    FROM trace.op
    LEFT JOIN op.launch USING (op_id)
    LEFT JOIN trace.op AS around ON around.op_id = launch.call_id
    WHERE NOT op.is_step
),
part AS (
    SELECT
        call.name_id,
        call.call_id AS op_id,
        count(*) AS kernel_count,
        sum(selected.duration_ns) AS device_self_ns,
        0 AS calls,
        0 AS host_self_ns
    FROM kernels.selected
    JOIN module.kernel_op USING (kernel_id)
    JOIN call USING (op_id)
    GROUP BY call.name_id, call.call_id
    UNION ALL
    SELECT replayed_op.name_id, coalesce(replay.op_id, replayed_op.op_id), count(*), sum(selected.duration_ns), 0, 0
    FROM kernels.selected
    JOIN module.kernel_op USING (kernel_id)
    JOIN trace.replayed_op USING (op_id)
    LEFT JOIN module.replay USING (launch_id)
    WHERE replayed_op.is_op
    GROUP BY replayed_op.name_id, coalesce(replay.op_id, replayed_op.op_id)
    UNION ALL
    SELECT call.name_id, call.call_id, 0, 0, call.is_call::BIGINT, cost.host_self_ns
    FROM call
    JOIN op.cost USING (op_id)
    -- All pairs: periods of the chosen step are few.
    LEFT JOIN step.selected ON call.start_ns >= selected.start_ns AND call.start_ns < selected.end_ns
    WHERE getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL
),
located AS (
    SELECT
        part.*,
        source_line.source_line,
        CASE
            WHEN stack.op_id IS NULL THEN 'op without stack'
            WHEN source_line.source_line IS NULL THEN 'no user code'
        END AS reason
    FROM part
    LEFT JOIN stack.op AS stack USING (op_id)
    LEFT JOIN stack.source_line ON source_line.stack_id = stack.stack_id
),
total AS (
    SELECT
        name_id,
        source_line,
        reason,
        sum(calls)::BIGINT AS calls,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(device_self_ns)::BIGINT AS device_self_ns,
        sum(device_self_ns) / nullif(sum(sum(device_self_ns)) OVER (), 0) AS share,
        sum(host_self_ns)::BIGINT AS host_self_ns
    FROM located
    GROUP BY name_id, source_line, reason
)
SELECT total.*
FROM total
LEFT JOIN trace.string AS name ON name.text_id = total.name_id
WHERE is_chosen(name.text)
ORDER BY device_self_ns DESC, host_self_ns DESC, name.text, source_line, reason
