-- One row is a rank whose device is idle while the profile does not say what the host did.
-- Requires kernels.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_share') AS least_share,
        max(value) FILTER (name = 'least_mean_ns') AS least_mean_ns
    FROM advice.threshold
    WHERE rule = 'unexplained_idle'
),
idle AS (
    SELECT profile, sum(gap_count)::BIGINT AS gap_count, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause
    WHERE cause = 'launch not recorded'
    GROUP BY profile
),
-- Without a host no gap has a cause; and where others are longer, none of these is among the longest.
longest AS (
    SELECT profile, max(duration_ns) AS duration_ns, arg_max(kernel_after, (duration_ns, -start_ns)) AS kernel_after
    FROM free.longest_gap
    WHERE coalesce(cause = 'launch not recorded', true)
    GROUP BY profile
)
SELECT
    rank_step.profile,
    rank_step.rank_id,
    'The device is idle for reasons not recorded' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'The device is idle for {} before {} kernels whose launch is not recorded, {} of the time',
        shown_time(idle.total_ns),
        idle.gap_count,
        shown_share(idle.total_ns / rank_step.duration_ns)
    )
    || if(
        longest.duration_ns IS NULL,
        '',
        format(
            '; the longest gap has {}, before {}',
            shown_time(longest.duration_ns),
            coalesce(longest.kernel_after, 'a kernel without a name')
        )
    ) AS evidence,
    idle.gap_count AS count,
    idle.total_ns AS time_ns,
    idle.total_ns AS win_ns,
    'upper bound' AS kind,
    'Record the host too (activities=[ProfilerActivity.CPU, ProfilerActivity.NPU], or CUDA on GPUs), keep all files '
    || 'of the profile, and ask again. Many short gaps: the host launches too slowly. Few long ones: it waits, loads data '
    || 'or schedules.' AS what_to_do,
    'docs/rules.md#unexplained-idle' AS doc,
    'SELECT duration_ns, cause_ns, step_id, kernel_before, kernel_after '
    || 'FROM free.longest_gap WHERE coalesce(cause = ''launch not recorded'', true) ORDER BY duration_ns DESC LIMIT 20' AS sql
FROM idle
JOIN across.rank_step AS rank_step ON rank_step.profile = idle.profile
LEFT JOIN longest ON longest.profile = idle.profile
CROSS JOIN threshold
WHERE
    idle.total_ns >= threshold.least_share * rank_step.duration_ns
    AND idle.total_ns >= threshold.least_mean_ns * idle.gap_count
    AND idle.gap_count > 0
