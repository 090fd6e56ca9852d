-- One row is an iteration of an engine that its log tells of (enable_logging_iteration_details of vLLM's ObservabilityConfig,
-- also in vLLM-Ascend): a pass of a server, with what it held and how long the engine waited for it.
--
-- log_number             BIGINT   number of the log, in the order in which they were given
-- log                    VARCHAR  the log, as it was given
-- line_number            BIGINT   line in the log, from 1
-- record_number          BIGINT   number of the iteration in the line, from 1: processes that write at once share lines
-- process                VARCHAR  who wrote it, such as EngineCore_DP1 pid=1205; NULL where the line names nobody
-- iteration              BIGINT   its number in the process; NULL when the line cannot be read, as all that follows
-- phase                  VARCHAR  prefill, decode, mixed or dummy, by its requests
-- prefill_request_count  BIGINT   requests in prefill
-- prefill_token_count    BIGINT   their tokens
-- decode_request_count   BIGINT   requests in decode
-- decode_token_count     BIGINT   their tokens
-- duration_ns            BIGINT   time on the host, ns
WITH plain_line AS (
    SELECT
        log_number,
        line_number,
        -- Without the colours of terminals.
        string_split(regexp_replace(line, '\x1b\[[0-9;:?]*[ -/]*[@-~]', '', 'g'), 'Iteration(') AS parts
    FROM raw.stage_line
    WHERE contains(line, 'iteration elapsed time: ')
),
part AS (
    SELECT log_number, line_number, parts, unnest(range(1, len(parts))) AS record_number
    FROM plain_line
),
read AS (
    SELECT
        log_number,
        line_number,
        record_number,
        regexp_extract_all(list_aggregate(parts[:record_number], 'string_agg', ' '), '\(([^()]*\bpid=\d+[^()]*)\)', 1)[-1]
            AS process,
        regexp_extract(
            parts[record_number + 1],
            '^(\d{1,12})\): (\d{1,12}) context requests, (\d{1,12}) context tokens, (\d{1,12}) generation requests, '
            || '(\d{1,12}) generation tokens, '
            || 'iteration elapsed time: (\d{1,12}(?:\.\d{1,9})?) ms(?:.*?( \(dummy\)))?',
            ['iteration', 'c', 'c_tokens', 'g', 'g_tokens', 'ms', 'dummy']
        ) AS field
    FROM part
),
counted AS (
    SELECT
        log_number,
        line_number,
        record_number,
        process,
        TRY_CAST(field.iteration AS BIGINT) AS iteration,
        TRY_CAST(field.c AS BIGINT) AS prefill_request_count,
        TRY_CAST(field.c_tokens AS BIGINT) AS prefill_token_count,
        TRY_CAST(field.g AS BIGINT) AS decode_request_count,
        TRY_CAST(field.g_tokens AS BIGINT) AS decode_token_count,
        field.dummy <> '' AS is_dummy,
        TRY((TRY_CAST(field.ms AS DECIMAL(27, 9)) * 1000000)::BIGINT) AS duration_ns
    FROM read
)
SELECT
    counted.log_number,
    log.log,
    line_number,
    record_number,
    process,
    iteration,
    CASE
        WHEN duration_ns IS NULL THEN NULL
        WHEN is_dummy OR prefill_request_count + decode_request_count = 0 THEN 'dummy'
        WHEN decode_request_count = 0 THEN 'prefill'
        WHEN prefill_request_count = 0 THEN 'decode'
        ELSE 'mixed'
    END AS phase,
    prefill_request_count,
    prefill_token_count,
    decode_request_count,
    decode_token_count,
    duration_ns
FROM counted
JOIN raw.log AS log USING (log_number)
ORDER BY counted.log_number, line_number, record_number
