-- One row is a request in a batch that msServiceProfiler recorded.
--
-- batch_id     BIGINT   a batch of across.service_batch
-- request      VARCHAR  name of the request
-- iteration    BIGINT   how many tokens it had before; NULL when not recorded
-- phase        VARCHAR  prefill or decode; NULL when not recorded
-- token_count  BIGINT   its tokens that the batch computes; NULL when not recorded
WITH one AS (
    SELECT batch_id, unnest(requests::JSON[]) AS record
    FROM across.service_batch
)
SELECT
    batch_id,
    record ->> '$.request' AS request,
    (record ->> '$.iteration')::BIGINT AS iteration,
    record ->> '$.phase' AS phase,
    (record ->> '$.token_count')::BIGINT AS token_count
FROM one
ORDER BY batch_id, request
