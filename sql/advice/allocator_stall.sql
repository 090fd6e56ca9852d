-- One row is a rank on which the host allocates or frees memory of the device while the device is idle.
-- Requires kernels, ops, host_calls.
--
-- profile to sql as in advice.finding_of_rank
WITH allocating AS (
    SELECT
        profile,
        rank_id,
        coalesce(op, 'no op') || ' of ' || coalesce(module, 'no module') AS place,
        arg_max(call, (total_ns, call)) AS call,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    WHERE work = 'allocate'
    GROUP BY profile, rank_id, place
),
-- What is in force is not advised.
expandable AS (
    SELECT DISTINCT profile
    FROM trace.setting
    WHERE name = 'PYTORCH_NPU_ALLOC_CONF' AND contains(lower(replace(value, ' ', '')), 'expandable_segments:true')
),
of_rank AS (
    SELECT
        profile,
        rank_id,
        arg_max(call, (total_ns, call)) AS call,
        arg_max(place, (total_ns, place)) AS most_in,
        max(total_ns) AS most_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM allocating
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    'Allocating memory keeps the device waiting' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'In {} the device is idle for {} while the host is in calls such as {}, {} of it in {}',
        shown_gaps(gap_count),
        shown_time(total_ns),
        coalesce(call, 'one without a name'),
        shown_time(most_ns),
        most_in
    ) AS evidence,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    'exact cause' AS kind,
    'Keep the caching allocator from calling the device within steps: ' || if(
        profile IN (FROM expandable), '', 'expandable_segments:True in PYTORCH_NPU_ALLOC_CONF or PYTORCH_CUDA_ALLOC_CONF, '
    ) || 'no empty_cache() in the loop, some memory left free so that no block must be given back, and '
    || 'warm-up with the largest shapes.' AS what_to_do,
    'docs/rules.md#allocator-stall' AS doc,
    'SELECT total_ns, gap_count, call, module, rank_id FROM free.cause_of_op WHERE work = ''allocate'' '
    || 'ORDER BY total_ns DESC LIMIT 50' AS sql
FROM of_rank
