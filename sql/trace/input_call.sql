-- One row is a stage of an op of the pipeline that feeds the device with data, as MindSpore recorded it (dataset.csv).
--
-- name        VARCHAR  op with its number, such as Map(ID:3)
-- stage       VARCHAR  what it did, such as WorkerProcess or GetFromPreviousOp; NULL when not recorded
-- call_count  BIGINT   how often
-- mean_ns     BIGINT   mean time, ns
SELECT name, stage, call_count, mean_ns
FROM raw.input_call
WHERE name IS NOT NULL AND call_count > 0 AND mean_ns >= 0
