-- One row is a module that runs again inside the backward, to save memory.
-- Requires modules.
--
-- profile to sql as in advice.finding_of_rank
WITH left_over AS (
    SELECT profile, min(left_bytes) AS left_bytes, min(memory_bytes) AS memory_bytes
    FROM across.memory_rank
    GROUP BY profile
)
SELECT
    recomputed.profile,
    recomputed.rank_id,
    'A module runs again in the backward' AS title,
    concat_ws('/', nullif(recomputed.parent_module, ''), recomputed.module) AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            '{} calls run again for the backward: {} of compute kernels',
            recomputed.call_count,
            shown_time(recomputed.computing_ns)
        ),
        if(
            recomputed.communication_ns > 0,
            format(', and {} of communication', shown_time(recomputed.communication_ns)),
            ''
        ),
        if(recomputed.idle_ns > 0, format('; right before them the device is idle for {}', shown_time(recomputed.idle_ns)), ''),
        CASE
            WHEN left_over.left_bytes IS NOT NULL
                THEN format(
                    '; at the peak {} of {} are left', shown_bytes(left_over.left_bytes), shown_bytes(left_over.memory_bytes)
                )
            WHEN left_over.profile IS NOT NULL THEN '; the memory of the device is not recorded'
            ELSE '; memory is not recorded (profile_memory=True)'
        END
    ) AS evidence,
    recomputed.call_count AS count,
    recomputed.computing_ns + recomputed.communication_ns + recomputed.idle_ns AS time_ns,
    time_ns AS win_ns,
    'upper bound' AS kind,
    'Where memory allows, checkpoint fewer layers, or only what is cheap to run again for the memory it saves, such as '
    || 'activations and norms (selective recomputation: a context_fn of torch.utils.checkpoint, --recompute-granularity '
    || 'selective of Megatron and MindSpeed).' AS what_to_do,
    'docs/rules.md#recomputation' AS doc,
    'SELECT computing_ns, idle_ns, call_count, module, parent_module FROM module.recomputed '
    || 'ORDER BY computing_ns DESC LIMIT 20' AS sql
FROM module.recomputed
LEFT JOIN left_over USING (profile)
