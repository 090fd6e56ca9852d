-- One row is a period of time on the host and the profiler step that it belongs to: of steps that overlap, the one that began
-- last; of steps that began at the same moment, the longest. All analyses use these periods: work belongs to the step in whose
-- period it starts.
--
-- step_id   BIGINT  a step of trace.step
-- start_ns  BIGINT  start, Unix ns; no two are equal
-- end_ns    BIGINT  end (exclusive), Unix ns; no later than the next start
WITH step_begin AS (
    SELECT start_ns, max(end_ns) AS end_ns, arg_max(step_id, (end_ns, step_id)) AS step_id
    FROM trace.step
    WHERE end_ns > start_ns
    GROUP BY start_ns
)
SELECT step_id, start_ns, least(end_ns, lead(start_ns, 1, end_ns) OVER (ORDER BY start_ns)) AS end_ns
FROM step_begin
