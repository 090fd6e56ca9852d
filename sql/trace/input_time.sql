-- One row is a mean time of a batch in the pipeline that feeds the device with data, as MindSpore recorded it
-- (minddata_pipeline_summary_*).
--
-- name     VARCHAR  batch: all of it; pipeline: until the ops have made it; push: until it is in the queue of the device
-- mean_ns  BIGINT   mean time, ns
SELECT name, mean_ns
FROM raw.input_time
WHERE mean_ns > 0
