-- One row is a figure that the profiler itself worked out of its steps (step_trace_time.csv, analysis.db), all steps together.
-- One that a step lacks has no row.
--
-- kind         VARCHAR  what it is the time of: computing or communication
-- file         VARCHAR  the file that says so
-- step_count   BIGINT   steps in it
-- recorded_ns  BIGINT   what it says of them, ns
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
