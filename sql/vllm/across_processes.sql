-- One row is a stage of a phase in all processes of all logs with its number and times, the longest first within a phase.
--
-- phase                  VARCHAR  such as Decode; NULL where lines name none
-- stage                  VARCHAR  such as forward
-- process_count          BIGINT   processes that measured it
-- duration_count         BIGINT   how often it was measured
-- mean_ns                DOUBLE   mean duration, ns
-- p50_ns                 BIGINT   the smallest duration that at least half of all do not exceed, ns
-- p95_ns                 BIGINT   the same for 95 % of all, ns
-- p99_ns                 BIGINT   the same for 99 % of all, ns
-- max_ns                 BIGINT   longest duration, ns
-- first_tenth_mean_ns    DOUBLE   mean of the first tenth, ns, of each process; NULL where in every process there are fewer than 10
-- last_tenth_mean_ns     DOUBLE   mean of the last tenth, ns; NULL where in every process there are fewer than 10
-- last_to_first          DOUBLE   mean of the last tenth / mean of the first: above 1 it became slower; NULL where one is unknown
-- inner_stages           VARCHAR  stages that lie inside this one; NULL where none does
-- inner_mean_ns          DOUBLE   mean time of these together, ns; NULL where none lies inside
-- host_rest_mean_ns      DOUBLE   mean time without these, which is the host's, ns; NULL where none lies inside
-- host_rest_reason       VARCHAR  why host_rest_mean_ns is NULL; NULL where it is not
SELECT * EXCLUDE (level, log_number, process, total_ns)
FROM vllm.by_level
WHERE level = 'all'
ORDER BY phase, total_ns DESC, stage
