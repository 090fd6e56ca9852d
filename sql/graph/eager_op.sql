-- One row is an op that launches compute kernels one by one between replays of graphs, in steps in which one is replayed, the
-- most idle time first. Ops before the first replay of the recording, or after the last one, do not count.
--
-- @guard graph.replayed_kernel
--
-- op_name_id    TEXT_ID  the op; NULL when the profile lost its name
-- kernel_count  BIGINT   its kernels
-- duration_ns   BIGINT   their time, ns
-- idle_ns       BIGINT   idle time of the device right before them, as in graph.by_step, ns
WITH replaying_step AS (
    SELECT coalesce(step_id, -1) AS step_number
    FROM graph.by_step
    WHERE replayed_count > 0
),
replayed_kernel AS (
    SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM trace.kernel
    WHERE kind = 'compute' AND model_id IS NOT NULL
),
idle AS (
    SELECT gap.kernel_after_id AS kernel_id, sum(part.duration_ns)::BIGINT AS idle_ns
    FROM free.gap_cause AS part
    JOIN free.gap USING (gap_id)
    WHERE part.cause NOT IN ('waiting for another stream or event', 'unknown after the launch', 'edge of the recording')
    GROUP BY gap.kernel_after_id
)
SELECT
    op.name_id AS op_name_id,
    count(*) AS kernel_count,
    sum(kernel.duration_ns)::BIGINT AS duration_ns,
    coalesce(sum(idle.idle_ns), 0)::BIGINT AS idle_ns
FROM trace.kernel
LEFT JOIN kernels.step USING (kernel_id)
JOIN replaying_step ON replaying_step.step_number = coalesce(step.step_id, -1)
JOIN replayed_kernel ON kernel.start_ns BETWEEN replayed_kernel.start_ns AND replayed_kernel.end_ns
JOIN module.kernel_op USING (kernel_id)
JOIN trace.op ON op.op_id = kernel_op.op_id
LEFT JOIN trace.string AS op_name ON op_name.text_id = op.name_id
LEFT JOIN idle USING (kernel_id)
WHERE kernel.kind = 'compute' AND kernel.model_id IS NULL
GROUP BY op.name_id, op_name.text
ORDER BY idle_ns DESC, duration_ns DESC, op_name.text
