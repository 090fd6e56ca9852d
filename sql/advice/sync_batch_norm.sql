-- One row is a rank that normalises many batches over several ranks (SyncBatchNorm): each call communicates and waits.
--
-- @guard op.sync_batch_norm
-- @title SyncBatchNorm communicates in each call
-- @evidence {forward_count} forward and {backward_count} backward calls spend {communication_ns} in collectives and
--     {computing_ns} in compute kernels; right before these the device is idle for {idle_ns}
-- @kind upper bound
-- @remedy Where batches of one rank are large enough, normalise them by themselves: leave out
--     torch.nn.SyncBatchNorm.convert_sync_batchnorm(), or convert only the layers that need it.
-- @query SELECT communication_ns, idle_ns, computing_ns, call_count, rank_id FROM op.sync_batch_norm ORDER BY communication_ns
--     DESC LIMIT 20
-- @counts idle
-- @requires kernels, ops
-- @threshold least_call_count 20: Forward calls, at least; from msprof-analyze
--
-- @columns profile to rank_id, op, count to win_ns as in advice.finding_of_rank
-- forward_count     BIGINT  calls in the forward
-- backward_count    BIGINT  calls in the backward
-- communication_ns  BIGINT  time of their collectives, ns
-- computing_ns      BIGINT  time of their compute kernels, ns
-- idle_ns           BIGINT  idle time of the device right before these, ns
--
-- At least 20 calls of SyncBatchNorm (the threshold of msprof-analyze). The win is an upper bound: the time of the collectives
-- in them and in their backward, and the idle time right before all of their kernels. Table: op.sync_batch_norm.
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
    'SyncBatchNorm' AS op,
    forward_count + backward_count AS count,
    communication_ns + idle_ns AS time_ns,
    communication_ns + idle_ns AS win_ns,
    forward_count,
    backward_count,
    communication_ns,
    computing_ns,
    idle_ns
FROM norm
CROSS JOIN threshold
WHERE forward_count >= least_call_count
