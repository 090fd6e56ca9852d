-- One row is a latency of requests of the benchmark that --requests gives, with its distribution and that of the passes behind
-- it: prefill and mixed passes for TTFT, decode passes with the gaps before them for ITL and TPOT. They are those of the steady
-- state, on all ranks.
--
-- latency         VARCHAR  queue (in queues), ttft (to the first token), itl (between two tokens), tpot (mean of itl of a
--                          request) or e2el (to the last token)
-- is_reported     BOOLEAN  whether the figures are those that the benchmark reports, since its result has no single requests
-- value_count     BIGINT   how many values; NULL when reported
-- median_ns       BIGINT   their median, ns; NULL where none is reported
-- p90_ns          BIGINT   time that 90 % of them do not exceed, ns; NULL where none is reported
-- p99_ns          BIGINT   time that 99 % of them do not exceed, ns; NULL where none is reported
-- max_ns          BIGINT   the longest, ns; NULL when reported
-- pass_count      BIGINT   the passes; NULL for queue and e2el
-- pass_median_ns  BIGINT   median of their times, ns; NULL without any
-- pass_p90_ns     BIGINT   time that 90 % of them do not exceed, ns; NULL without any
-- pass_p99_ns     BIGINT   time that 99 % of them do not exceed, ns; NULL without any
WITH value AS (
    SELECT 'ttft' AS latency, ttft_ns AS duration_ns
    FROM across.request
    UNION ALL
    SELECT 'itl', unnest(itl_ns)
    FROM across.benchmark_record
    UNION ALL
    SELECT 'tpot', tpot_ns
    FROM across.request
    WHERE tpot_ns IS NOT NULL
    UNION ALL
    SELECT 'e2el', e2el_ns
    FROM across.request
    WHERE e2el_ns IS NOT NULL
    UNION ALL
    SELECT 'queue', queue_ns
    FROM across.request
    WHERE queue_ns IS NOT NULL
),
distribution AS (
    SELECT
        latency,
        false AS is_reported,
        count(*) AS value_count,
        quantile_disc(duration_ns, 0.5) AS median_ns,
        quantile_disc(duration_ns, 0.9) AS p90_ns,
        quantile_disc(duration_ns, 0.99) AS p99_ns,
        max(duration_ns) AS max_ns
    FROM value
    GROUP BY latency
    UNION ALL
    SELECT latency, true, NULL, median_ns, p90_ns, p99_ns, NULL
    FROM across.benchmark_record
    WHERE kind = 'reported'
),
pass_time AS (
    SELECT phase = 'decode' AS is_decode, if(phase = 'decode', cycle_ns, duration_ns) AS duration_ns
    FROM pass.time
    WHERE is_steady AND phase IN ('prefill', 'mixed', 'decode')
),
pass_distribution AS (
    SELECT
        is_decode,
        count(*) AS pass_count,
        quantile_disc(duration_ns, 0.5) AS pass_median_ns,
        quantile_disc(duration_ns, 0.9) AS pass_p90_ns,
        quantile_disc(duration_ns, 0.99) AS pass_p99_ns
    FROM pass_time
    GROUP BY is_decode
)
SELECT
    distribution.*,
    if(latency IN ('queue', 'e2el'), NULL, coalesce(pass_count, 0)) AS pass_count,
    pass_median_ns,
    pass_p90_ns,
    pass_p99_ns
FROM distribution
LEFT JOIN pass_distribution
    ON pass_distribution.is_decode = (distribution.latency <> 'ttft')
    AND distribution.latency NOT IN ('queue', 'e2el')
ORDER BY list_position(['queue', 'ttft', 'itl', 'tpot', 'e2el'], latency)
