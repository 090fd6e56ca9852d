-- One row is a launch and the op that the profile itself recorded for it.
--
-- launch_id  BIGINT  a launch of trace.kernel
-- op_id      BIGINT  the op; where the profile names several for a launch, the innermost one
WITH op_of_launch AS (
    SELECT launch_id, min(op_id) AS op_id, max(op_id) AS last_op_id
    FROM trace.op_link
    GROUP BY launch_id
)
-- Nearly all launches have one op, whose times are not needed: 1 million kernels take 0.1 s of CPU, with the times 0.36 s.
SELECT launch_id, op_id
FROM op_of_launch
WHERE op_id = last_op_id
UNION ALL
SELECT op_link.launch_id, arg_max(op.op_id, (op.start_ns, -op.end_ns, op.op_id)) AS op_id
FROM trace.op_link
SEMI JOIN (SELECT launch_id FROM op_of_launch WHERE op_id < last_op_id) AS several USING (launch_id)
JOIN trace.op USING (op_id)
GROUP BY op_link.launch_id
