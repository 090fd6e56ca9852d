-- One row is an op in a module that leaves blocks of device memory in each step.
-- Requires memory.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_mib_per_step') * 1048576 AS least_bytes
    FROM advice.threshold
    WHERE rule = 'memory_growth'
),
leaking AS (
    SELECT
        profile,
        rank_id,
        nullif(concat_ws('/', nullif(parent_module, ''), module), '') AS path,
        op_name,
        sum(block_count)::BIGINT AS block_count,
        sum(kept_bytes)::BIGINT AS kept_bytes,
        max(step_count) AS step_count,
        sum(bytes_per_step) AS bytes_per_step
    FROM allocation.kept
    WHERE is_leak
    GROUP BY ALL
),
left_over AS (
    SELECT profile, min(left_bytes) AS left_bytes
    FROM across.memory_rank
    GROUP BY profile
)
SELECT
    leaking.profile,
    leaking.rank_id,
    'Device memory grows with each step' AS title,
    leaking.path AS module,
    leaking.op_name AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            '{} blocks that it allocates in {} steps are never released: {}, {} in each step',
            leaking.block_count,
            leaking.step_count,
            shown_bytes(leaking.kept_bytes),
            shown_bytes(leaking.bytes_per_step)
        ),
        if(
            left_over.left_bytes >= 0,
            format(
                '; what is left of the device, {}, lasts for {} more steps',
                shown_bytes(left_over.left_bytes),
                floor(left_over.left_bytes / leaking.bytes_per_step)::BIGINT
            ),
            ''
        )
    ) AS evidence,
    leaking.block_count AS count,
    NULL::BIGINT AS time_ns,
    NULL::BIGINT AS win_ns,
    'hint' AS kind,
    'Look for what keeps these tensors: a list that outputs or losses are appended to (append loss.item() or loss.detach()), '
    || 'a cache without a limit, or a graph that is kept (retain_graph).' AS what_to_do,
    'docs/rules.md#memory-growth' AS doc,
    'SELECT kept_bytes, bytes_per_step, block_count, op_name, module FROM allocation.kept WHERE is_leak '
    || 'ORDER BY kept_bytes DESC LIMIT 20' AS sql
FROM leaking
LEFT JOIN left_over USING (profile)
CROSS JOIN threshold
WHERE leaking.bytes_per_step >= threshold.least_bytes
