-- One row is an environment variable of the run that makes it faster or slower, as the profile records it.
--
-- name    VARCHAR  name, such as ASCEND_LAUNCH_BLOCKING
-- value   VARCHAR  its value; NULL where it was not set
-- effect  ENUM('launches wait', 'logs much', 'keeps few ops', 'fixes the algorithm')  what its value costs: each launch waits
--                  for the device, the runtime writes a line for each call, prepared ops are made anew, collectives do not
--                  choose their algorithm; NULL where it costs nothing
WITH metadata AS (
    SELECT if(json_valid(value), value, '{}')::JSON AS content
    FROM raw.metadata
    WHERE name = 'ENV_VARIABLES'
),
recorded_setting AS (
    SELECT entry.key AS name, nullif(trim(entry.value ->> '$'), '') AS value
    FROM metadata
    CROSS JOIN json_each(metadata.content) AS entry
    WHERE entry.key IN (
        'ASCEND_LAUNCH_BLOCKING',
        'ASCEND_GLOBAL_LOG_LEVEL',
        'ACLNN_CACHE_LIMIT',
        'HOST_CACHE_CAPACITY',
        'PYTORCH_NPU_ALLOC_CONF',
        'TASK_QUEUE_ENABLE',
        'CPU_AFFINITY_CONF',
        'HCCL_ALGO',
        'HCCL_RDMA_TC',
        'HCCL_RDMA_SL'
    )
)
SELECT DISTINCT
    name,
    value,
    CASE
        WHEN name = 'ASCEND_LAUNCH_BLOCKING' AND TRY_CAST(value AS BIGINT) = 1 THEN 'launches wait'
        WHEN name = 'ASCEND_GLOBAL_LOG_LEVEL' AND TRY_CAST(value AS BIGINT) IN (0, 1) THEN 'logs much'
        WHEN name = 'ACLNN_CACHE_LIMIT' AND TRY_CAST(value AS BIGINT) < 10000 THEN 'keeps few ops'
        WHEN name = 'HCCL_ALGO' AND value IS NOT NULL THEN 'fixes the algorithm'
    END::ENUM ('launches wait', 'logs much', 'keeps few ops', 'fixes the algorithm') AS effect
FROM recorded_setting
