-- One row is a record of the benchmark's result that --requests gives (benchmark_results.py reads it), or of msServiceProfiler:
-- first the run, then its requests that were answered, or figures of all of them where the result has no single ones.
--
-- record_id           BIGINT    number of the record, from 1
-- kind                VARCHAR   run, request or reported
-- run_count           BIGINT    runs in the file, of which the last one counts; NULL but for the run
-- failed_count        BIGINT    requests without an answer; NULL but for the run, or when not known
-- input_token_count   BIGINT    tokens of the prompt; NULL but for a request, or when not recorded
-- output_token_count  BIGINT    tokens of the answer; NULL but for a request, or when not recorded
-- ttft_ns             BIGINT    time to the first token, ns; NULL but for a request
-- itl_ns              BIGINT[]  times between tokens, ns; NULL but for a request, or when not recorded
-- latency             VARCHAR   ttft, itl, tpot or e2el; NULL but for what is reported
-- median_ns           BIGINT    the median that the benchmark reports, ns; NULL where it reports none
-- p90_ns              BIGINT    the p90 that it reports, ns; NULL where it reports none
-- p99_ns              BIGINT    the p99 that it reports, ns; NULL where it reports none
-- origin              VARCHAR   benchmark or msServiceProfiler; NULL but for the run
-- request             VARCHAR   name of the request; NULL but for a request of msServiceProfiler
-- start_ns            BIGINT    when it arrived, Unix ns; NULL as request, or when not recorded
-- e2el_ns             BIGINT    time to its end, ns; NULL as request, or when not recorded
-- queue_ns            BIGINT    time in queues, ns; NULL as request, or when not recorded
WITH text AS (
    SELECT unnest(given) AS record, generate_subscripts(given, 1) AS record_id
    FROM (SELECT getvariable('requests')::VARCHAR[] AS given)
)
SELECT
    record_id,
    record ->> '$.kind' AS kind,
    (record ->> '$.run_count')::BIGINT AS run_count,
    (record ->> '$.failed_count')::BIGINT AS failed_count,
    (record ->> '$.input_token_count')::BIGINT AS input_token_count,
    (record ->> '$.output_token_count')::BIGINT AS output_token_count,
    (record ->> '$.ttft_ns')::BIGINT AS ttft_ns,
    (record ->> '$.itl_ns')::BIGINT[] AS itl_ns,
    record ->> '$.latency' AS latency,
    (record ->> '$.median_ns')::BIGINT AS median_ns,
    (record ->> '$.p90_ns')::BIGINT AS p90_ns,
    (record ->> '$.p99_ns')::BIGINT AS p99_ns,
    record ->> '$.origin' AS origin,
    record ->> '$.request' AS request,
    (record ->> '$.start_ns')::BIGINT AS start_ns,
    (record ->> '$.e2el_ns')::BIGINT AS e2el_ns,
    (record ->> '$.queue_ns')::BIGINT AS queue_ns
FROM text
WHERE record ->> '$.kind' IN ('run', 'request', 'reported')
