-- One row is a rank whose allocator has reserved far more memory of the device than was in use at any moment.
-- Requires memory.
--
-- profile to sql as in advice.finding_of_rank
--
-- What is reserved and unused at one moment may be in use at the next, so the peaks are compared.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_unused_share') AS least_unused_share,
        max(value) FILTER (name = 'least_unused_gib') * 1073741824 AS least_unused_bytes
    FROM advice.threshold
    WHERE rule = 'memory_fragmentation'
),
unused AS (
    SELECT
        *,
        coalesce(peak_active_bytes, peak_allocated_bytes) AS held_bytes,
        peak_reserved_bytes - held_bytes AS unused_bytes
    FROM across.memory_rank
),
largest AS (
    FROM unused
    WHERE unused_bytes > 0
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY unused_bytes DESC, device_id) = 1
),
-- What is in force is not advised.
expandable AS (
    SELECT DISTINCT profile
    FROM trace.setting
    WHERE name = 'PYTORCH_NPU_ALLOC_CONF' AND contains(lower(replace(value, ' ', '')), 'expandable_segments:true')
)
SELECT
    profile,
    rank_id,
    'Reserved memory is far above what is in use' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            'of {} reserved, at most {} are in use at any moment: {} ({}) serve no block',
            shown_bytes(peak_reserved_bytes),
            shown_bytes(held_bytes),
            shown_bytes(unused_bytes),
            shown_share(unused_bytes / peak_reserved_bytes)
        ),
        if(left_bytes IS NULL, '', format('; the device has {} left', shown_bytes(left_bytes)))
    ) AS evidence,
    NULL::BIGINT AS count,
    NULL::BIGINT AS time_ns,
    NULL::BIGINT AS win_ns,
    'hint' AS kind,
    if(
        profile IN (FROM expandable),
        'Keep shapes equal from step to step; expandable_segments:True is in force.',
        'Set expandable_segments:True in PYTORCH_NPU_ALLOC_CONF or PYTORCH_CUDA_ALLOC_CONF, so that blocks of changing sizes '
        || 'share what is reserved; keep shapes equal from step to step.'
    ) || ' If a larger peak before the recording reserved it, such as the first step or an evaluation, it is no fragmentation.'
        AS what_to_do,
    'docs/rules.md#memory-fragmentation' AS doc,
    'SELECT device_id, peak_allocated_bytes, peak_active_bytes, peak_reserved_bytes FROM across.memory_rank '
    || 'ORDER BY peak_reserved_bytes DESC LIMIT 20' AS sql
FROM largest
CROSS JOIN threshold
WHERE unused_bytes >= least_unused_bytes AND unused_bytes >= least_unused_share * peak_reserved_bytes
