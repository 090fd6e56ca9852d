-- One row is an op of a rank that could not allocate memory of the device.
-- Requires memory.
--
-- profile to sql as in advice.finding_of_rank
WITH failed AS (
    SELECT
        profile,
        rank_id,
        op_name,
        count(*) AS failed_count,
        max(size_bytes) AS size_bytes,
        arg_max(allocated_bytes, (size_bytes, -time_ns)) AS allocated_bytes,
        arg_max(reserved_bytes, (size_bytes, -time_ns)) AS reserved_bytes,
        max(memory_bytes) AS memory_bytes
    FROM allocation.out_of_memory
    GROUP BY profile, rank_id, op_name
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
    'An allocation of device memory failed' AS title,
    NULL::VARCHAR AS module,
    op_name AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        if(failed_count = 1, 'one attempt', format('{} attempts', failed_count)),
        ' to allocate memory failed',
        if(size_bytes IS NULL, '', format('{} of {}', if(failed_count = 1, ',', ', the largest'), shown_bytes(size_bytes))),
        if(allocated_bytes IS NULL, '', format('; {} were allocated', shown_bytes(allocated_bytes))),
        if(reserved_bytes IS NULL, '', format(', {} reserved', shown_bytes(reserved_bytes))),
        if(memory_bytes IS NULL, '', format(', of {} of the device', shown_bytes(memory_bytes)))
    ) AS evidence,
    failed_count AS count,
    NULL::BIGINT AS time_ns,
    NULL::BIGINT AS win_ns,
    'hint' AS kind,
    'Look with `prof-analysis memory` at what was alive then. ' || if(
        profile IN (FROM expandable),
        'Take ',
        'If much more is reserved than allocated, set expandable_segments:True in PYTORCH_NPU_ALLOC_CONF or '
        || 'PYTORCH_CUDA_ALLOC_CONF; else take '
    ) || 'smaller micro-batches, recompute activations, or shard optimizer states.' AS what_to_do,
    'docs/rules.md#out-of-memory' AS doc,
    'SELECT size_bytes, allocated_bytes, reserved_bytes, op_name FROM allocation.out_of_memory '
    || 'ORDER BY size_bytes DESC LIMIT 20' AS sql
FROM failed
