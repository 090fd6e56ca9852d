-- One row is the split of the model over ranks by the training framework; without a row, the profile does not record it.
--
-- tensor_size    BIGINT  ranks of a tensor parallel group; NULL when not recorded
-- context_size   BIGINT  ranks of a context parallel group; NULL when not recorded
-- data_size      BIGINT  ranks of a data parallel group; NULL when not recorded
-- pipeline_size  BIGINT  pipeline stages; NULL when not recorded
-- rank_count     BIGINT  ranks of the job; NULL when not recorded
-- global_rank    BIGINT  global number of the profiled rank; NULL when not recorded
WITH metadata AS (
    SELECT max(if(json_valid(value), value, '{}'))::JSON AS content
    FROM raw.metadata
    WHERE name = 'distributed_args'
    HAVING count(*) > 0
)
SELECT
    TRY_CAST(content ->> '$.tensor_model_parallel_size' AS BIGINT) AS tensor_size,
    TRY_CAST(content ->> '$.context_parallel_size' AS BIGINT) AS context_size,
    TRY_CAST(content ->> '$.data_parallel_size' AS BIGINT) AS data_size,
    TRY_CAST(content ->> '$.pipeline_model_parallel_size' AS BIGINT) AS pipeline_size,
    TRY_CAST(content ->> '$.world_size' AS BIGINT) AS rank_count,
    TRY_CAST(content ->> '$.rank' AS BIGINT) AS global_rank
FROM metadata
