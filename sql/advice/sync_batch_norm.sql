-- One row is a rank that normalises many batches over several ranks (SyncBatchNorm): each call communicates and waits.
-- Requires kernels, ops.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_call_count') AS least_call_count
    FROM advice.threshold
    WHERE rule = 'sync_batch_norm'
),
norm AS (
    SELECT
        profile,
        rank_id,
        coalesce(sum(call_count) FILTER (NOT is_backward), 0)::BIGINT AS forward_count,
        coalesce(sum(call_count) FILTER (is_backward), 0)::BIGINT AS backward_count,
        sum(computing_ns)::BIGINT AS computing_ns,
        sum(communication_ns)::BIGINT AS communication_ns,
        sum(idle_ns)::BIGINT AS idle_ns
    FROM op.sync_batch_norm
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    'SyncBatchNorm communicates in each call' AS title,
    NULL::VARCHAR AS module,
    'SyncBatchNorm' AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        '{} forward and {} backward calls spend {} in collectives and {} in compute kernels; right before these the device '
        || 'is idle for {}',
        forward_count,
        backward_count,
        shown_time(communication_ns),
        shown_time(computing_ns),
        shown_time(idle_ns)
    ) AS evidence,
    forward_count + backward_count AS count,
    communication_ns + idle_ns AS time_ns,
    communication_ns + idle_ns AS win_ns,
    'upper bound' AS kind,
    'Where batches of one rank are large enough, normalise them by themselves: leave out '
    || 'torch.nn.SyncBatchNorm.convert_sync_batchnorm(), or convert only the layers that need it.' AS what_to_do,
    'docs/rules.md#sync-batch-norm' AS doc,
    'SELECT communication_ns, idle_ns, computing_ns, call_count, rank_id FROM op.sync_batch_norm '
    || 'ORDER BY communication_ns DESC LIMIT 20' AS sql
FROM norm
CROSS JOIN threshold
WHERE forward_count >= least_call_count
