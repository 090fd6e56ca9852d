-- One row is a batch that msServiceProfiler recorded, in the order of its batch.csv, which --requests gives: the model over the
-- requests of a batch, or the work of the scheduler on it.
--
-- batch_id          BIGINT   number of the batch, from 1
-- name              VARCHAR  modelExec (the model runs), specDecoding (it drafts) or batchFrameworkProcessing (it is formed)
-- stream            VARCHAR  the process that recorded it (prof_id); NULL when not recorded
-- phase             VARCHAR  prefill or decode, as recorded; NULL when not recorded
-- request_count     BIGINT   requests; NULL when not recorded
-- token_count       BIGINT   tokens that are computed; NULL when not recorded
-- block_count       BIGINT   blocks of the KV cache; NULL when not recorded
-- used_block_count  BIGINT   blocks in use; NULL when not recorded
-- start_ns          BIGINT   start, Unix ns, to 1 us or 1 ms
-- end_ns            BIGINT   end, Unix ns
-- duration_ns       BIGINT   end - start
-- requests          VARCHAR  its requests as JSON
WITH text AS (
    SELECT unnest(given) AS record, generate_subscripts(given, 1) AS record_id
    FROM (SELECT getvariable('requests')::VARCHAR[] AS given)
)
SELECT
    row_number() OVER (ORDER BY record_id) AS batch_id,
    record ->> '$.name' AS name,
    record ->> '$.stream' AS stream,
    record ->> '$.phase' AS phase,
    (record ->> '$.request_count')::BIGINT AS request_count,
    (record ->> '$.token_count')::BIGINT AS token_count,
    (record ->> '$.block_count')::BIGINT AS block_count,
    (record ->> '$.used_block_count')::BIGINT AS used_block_count,
    (record ->> '$.start_ns')::BIGINT AS start_ns,
    (record ->> '$.end_ns')::BIGINT AS end_ns,
    (record ->> '$.end_ns')::BIGINT - (record ->> '$.start_ns')::BIGINT AS duration_ns,
    (record -> '$.requests')::VARCHAR AS requests
FROM text
WHERE record ->> '$.kind' = 'batch'
ORDER BY batch_id
