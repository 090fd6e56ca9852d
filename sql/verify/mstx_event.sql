-- One row is an mstx range that its stream reached, or two marks `..._start` and `..._stop` of a thread, whose times
-- `mstx-stats` has, in the columns of MSTXMarkStats of msprof-analyze. It gives ranges in each other a path as name, over all
-- threads, and numbers those of one name: so events pair by rank, step and time on the host. Time of the framework is that of
-- ops that carry the number of a mark, which has no counterpart here.
--
-- @beside MSTXMarkStats of mstx_sum by rank, step_id, cann_duration_ns
--
-- rank                   INTEGER  rank; -1 when the files name none
-- step_id                BIGINT   the profiler step in which it began; 0 outside steps
-- message                VARCHAR  the message, of marks without `_start`
-- cann_duration_ns       BIGINT   time on the host, ns
-- cann_duration_ratio    DOUBLE   its part of that of all events of the rank, %; 0 when that is 0
-- device_duration_ns     BIGINT   time on the device, ns; of two marks, between the moments at which their stream reached them
-- device_duration_ratio  DOUBLE   its part of that of all events of the rank, %; 0 when that is 0
WITH mark AS (
    SELECT
        profile,
        coalesce(rank_id, -1) AS rank,
        tid,
        coalesce(step_id, 0) AS step_id,
        start_ns,
        device_start_ns,
        mark_id,
        regexp_replace(message, '_(start|stop)$', '') AS name,
        ends_with(message, '_start') AS is_start
    FROM mstx.event
    WHERE kind = 'mark' AND (ends_with(message, '_start') OR ends_with(message, '_stop'))
),
-- The n-th open start belongs to the n-th stop from the inside.
level_of_mark AS (
    SELECT
        *,
        sum(if(is_start, 1, -1)) OVER (PARTITION BY profile, tid, name ORDER BY start_ns, mark_id) + if(is_start, 0, 1) AS level
    FROM mark
),
stop_of_mark AS (
    SELECT
        *,
        lag(is_start) OVER same AS is_after_start,
        lag(step_id) OVER same AS begin_step_id,
        lag(start_ns) OVER same AS begin_ns,
        lag(device_start_ns) OVER same AS device_begin_ns
    FROM level_of_mark
    WINDOW same AS (PARTITION BY profile, tid, name, level ORDER BY start_ns, mark_id)
),
event AS (
    SELECT
        rank,
        begin_step_id AS step_id,
        name AS message,
        start_ns - begin_ns AS cann_duration_ns,
        device_start_ns - device_begin_ns AS device_duration_ns
    FROM stop_of_mark
    WHERE NOT is_start AND is_after_start
    UNION ALL
    SELECT coalesce(rank_id, -1), coalesce(step_id, 0), message, duration_ns, device_duration_ns
    FROM mstx.event
    WHERE kind = 'range' AND device_start_ns IS NOT NULL
)
SELECT
    rank,
    step_id,
    message,
    cann_duration_ns,
    coalesce(cann_duration_ns * 100 / nullif(sum(cann_duration_ns) OVER of_rank, 0), 0) AS cann_duration_ratio,
    device_duration_ns,
    coalesce(device_duration_ns * 100 / nullif(sum(device_duration_ns) OVER of_rank, 0), 0) AS device_duration_ratio
FROM event
WINDOW of_rank AS (PARTITION BY rank)
