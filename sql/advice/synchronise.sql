-- One row is a module and op of a rank in which the host waits for the device in a synchronise, while the device has no work.
-- Requires kernels, ops, host_calls.
--
-- profile to sql as in advice.finding_of_rank
WITH waiting AS (
    SELECT
        profile,
        rank_id,
        module,
        op,
        arg_max(call, (total_ns, call)) AS call,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns,
        sum(behind_ns)::BIGINT AS behind_ns
    FROM free.cause_of_op
    WHERE work = 'synchronise'
    GROUP BY profile, rank_id, module, op
)
SELECT
    profile,
    rank_id,
    'The host waits in a synchronise' AS title,
    module,
    op,
    NULL::VARCHAR AS kernel_type,
    format(
        'In {} the device is idle for {} while the host still waits in {}, and for another {} until the host has launched the '
        || 'next kernel',
        shown_gaps(gap_count),
        shown_time(total_ns),
        coalesce(call, 'a call'),
        shown_time(behind_ns)
    ) AS evidence,
    gap_count AS count,
    total_ns + behind_ns AS time_ns,
    total_ns AS win_ns,
    'exact cause' AS kind,
    'Remove the synchronise, or wait only where the host has launched work ahead: look for torch.npu.synchronize() or '
    || 'torch.cuda.synchronize(), stream.synchronize(), printed tensors, and ops whose result has a shape that depends on data '
    || '(nonzero, unique, masked_select).' AS what_to_do,
    'docs/rules.md#synchronise' AS doc,
    'SELECT total_ns, behind_ns, gap_count, call, module FROM free.cause_of_op WHERE work = ''synchronise'' '
    || 'ORDER BY total_ns DESC LIMIT 50' AS sql
FROM waiting
