-- One row is a rank whose device was almost full at the peak, with the op in a module that held most of it.
-- Requires memory.
--
-- profile to sql as in advice.finding_of_rank
--
-- A profile that does not record the memory of the device is judged where the threshold memory_gib says it.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'most_left_share') AS most_left_share,
        max(value) FILTER (name = 'memory_gib') AS memory_gib
    FROM advice.threshold
    WHERE rule = 'memory_limit'
),
used AS (
    SELECT
        memory_rank.*,
        coalesce(memory_rank.memory_bytes, nullif(threshold.memory_gib, 0) * 1073741824) AS all_bytes,
        all_bytes - memory_rank.used_bytes AS free_bytes
    FROM across.memory_rank
    CROSS JOIN threshold
    WHERE free_bytes < threshold.most_left_share * all_bytes
),
-- A rank with several devices is as full as the fullest.
fullest AS (
    FROM used
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY free_bytes / all_bytes, device_id) = 1
),
held AS (
    SELECT peak.*, concat_ws('/', nullif(peak.parent_module, ''), peak.module) AS path
    FROM allocation.peak
    WHERE peak.role = 'framework' AND peak.measure = 'allocated' AND peak.part = 'blocks'
),
largest AS (
    SELECT held.*
    FROM held
    JOIN fullest ON fullest.profile = held.profile AND fullest.device_id IS NOT DISTINCT FROM held.device_id
    QUALIFY row_number() OVER (
        PARTITION BY held.profile ORDER BY held.live_bytes DESC, held.parent_module, held.module, held.op_name
    ) = 1
)
SELECT
    fullest.profile,
    fullest.rank_id,
    'Device memory is almost full at the peak' AS title,
    nullif(largest.path, '') AS module,
    largest.op_name AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            '{} of {} are in use at most, {} ({}) are left',
            shown_bytes(fullest.used_bytes),
            shown_bytes(fullest.all_bytes),
            shown_bytes(fullest.free_bytes),
            shown_share(fullest.free_bytes / fullest.all_bytes)
        ),
        if(
            largest.live_bytes IS NULL,
            '',
            format(
                '; of what was allocated during the recording, {} in {} holds most: {}',
                coalesce(largest.op_name, 'an unknown op'),
                coalesce(nullif(largest.path, ''), 'no module'),
                shown_bytes(largest.live_bytes)
            )
        ),
        if(fullest.before_bytes > 0, format('; {} were allocated before it', shown_bytes(fullest.before_bytes)), '')
    ) AS evidence,
    largest.block_count AS count,
    NULL::BIGINT AS time_ns,
    NULL::BIGINT AS win_ns,
    'hint' AS kind,
    'Free or recompute first what holds most; then take smaller micro-batches, or shard parameters and optimizer states over '
    || 'more ranks. Close to the limit the allocator returns memory to the device and asks for it anew, which stops the host '
    || 'and the device.' AS what_to_do,
    'docs/rules.md#memory-limit' AS doc,
    'SELECT live_bytes, share, block_count, op_name, module FROM allocation.peak WHERE measure = ''allocated'' '
    || 'ORDER BY live_bytes DESC LIMIT 20' AS sql
FROM fullest
LEFT JOIN largest USING (profile)
