-- One row is a stage of a phase in a process with its number and times, in the order of the logs, the longest stage first.
--
-- log                    VARCHAR  the log, as it was given
-- process                VARCHAR  who wrote it, as in IntegratedWorker pid=1502285; NULL where lines name nobody
-- phase                  VARCHAR  such as Decode; NULL where lines name none
-- stage                  VARCHAR  such as forward
-- duration_count         BIGINT   how often it was measured
-- mean_ns                DOUBLE   mean duration, ns
-- p50_ns                 BIGINT   the smallest duration that at least half of all do not exceed, ns
-- p95_ns                 BIGINT   the same for 95 % of all, ns
-- p99_ns                 BIGINT   the same for 99 % of all, ns
-- max_ns                 BIGINT   longest duration, ns
-- first_tenth_mean_ns    DOUBLE   mean of the first tenth, ns; NULL where there are fewer than 10
-- last_tenth_mean_ns     DOUBLE   mean of the last tenth, ns; NULL where there are fewer than 10
-- last_to_first          DOUBLE   mean of the last tenth / mean of the first: above 1 it became slower; NULL where one is unknown
-- inner_stages           VARCHAR  stages that lie inside this one; NULL where none does
-- inner_mean_ns          DOUBLE   mean time of these together, ns; NULL where none lies inside
-- host_rest_mean_ns      DOUBLE   mean time without these, which is the host's, ns; NULL where none lies inside
-- host_rest_reason       VARCHAR  why host_rest_mean_ns is NULL; NULL where it is not
SELECT log.log, by_level.* EXCLUDE (level, log_number, process_count, total_ns)
FROM vllm.by_level
JOIN raw.log AS log USING (log_number)
WHERE by_level.level = 'process'
ORDER BY log_number, process, phase, total_ns DESC, stage
