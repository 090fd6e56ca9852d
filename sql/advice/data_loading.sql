-- One row is a rank on which the device waits until the host has loaded data.
-- Requires kernels, ops.
--
-- profile to sql as in advice.finding_of_rank
WITH loading AS (
    SELECT
        profile,
        rank_id,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns,
        coalesce(sum(total_ns) FILTER (is_between_steps), 0)::BIGINT AS between_steps_ns
    FROM free.cause_of_op
    WHERE work = 'load data'
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    'The device waits for data loading' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'In {} the device is idle for {} while the host loads data, {} of it between the last kernel of a step and the first '
        || 'of the next',
        shown_gaps(gap_count),
        shown_time(total_ns),
        shown_time(between_steps_ns)
    ) AS evidence,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    'exact cause' AS kind,
    'Raise num_workers and prefetch_factor of the DataLoader, with persistent_workers=True and pin_memory=True; prepare data '
    || 'before training, and keep what the workers do light.' AS what_to_do,
    'docs/rules.md#data-loading' AS doc,
    'SELECT total_ns, gap_count, is_between_steps, rank_id FROM free.cause_of_op WHERE work = ''load data'' '
    || 'ORDER BY total_ns DESC LIMIT 50' AS sql
FROM loading
