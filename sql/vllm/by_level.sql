-- One row is a stage of a phase, in a process or in all processes of all logs, with its number and times.
--
-- level                  VARCHAR  process or all: scope of the row
-- log_number             BIGINT   the log of raw.log; NULL for all
-- process                VARCHAR  who wrote it; NULL where lines name nobody, and for all
-- phase                  VARCHAR  such as Decode; NULL where lines name none
-- stage                  VARCHAR  such as forward
-- process_count          BIGINT   processes that measured it
-- duration_count         BIGINT   how often it was measured
-- total_ns               HUGEINT  their sum, ns
-- mean_ns                DOUBLE   mean duration, ns
-- p50_ns                 BIGINT   the smallest duration that at least half of all do not exceed, ns
-- p95_ns                 BIGINT   the smallest duration that at least 95 % of all do not exceed, ns
-- p99_ns                 BIGINT   the smallest duration that at least 99 % of all do not exceed, ns
-- max_ns                 BIGINT   longest duration, ns
-- first_tenth_mean_ns    DOUBLE   mean of the first tenth, ns; NULL where there are fewer than 10
-- last_tenth_mean_ns     DOUBLE   mean of the last tenth, ns; NULL where there are fewer than 10
-- last_to_first          DOUBLE   last_tenth_mean_ns / first_tenth_mean_ns: above 1 it became slower; NULL where either is
--                                 unknown
-- inner_stages           VARCHAR  stages inside this one; NULL without any
-- inner_mean_ns          DOUBLE   mean time of these stages together, ns; NULL without any
-- host_rest_mean_ns      DOUBLE   mean time without these stages, which is the host's, ns; NULL without any
-- host_rest_reason       VARCHAR  why host_rest_mean_ns is NULL; NULL where it is not
WITH measured_stage AS (
    SELECT record.*, host_rest.inner_stages, host_rest.host_rest_ns, (log_number, process) AS measured_by
    FROM vllm.record
    LEFT JOIN vllm.host_rest USING (log_number, line_number, record_number, duration_index)
),
at_level AS (
    SELECT 'process' AS level, *
    FROM measured_stage
    UNION ALL
    SELECT 'all', * REPLACE (NULL AS log_number, NULL AS process)
    FROM measured_stage
)
SELECT
    level,
    log_number,
    process,
    phase,
    stage,
    count(DISTINCT measured_by) AS process_count,
    count(*) AS duration_count,
    sum(duration_ns) AS total_ns,
    total_ns / count(*) AS mean_ns,
    quantile_disc(duration_ns, 0.5) AS p50_ns,
    quantile_disc(duration_ns, 0.95) AS p95_ns,
    quantile_disc(duration_ns, 0.99) AS p99_ns,
    max(duration_ns) AS max_ns,
    sum(duration_ns) FILTER (is_first_tenth) / nullif(count(*) FILTER (is_first_tenth), 0) AS first_tenth_mean_ns,
    sum(duration_ns) FILTER (is_last_tenth) / nullif(count(*) FILTER (is_last_tenth), 0) AS last_tenth_mean_ns,
    last_tenth_mean_ns / nullif(first_tenth_mean_ns, 0) AS last_to_first,
    max(inner_stages) AS inner_stages,
    sum(duration_ns - host_rest_ns) / nullif(count(host_rest_ns), 0) AS inner_mean_ns,
    sum(host_rest_ns) / nullif(count(host_rest_ns), 0) AS host_rest_mean_ns,
    if(count(host_rest_ns) = 0, 'no stage lies inside it', NULL) AS host_rest_reason
FROM at_level
GROUP BY level, log_number, process, phase, stage
