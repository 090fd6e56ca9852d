-- One row is a row of stack.cost that the options choose: with --under, only stacks with such a frame; with --module, only work
-- of such a module.
--
-- @columns stack_id to host_ns as in stack.cost
-- frames       VARCHAR[]  the frames that the options choose, the outermost one first; NULL without any
-- all_ns       BIGINT     time of all kernels, whatever the options choose, ns
WITH frame_list AS (
    SELECT stack_id, list(frame ORDER BY depth DESC) AS frames
    FROM stack.frame
    GROUP BY stack_id
),
total AS (
    SELECT sum(device_ns)::BIGINT AS all_ns
    FROM stack.cost
)
SELECT
    cost.* REPLACE (
        if(cost.stack_id IS NOT NULL AND frame_list.frames IS NULL, 'no user code', cost.reason) AS reason
    ),
    frame_list.frames,
    total.all_ns
FROM stack.cost
CROSS JOIN total
LEFT JOIN frame_list USING (stack_id)
WHERE cost.is_chosen AND (getvariable('under') IS NULL OR frame_list.frames IS NOT NULL)
