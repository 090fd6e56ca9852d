-- One row is a step in which the device is idle before kernels whose launch is not recorded.
--
-- @columns step_id, gap_count to total_ns as in free.cause
SELECT step_id, gap_count, total_ns
FROM free.cause
WHERE cause = 'launch not recorded'
ORDER BY step_id NULLS LAST
