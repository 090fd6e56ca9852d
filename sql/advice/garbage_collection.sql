-- One row is a rank on which Python's garbage collector stops the host while the device is idle, or may do so where collections
-- are not recorded.
-- Requires kernels, ops.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_gap_count') AS least_gap_count,
        max(value) FILTER (name = 'least_unrecorded_ns') AS least_unrecorded_ns
    FROM advice.threshold
    WHERE rule = 'garbage_collection'
),
collecting AS (
    SELECT profile, rank_id, true AS is_recorded, sum(gap_count)::BIGINT AS gap_count, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    WHERE work = 'collect garbage'
    GROUP BY profile, rank_id
    UNION ALL
    SELECT profile, rank_id, false, sum(gap_count)::BIGINT, sum(total_ns)::BIGINT
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE work = 'between ops'
        AND decade_ns >= threshold.least_unrecorded_ns
        AND profile IN (SELECT profile FROM free.unknown_cause WHERE cause = 'garbage collection')
    GROUP BY profile, rank_id
),
idle AS (
    SELECT profile, sum(total_ns) AS total_ns
    FROM free.cause_of_op
    GROUP BY profile
)
SELECT
    collecting.profile,
    collecting.rank_id,
    if(
        is_recorded,
        'Garbage collection stops the host',
        'Garbage collection may stop the host: collections are not recorded'
    ) AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    if(
        is_recorded,
        format(
            'In {} the device is idle for {} while Python collects garbage: {} of its idle time',
            shown_gaps(gap_count),
            shown_time(collecting.total_ns),
            shown_share(collecting.total_ns / idle.total_ns)
        ),
        format(
            'In {} nothing is recorded on the host for {}, {} or more at a time, as in collections of a large program',
            shown_gaps(gap_count),
            shown_time(collecting.total_ns),
            shown_time(threshold.least_unrecorded_ns)
        )
    ) AS evidence,
    gap_count AS count,
    collecting.total_ns AS time_ns,
    if(is_recorded, collecting.total_ns, NULL) AS win_ns,
    if(is_recorded, 'exact cause', 'hint') AS kind,
    if(
        is_recorded,
        'Call gc.freeze() after start-up and gc.disable(), or collect between steps alone with gc.collect(); raise '
        || 'gc.set_threshold() where memory allows.',
        'Record collections (on NPUs gc_detect_threshold), or run once with gc.disable() and compare.'
    ) AS what_to_do,
    'docs/rules.md#garbage-collection' AS doc,
    if(
        is_recorded,
        'SELECT total_ns, gap_count, rank_id FROM free.cause_of_op WHERE work = ''collect garbage'' '
        || 'ORDER BY total_ns DESC LIMIT 50',
        'SELECT cause_ns, duration_ns, kernel_after, rank_id FROM free.longest_gap WHERE cause = ''nothing recorded'' '
        || 'ORDER BY cause_ns DESC LIMIT 50'
    ) AS sql
FROM collecting
JOIN idle USING (profile)
CROSS JOIN threshold
WHERE gap_count >= least_gap_count
