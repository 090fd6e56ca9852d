-- One row is a module and op of a rank in which the host waits for the device in a synchronise, while the device has no work.
--
-- @title The host waits in a synchronise
-- @evidence In {count|a gap|gaps} the device is idle for {win_ns} while the host still waits in {call}, and for another
--     {behind_ns} until the host has launched the next kernel
-- @kind exact cause
-- @remedy Remove the synchronise, or wait only where the host has launched work ahead: look for
--     <<torch.npu.synchronize()||torch.cuda.synchronize()>>, stream.synchronize(), printed tensors, and ops whose result has a
--     shape that depends on data (nonzero, unique, masked_select).
-- @query SELECT total_ns, behind_ns, gap_count, call, module FROM free.cause_of_op WHERE work = 'synchronise' ORDER BY total_ns
--     DESC LIMIT 50
-- @counts host
-- @requires kernels, ops, host_calls
--
-- @columns profile to rank_id, module to op, count to win_ns as in advice.finding_of_rank
-- call       VARCHAR  the call that takes most of it
-- behind_ns  BIGINT   idle time behind the wait, until the host has launched the next kernel, ns
--
-- Calls that wait for the device (such as `aclrtSynchronizeStream`, `cudaDeviceSynchronize`), by the module and the op that
-- waits. The win is the time in which the device was already idle and the host still waited: exact. After it the device stays
-- idle until the host has launched the next kernel. The evidence names that time too, but the win leaves it out: how much of it
-- would disappear depends on how far the host could have run ahead. For an op such as `aten::_local_scalar_dense`, the
-- outermost op around it of the same namespace is named (`aten::item`).
WITH waiting_call AS (
    SELECT
        profile,
        rank_id,
        module,
        op,
        call,
        sum(gap_count) AS gap_count,
        sum(total_ns) AS total_ns,
        sum(behind_ns) AS behind_ns
    FROM free.cause_of_op
    WHERE work = 'synchronise'
    GROUP BY profile, rank_id, module, op, call
),
waiting_op AS (
    SELECT
        profile,
        rank_id,
        module,
        op,
        arg_max(call, (total_ns, call)) AS call,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns,
        sum(behind_ns)::BIGINT AS behind_ns
    FROM waiting_call
    GROUP BY profile, rank_id, module, op
)
SELECT
    profile,
    rank_id,
    module,
    op,
    gap_count AS count,
    total_ns + behind_ns AS time_ns,
    total_ns AS win_ns,
    coalesce(call, 'a call') AS call,
    behind_ns
FROM waiting_op
