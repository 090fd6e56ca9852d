-- One row is the rank: the number of steps over which the time of its modules is spread.
--
-- step_count  BIGINT  steps, 1 with a step chosen; NULL when no steps are recorded, or an outermost module began in none
WITH outermost_call AS (
    SELECT interval.start_ns
    FROM module.call
    JOIN module.interval USING (interval_id)
    WHERE call.parent_range_id IS NULL AND NOT call.is_backward
),
of_no_step AS (
    SELECT outermost_call.start_ns
    FROM outermost_call
    ASOF LEFT JOIN step.period ON outermost_call.start_ns >= period.start_ns
    WHERE period.end_ns IS NULL OR outermost_call.start_ns >= period.end_ns
)
SELECT
    CASE
        WHEN getvariable('step_id') IS NOT NULL THEN (SELECT nullif(count(start_ns), 0) FROM step.selected)
        WHEN EXISTS (FROM of_no_step) THEN NULL
        ELSE nullif(count(*), 0)
    END AS step_count
FROM step.period
