-- One row is a time that the profiler itself reported for its steps (step_trace_time.csv, analysis.db), all steps together. A
-- time that one of the steps lacks has no row.
--
-- kind         VARCHAR  what was timed: computing or communication
-- file         VARCHAR  the file that reports the time
-- step_count   BIGINT   steps in it
-- recorded_ns  BIGINT   the time that the file reports for these steps, ns
WITH recorded_figure AS (
    SELECT 'computing' AS kind, file, computing_ns AS time_ns
    FROM trace.reported_step
    UNION ALL
    SELECT 'communication', file, communication_ns
    FROM trace.reported_step
)
SELECT kind, min(file) AS file, count(*) AS step_count, sum(time_ns)::BIGINT AS recorded_ns
FROM recorded_figure
GROUP BY kind
HAVING count(*) = count(time_ns)
