-- One row is a backward op whose sequence number does not decide its forward op: the profile lacks the number or the forward
-- thread, or several threads with one id had the number.
--
-- op_id  BIGINT  an op of trace.op; where no forward thread is recorded, this includes forward ops
SELECT op.op_id
FROM trace.op
LEFT JOIN trace.string ON string.text_id = op.name_id
WHERE op.forward_thread_id > 0 AND op.sequence_number IS NULL AND NOT contains(coalesce(string.text, ''), 'AccumulateGrad')
UNION ALL
SELECT op_id
FROM trace.op
WHERE forward_thread_id IS NULL AND sequence_number IS NOT NULL
UNION ALL
SELECT op_id
FROM module.doubtful_pair
