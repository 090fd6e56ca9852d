-- One row is an op of the pipeline on the host that feeds the device with data, as MindSpore recorded it
-- (minddata_pipeline_summary_*, minddata_pipeline_raw_*.csv).
--
-- op_id         BIGINT   number of the op; the op nearest to the device has the least
-- name          VARCHAR  name, such as Batch; NULL when not recorded
-- parent_id     BIGINT   the op that takes what it makes; NULL for the last one
-- worker_count  BIGINT   workers; NULL when not recorded
-- queue_size    DOUBLE   places in the queue of what it made; NULL for an op without a queue
-- queue_mean    DOUBLE   mean number of places that were taken; NULL for an op without a queue
-- empty_share   DOUBLE   part of the samples in which the queue was empty; NULL for an op without a queue
-- cpu_share     DOUBLE   time that it used of one core, as a part of the recording; NULL when not recorded
SELECT
    op_id,
    name,
    parent_id,
    worker_count,
    queue_size,
    queue_mean,
    if(empty_percent BETWEEN 0 AND 100, empty_percent / 100, NULL) AS empty_share,
    cpu_percent / 100 AS cpu_share
FROM raw.input_op
WHERE op_id IS NOT NULL
