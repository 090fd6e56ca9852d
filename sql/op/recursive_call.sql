-- One row is an op that lies in one of the same name and input shapes on its thread. Sums of total times leave it out, since
-- the outer one has its time.
--
-- @guard op.recursive_name
--
-- op_id  BIGINT  an op of trace.op
WITH reached AS (
    SELECT
        op.op_id,
        op.start_ns,
        op.end_ns,
        max(op.end_ns) OVER before AS reached_ns
    FROM trace.op
    SEMI JOIN op.recursive_name USING (name_id)
    WINDOW before AS (
        PARTITION BY op.tid, op.name_id, op.input_shapes_id
        ORDER BY op.start_ns, op.end_ns DESC, op.op_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT op_id
FROM reached
WHERE covers(reached_ns, start_ns, end_ns)
