-- One row is a request of the benchmark's result that --requests gives, or of msServiceProfiler, in its order. Those without an
-- answer are left out.
--
-- request_id          BIGINT   number of the request among those that were answered, from 1
-- input_token_count   BIGINT   tokens of the prompt; NULL when not recorded
-- output_token_count  BIGINT   tokens of the answer; NULL when not recorded
-- ttft_ns             BIGINT   time to the first token (TTFT), ns
-- e2el_ns             BIGINT   time to the last token, ns; NULL when not recorded
-- tpot_ns             BIGINT   mean time of the tokens behind the first one (TPOT), ns, rounded down; NULL where there are
--                              none, or when not recorded
-- median_itl_ns       BIGINT   median of the times between tokens (ITL), ns; NULL where there are none, or when not recorded
-- max_itl_ns          BIGINT   the longest of them, ns; NULL as median_itl_ns
-- request             VARCHAR  its name on the server; NULL when not recorded
-- start_ns            BIGINT   when it arrived at the server, Unix ns; NULL when not recorded
-- queue_ns            BIGINT   time in queues, in prefill and in decode, ns; NULL when not recorded
WITH answered AS (
    SELECT * REPLACE (if(itl_ns IS NULL, e2el_ns, ttft_ns + coalesce(list_sum(itl_ns), 0))::BIGINT AS e2el_ns)
    FROM across.benchmark_record
    WHERE kind = 'request'
)
SELECT
    row_number() OVER (ORDER BY record_id) AS request_id,
    input_token_count,
    output_token_count,
    ttft_ns,
    e2el_ns,
    if(
        output_token_count > 1 AND e2el_ns >= ttft_ns AND len(itl_ns) IS DISTINCT FROM 0,
        (e2el_ns - ttft_ns) // (output_token_count - 1),
        NULL
    ) AS tpot_ns,
    list_aggregate(itl_ns, 'quantile_disc', 0.5) AS median_itl_ns,
    list_max(itl_ns) AS max_itl_ns,
    request,
    start_ns,
    queue_ns
FROM answered
ORDER BY request_id
