-- One row is an op that only records a launch by the op around it: the operator that aten::mm called, such as aclnnMm or
-- MatMul, or the kernel of a custom op. It is not counted by itself, but as a part of that op.
--
-- op_id    BIGINT   an op of trace.op
-- name_id  TEXT_ID  its name
-- call_id  BIGINT   the op around it
--
-- The name of such a record is a single word, without a namespace, under which kernels are launched. It has no op inside, and
-- neither input shapes nor a sequence number, which ops of the dispatcher and functions of autograd have; PyTorch's own record
-- of a collective (record_param_comms) can have shapes. The op around it has one of these, a namespace or the same name: inside
-- a profiler step or a record_function of the user it keeps its own row.
-- Not each such op must launch kernels: a copy between hosts launches none, and where devices share a host, an op launches
-- kernels on one of them only.
WITH single_word AS (
    SELECT text_id AS name_id, text = 'record_param_comms' AS is_of_collective
    FROM trace.string
    WHERE regexp_full_match(text, '\w+')
),
with_namespace AS (
    SELECT text_id AS name_id
    FROM trace.string
    WHERE contains(text, '::')
),
bare AS (
    SELECT op.op_id, op.name_id
    FROM trace.op
    JOIN single_word USING (name_id)
    WHERE single_word.is_of_collective OR (op.input_shapes_id IS NULL AND op.sequence_number IS NULL AND NOT op.is_step)
),
launching AS (
    SELECT DISTINCT bare.name_id
    FROM bare
    SEMI JOIN module.kernel_op USING (op_id)
)
SELECT bare.op_id, bare.name_id, call.op_id AS call_id
FROM bare
SEMI JOIN launching USING (name_id)
ANTI JOIN op.parent AS inside ON inside.parent_id = bare.op_id
JOIN op.parent ON parent.op_id = bare.op_id
JOIN trace.op AS call ON call.op_id = parent.parent_id
LEFT JOIN with_namespace ON with_namespace.name_id = call.name_id
WHERE NOT call.is_step
    AND (
        with_namespace.name_id IS NOT NULL
        OR call.input_shapes_id IS NOT NULL
        OR call.sequence_number IS NOT NULL
        OR call.name_id = bare.name_id
    )
