-- One row is an occasion on which msServiceProfiler recorded how full the KV cache is, with the blocks in use.
--
-- occasion           VARCHAR  batch: when a batch was formed; change: when blocks were taken or given back
-- value_count        BIGINT   how often the blocks in use were recorded
-- block_count        BIGINT   blocks of the KV cache, the most that were recorded
-- median_used_count  BIGINT   median of the blocks in use
-- p99_used_count     BIGINT   blocks that 99 % of the values do not exceed
-- max_used_count     BIGINT   the most
-- median_share       DOUBLE   median_used_count / block_count; NULL when that is 0
-- max_share          DOUBLE   max_used_count / block_count; NULL when that is 0
WITH value AS (
    SELECT 'batch' AS occasion, block_count, used_block_count
    FROM across.service_batch
    UNION ALL
    SELECT 'change', (record ->> '$.block_count')::BIGINT, (record ->> '$.used_block_count')::BIGINT
    FROM (SELECT unnest(getvariable('requests')::VARCHAR[]) AS record)
    WHERE record ->> '$.kind' = 'cache'
)
SELECT
    occasion,
    count(*) AS value_count,
    max(block_count) AS block_count,
    quantile_disc(used_block_count, 0.5) AS median_used_count,
    quantile_disc(used_block_count, 0.99) AS p99_used_count,
    max(used_block_count) AS max_used_count,
    median_used_count / nullif(max(block_count), 0) AS median_share,
    max_used_count / nullif(max(block_count), 0) AS max_share
FROM value
WHERE block_count IS NOT NULL AND used_block_count IS NOT NULL
GROUP BY occasion
ORDER BY occasion
