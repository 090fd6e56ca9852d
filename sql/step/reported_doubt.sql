-- One row is a time of communication that the profiler itself reported, and that differs from the time of the operators.
--
-- @guard step.reported_comparison
--
-- recorded_ns  BIGINT  the time that the file reports, ns
SELECT recorded_ns
FROM step.reported_comparison
WHERE kind = 'communication' AND NOT is_equal
