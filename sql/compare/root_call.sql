-- One row is a call of the root module where figures are per call: of the outermost modules, the class whose calls took the
-- host the longest. A call lasts until the next one begins, so work between two calls belongs to the first.
--
-- unit_id   BIGINT  number of the call in the order of starts, from 0
-- step_id   BIGINT  the step in which it began; NULL outside steps and without steps
-- start_ns  BIGINT  start on the host, Unix ns; no two are equal
-- end_ns    BIGINT  start of the next call, Unix ns; NULL for the last one
--
-- There are rows where the user chose calls, and where a profile has modules and no steps.
WITH outermost AS (
    SELECT interval.name_id, interval.start_ns, interval.end_ns - interval.start_ns AS duration_ns
    FROM module.call
    JOIN module.interval USING (interval_id)
    WHERE call.parent_range_id IS NULL AND call.interval_id = call.range_id AND NOT call.is_backward
),
root AS (
    SELECT outermost.name_id
    FROM outermost
    LEFT JOIN trace.string ON string.text_id = outermost.name_id
    GROUP BY outermost.name_id, string.text
    ORDER BY sum(outermost.duration_ns) DESC, string.text
    LIMIT 1
),
began AS (
    SELECT DISTINCT start_ns
    FROM outermost
    WHERE name_id IN (SELECT name_id FROM root)
        AND (getvariable('per') = 'call' OR NOT EXISTS (FROM trace.step))
),
in_step AS (
    SELECT began.*, CASE WHEN began.start_ns < period.end_ns THEN period.step_id END AS step_id
    FROM began
    ASOF LEFT JOIN step.period ON began.start_ns >= period.start_ns
)
SELECT
    row_number() OVER (ORDER BY start_ns) - 1 AS unit_id,
    step_id,
    start_ns,
    lead(start_ns) OVER (ORDER BY start_ns) AS end_ns
FROM in_step
WHERE getvariable('step_id') IS NULL OR step_id = getvariable('step_id')
