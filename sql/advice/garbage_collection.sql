-- One row is a rank on which Python's garbage collector stops the host while the device is idle.
-- Requires kernels, ops.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_gap_count') AS least_gap_count
    FROM advice.threshold
    WHERE rule = 'garbage_collection'
),
collecting AS (
    SELECT
        profile,
        rank_id,
        sum(gap_count) FILTER (cause = 'garbage collection')::BIGINT AS gap_count,
        sum(total_ns) FILTER (cause = 'garbage collection')::BIGINT AS total_ns,
        sum(total_ns)::BIGINT AS idle_ns
    FROM free.cause
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    'Garbage collection stops the host while the device is idle' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'Python collects garbage in {} gaps of the device, for {}: {} of its idle time',
        gap_count,
        shown_time(total_ns),
        shown_share(total_ns / idle_ns)
    ) AS evidence,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    'exact cause' AS kind,
    'Call gc.freeze() after start-up and gc.disable(), or collect between steps alone with gc.collect(); raise '
    || 'gc.set_threshold() where memory allows.' AS what_to_do,
    'docs/advise.md#garbage-collection' AS doc,
    'FROM free.cause WHERE cause = ''garbage collection''' AS sql
FROM collecting
CROSS JOIN threshold
WHERE gap_count >= least_gap_count
