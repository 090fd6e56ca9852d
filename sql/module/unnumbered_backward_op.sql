-- One row is a backward op whose sequence number the profile does not tell.
--
-- op_id  BIGINT  an op of trace.op
SELECT op.op_id
FROM trace.op
LEFT JOIN trace.string ON string.text_id = op.name_id
WHERE op.forward_thread_id > 0 AND op.sequence_number IS NULL AND NOT contains(coalesce(string.text, ''), 'AccumulateGrad')
