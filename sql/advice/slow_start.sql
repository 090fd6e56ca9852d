-- One row is a rank whose device is slow to start kernels that the host has launched.
-- Requires kernels, ops, host_calls.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_ns') AS least_ns,
        max(value) FILTER (name = 'least_gap_count') AS least_gap_count
    FROM advice.threshold
    WHERE rule = 'slow_start'
),
starting AS (
    SELECT profile, rank_id, sum(gap_count)::BIGINT AS gap_count, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE cause = 'between queue and device' AND work IS NULL AND decade_ns >= threshold.least_ns
    GROUP BY profile, rank_id
)
SELECT
    starting.profile,
    starting.rank_id,
    'The device starts launched kernels late' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'In {} the device is idle for {}, {} at a time, after the host had launched the next kernel',
        shown_gaps(starting.gap_count),
        shown_time(starting.total_ns),
        shown_time(starting.total_ns / starting.gap_count)
    ) AS evidence,
    starting.gap_count AS count,
    starting.total_ns AS time_ns,
    NULL::BIGINT AS win_ns,
    'hint' AS kind,
    'Record once without hardware counters and memory (on NPUs aic_metrics AiCoreNone, Level0): where the gaps go, they are '
    || 'the cost of recording. Else see in a timeline what runs in them: copies, waiting for events of other streams, tasks '
    || 'that are no kernels.' AS what_to_do,
    'docs/advise.md#slow-start' AS doc,
    'SELECT total_ns, gap_count, step_id, rank_id FROM free.cause WHERE cause = ''between queue and device'' '
    || 'ORDER BY total_ns DESC LIMIT 20' AS sql
FROM starting
JOIN across.rank_step USING (profile)
CROSS JOIN threshold
WHERE starting.gap_count >= threshold.least_gap_count * rank_step.step_count
