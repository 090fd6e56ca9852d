-- One row is a module and op of a rank in which the host waits for a copy between host and device while the device has no work.
-- Requires kernels, ops, host_calls.
--
-- profile to sql as in advice.finding_of_rank
WITH copying AS (
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
    CASE is_to_host
        WHEN true THEN 'The host waits for copies from the device'
        WHEN false THEN 'The host waits for copies to the device'
        ELSE 'The host waits for copies'
    END AS title,
    module,
    op,
    NULL::VARCHAR AS kernel_type,
    format(
        'In {} the device is idle for {} while the host still waits for the copy, and for another {} until the host has '
        || 'launched the next kernel',
        shown_gaps(gap_count),
        shown_time(total_ns),
        shown_time(behind_ns)
    ) AS evidence,
    gap_count AS count,
    total_ns + behind_ns AS time_ns,
    total_ns AS win_ns,
    'exact cause' AS kind,
    if(
        is_to_host IS NOT false,
        'Keep the value on the device: no .item(), .tolist(), .cpu(), print() or if on a tensor inside a step. Read what you '
        || 'need every several steps, or copy it with non_blocking=True and read it later.',
        'Copy from pinned memory with non_blocking=True (pin_memory=True in the DataLoader), before the step needs it; make '
        || 'constants, masks and positions on the device, once.'
    ) AS what_to_do,
    'docs/rules.md#host-copy' AS doc,
    'SELECT total_ns, behind_ns, gap_count, module, op FROM free.cause_of_op WHERE work = ''copy'' '
    || 'ORDER BY total_ns DESC LIMIT 50' AS sql
FROM copying
