-- One row is an op that normalises a batch over several ranks (SyncBatchNorm), or its backward, with the kernels that it and
-- the ops inside it launch. Where steps are recorded, calls outside steps do not count.
--
-- @guard op.sync_batch_norm_call
-- @unique norm by start_ns, tid: the outermost of those that start together
--
-- name_id           TEXT_ID  name of the op
-- is_backward       BOOLEAN  whether it is the backward
-- call_count        BIGINT   calls
-- computing_ns      BIGINT   time of their compute kernels, ns
-- communication_ns  BIGINT   time of their communication operators, ns
-- idle_ns           BIGINT   idle time of the device right before these kernels and operators, ns
WITH call AS (
    SELECT op.op_id, op.tid, op.name_id, op.start_ns, op.end_ns, call.is_backward
    FROM op.sync_batch_norm_call AS call
    JOIN trace.op USING (op_id)
),
in_step AS (
    SELECT call.op_id
    FROM call
    ASOF JOIN step.period ON call.start_ns >= period.start_ns
    WHERE call.start_ns < period.end_ns AND (getvariable('step_id') IS NULL OR period.step_id = getvariable('step_id'))
),
norm AS (
    SELECT *
    FROM call
    WHERE op_id IN (SELECT op_id FROM in_step) OR NOT EXISTS (FROM step.period)
    -- One right side for each start.
    QUALIFY row_number() OVER (PARTITION BY tid, start_ns ORDER BY end_ns DESC, op_id) = 1
),
launched_kernels AS (
    SELECT
        norm.op_id,
        kernel.kind,
        sum(kernel.duration_ns) AS duration_ns,
        sum(gap.end_ns - gap.start_ns) AS idle_ns
    FROM module.kernel_op
    JOIN trace.op USING (op_id)
    JOIN trace.kernel USING (kernel_id)
    LEFT JOIN free.gap ON gap.kernel_after_id = kernel.kernel_id
    ASOF JOIN norm ON norm.tid = op.tid AND op.start_ns >= norm.start_ns
    WHERE op.end_ns <= norm.end_ns
    GROUP BY norm.op_id, kernel.kind
)
SELECT
    norm.name_id,
    norm.is_backward,
    count(DISTINCT norm.op_id) AS call_count,
    coalesce(sum(launched_kernels.duration_ns) FILTER (launched_kernels.kind = 'compute'), 0)::BIGINT AS computing_ns,
    coalesce(sum(launched_kernels.duration_ns) FILTER (launched_kernels.kind = 'communication'), 0)::BIGINT AS communication_ns,
    coalesce(sum(launched_kernels.idle_ns), 0)::BIGINT AS idle_ns
FROM norm
LEFT JOIN launched_kernels USING (op_id)
GROUP BY norm.name_id, norm.is_backward
ORDER BY norm.is_backward
