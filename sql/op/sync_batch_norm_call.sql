-- One row is a call of an op that normalises a batch over several ranks (SyncBatchNorm), or of its backward; of all steps.
--
-- op_id        BIGINT   an op of trace.op
-- is_backward  BOOLEAN  whether it is the backward
WITH name AS (
    SELECT text_id, ends_with(text, 'Backward') AS is_backward
    FROM trace.string
    WHERE text IN ('SyncBatchNorm', 'SyncBatchNormBackward')
)
SELECT op.op_id, name.is_backward
FROM trace.op
JOIN name ON name.text_id = op.name_id
