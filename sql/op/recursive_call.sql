-- One row is an op that lies in one of the same name and input shapes on its thread. Sums of total times leave it out, since
-- the outer one has its time.
--
-- @guard op.recursive_name
--
-- op_id  BIGINT  an op of trace.op
WITH op AS (
    SELECT op_id, tid, name_id, input_shapes_id, start_ns, end_ns
    FROM trace.op
    SEMI JOIN op.recursive_name USING (name_id)
)
SELECT op_id
FROM reached_before(op, (tid, name_id, input_shapes_id), op_id)
WHERE covers(reached_ns, start_ns, end_ns)
