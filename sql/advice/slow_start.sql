-- One row is a rank whose device is slow to start kernels that the host has launched.
-- Requires kernels, ops, host_calls.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_ns') AS least_ns,
        max(value) FILTER (name = 'least_gap_count') AS least_gap_count,
        max(value) FILTER (name = 'least_share') AS least_share
    FROM advice.threshold
    WHERE rule = 'slow_start'
),
starting AS (
    SELECT
        profile,
        rank_id,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns,
        coalesce(sum(total_ns) FILTER (cause = 'waiting for another stream or event'), 0)::BIGINT AS waiting_ns,
        coalesce(sum(total_ns) FILTER (cause = 'unknown after the launch'), 0)::BIGINT AS unknown_ns
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE cause IN ('between queue and device', 'waiting for another stream or event', 'unknown after the launch')
        AND work IS NULL
        AND decade_ns >= threshold.least_ns
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
    )
    || if(starting.waiting_ns = 0, '', format('; {} of it waits for another stream or event', shown_time(starting.waiting_ns)))
    || if(
        starting.unknown_ns = 0,
        '',
        format('; {} of it is no start, and what it waits for is not recorded', shown_time(starting.unknown_ns))
    ) AS evidence,
    starting.gap_count AS count,
    starting.total_ns AS time_ns,
    NULL::BIGINT AS win_ns,
    'hint' AS kind,
    'Record once without hardware counters and memory (on NPUs aic_metrics AiCoreNone, Level0): where the gaps go, they are '
    || 'the cost of recording. Else see in a timeline what runs in them: copies, waiting for events of other streams, tasks '
    || 'that are no kernels.' AS what_to_do,
    'docs/rules.md#slow-start' AS doc,
    'SELECT total_ns, gap_count, cause, rank_id FROM free.cause_of_op WHERE work IS NULL AND cause IN '
    || '(''between queue and device'', ''waiting for another stream or event'', ''unknown after the launch'') '
    || 'ORDER BY total_ns DESC LIMIT 20' AS sql
FROM starting
JOIN across.rank_step USING (profile)
CROSS JOIN threshold
WHERE starting.gap_count >= threshold.least_gap_count * rank_step.step_count
    OR starting.waiting_ns + starting.unknown_ns >= threshold.least_share * rank_step.duration_ns
