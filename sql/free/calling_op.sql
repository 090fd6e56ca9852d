-- One row is an op of free.host_part and the name under which its author called it: that of the outermost op around it whose
-- name has the same namespace, as aten::item for aten::_local_scalar_dense. For a record of a launch, such as aclnnMm, that is
-- the op around it first.
--
-- op_id       BIGINT   an op of trace.op
-- name_id     TEXT_ID  the name; NULL when the profile lost its text
-- outer_id    BIGINT   that outermost op, of trace.op
WITH RECURSIVE namespace AS (
    SELECT text_id AS name_id, split_part(text, '::', 1) AS namespace
    FROM trace.string
    WHERE contains(text, '::') AND text_id IN (SELECT name_id FROM trace.op)
),
wanted AS (
    SELECT DISTINCT op_id
    FROM free.host_part
    WHERE op_id IS NOT NULL
),
climb AS (
    SELECT wanted.op_id, coalesce(launch.call_id, wanted.op_id) AS outer_id, 0 AS level
    FROM wanted
    LEFT JOIN op.launch USING (op_id)
    UNION ALL
    SELECT climb.op_id, parent.parent_id, climb.level + 1
    FROM climb
    JOIN op.parent ON parent.op_id = climb.outer_id
    JOIN trace.op AS inner_op ON inner_op.op_id = climb.outer_id
    JOIN trace.op AS outer_op ON outer_op.op_id = parent.parent_id
    JOIN namespace AS inner_space ON inner_space.name_id = inner_op.name_id
    JOIN namespace AS outer_space ON outer_space.name_id = outer_op.name_id
    WHERE inner_space.namespace = outer_space.namespace AND NOT outer_op.is_step
),
outermost AS (
    SELECT op_id, arg_max(outer_id, level) AS outer_id
    FROM climb
    GROUP BY op_id
)
SELECT outermost.op_id, op.name_id, outermost.outer_id
FROM outermost
JOIN trace.op ON op.op_id = outermost.outer_id
