-- One row is a stage of a phase in a process with its number and times, in the order of the logs, the longest stage first.
--
-- log                    VARCHAR  the log, as it was given
-- process                VARCHAR  who wrote it, such as IntegratedWorker pid=1502285; NULL where lines name nobody
-- phase                  VARCHAR  such as Decode; NULL where lines name none
-- stage                  VARCHAR  such as forward
-- duration_count         BIGINT   how often it was measured
-- @columns mean_ns to host_rest_reason as in vllm.by_level
SELECT log.log, by_level.* EXCLUDE (level, log_number, process_count, total_ns)
FROM vllm.by_level
JOIN raw.log AS log USING (log_number)
WHERE by_level.level = 'process'
ORDER BY log_number, process, phase, total_ns DESC, stage
