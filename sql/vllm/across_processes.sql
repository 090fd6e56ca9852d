-- One row is a stage of a phase in all processes of all logs with its number and times, the longest first within a phase.
--
-- @columns phase to duration_count as in vllm.by_level
-- @columns mean_ns to max_ns as in vllm.by_level
-- first_tenth_mean_ns    DOUBLE   mean of the first tenth of each process, ns; NULL where every process has fewer than 10
-- last_tenth_mean_ns     DOUBLE   mean of the last tenth of each process, ns; NULL where every process has fewer than 10
-- @columns last_to_first to host_rest_reason as in vllm.by_level
SELECT * EXCLUDE (level, log_number, process, total_ns)
FROM vllm.by_level
WHERE level = 'all'
ORDER BY phase, total_ns DESC, stage
