-- One row is a module and op of a rank in which the host waits for a copy between host and device while the device has no work.
--
-- @title (is_to_host) The host waits for copies from the device
-- @title (not is_to_host) The host waits for copies to the device
-- @title The host waits for copies
-- @evidence In {count|a gap|gaps} the device is idle for {win_ns} while the host still waits for the copy, and for another
--     {behind_ns} until the host has launched the next kernel
-- @kind exact cause
-- @remedy (not is_to_host) Copy from pinned memory with non_blocking=True (pin_memory=True in the DataLoader), before the step
--     needs it; make constants, masks and positions on the device, once.
-- @remedy Keep the value on the device: no .item(), .tolist(), .cpu(), print() or if on a tensor inside a step. Read what you
--     need every several steps, or copy it with non_blocking=True and read it later.
-- @query SELECT total_ns, behind_ns, gap_count, module, op FROM free.cause_of_op WHERE work = 'copy' ORDER BY total_ns DESC
--     LIMIT 50
-- @counts host
-- @requires kernels, ops, host_calls
--
-- @columns profile to rank_id, module to op, count to win_ns as in advice.finding_of_rank
-- is_to_host  BOOLEAN  whether the copy goes from the device to the host; NULL when not known
-- behind_ns   BIGINT   idle time behind the copy, until the host has launched the next kernel, ns
--
-- Like [synchronise](#synchronise), if the waiting call copies, or if the waiting op has asked before for a copy between host
-- and device: `.item()`, `.cpu()`, `.to(device)` without `non_blocking=True`. The direction comes from the copy; torch_npu
-- records it from 2025 on. The win is exact.
WITH copying_op AS (
    SELECT
        profile,
        rank_id,
        module,
        op,
        copies = 'device to host' AS is_to_host,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns,
        sum(behind_ns)::BIGINT AS behind_ns
    FROM free.cause_of_op
    WHERE work = 'copy'
    GROUP BY profile, rank_id, module, op, copies
)
SELECT
    profile,
    rank_id,
    module,
    op,
    gap_count AS count,
    total_ns + behind_ns AS time_ns,
    total_ns AS win_ns,
    is_to_host,
    behind_ns
FROM copying_op
