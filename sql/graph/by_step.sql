-- One row is a step with its compute kernels that ran as a part of a replayed graph, and those that ops launched one by one
-- (eagerly). A rank without replayed graphs has no rows.
--
-- @guard graph.replayed_kernel
--
-- step_id         BIGINT  profiler step; NULL for kernels of no step
-- replayed_count  BIGINT  compute kernels of replayed graphs
-- replayed_ns     BIGINT  their time, ns
-- eager_count     BIGINT  other compute kernels, as far as the op is known that launched them
-- eager_ns        BIGINT  their time, ns
-- eager_idle_ns   BIGINT  idle time of the device right before these, without long waits behind their launch and without idle
--                         edges of the recording, ns
--
-- A kernel without an op may be a part of the graph that the profile does not say so of, as some custom kernels are.
WITH idle AS (
    SELECT gap.kernel_after_id AS kernel_id, sum(part.duration_ns)::BIGINT AS idle_ns
    FROM free.gap_cause AS part
    JOIN free.gap USING (gap_id)
    WHERE part.cause NOT IN ('waiting for another stream or event', 'unknown after the launch', 'edge of the recording')
    GROUP BY gap.kernel_after_id
),
kernel AS (
    SELECT kernel.kernel_id, kernel.duration_ns, kernel.model_id IS NOT NULL AS is_replayed
    FROM trace.kernel
    LEFT JOIN module.kernel_op USING (kernel_id)
    WHERE kernel.kind = 'compute'
        AND (kernel.model_id IS NOT NULL OR kernel_op.op_id IS NOT NULL)
        AND EXISTS (FROM graph.replayed_kernel)
)
SELECT
    step.step_id,
    count(*) FILTER (kernel.is_replayed) AS replayed_count,
    coalesce(sum(kernel.duration_ns) FILTER (kernel.is_replayed), 0)::BIGINT AS replayed_ns,
    count(*) FILTER (NOT kernel.is_replayed) AS eager_count,
    coalesce(sum(kernel.duration_ns) FILTER (NOT kernel.is_replayed), 0)::BIGINT AS eager_ns,
    coalesce(sum(idle.idle_ns) FILTER (NOT kernel.is_replayed), 0)::BIGINT AS eager_idle_ns
FROM kernel
LEFT JOIN kernels.step USING (kernel_id)
LEFT JOIN idle USING (kernel_id)
WHERE getvariable('step_id') IS NULL OR step.step_id = getvariable('step_id')
GROUP BY step.step_id
ORDER BY step.step_id
