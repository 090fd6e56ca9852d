-- One row is an op of free.host_part and the name under which its author called it: that of the outermost op around it whose
-- name has the same namespace, as aten::item for aten::_local_scalar_dense. For a record of a launch, such as aclnnMm, that is
-- the op around it first.
--
-- op_id       BIGINT   an op of trace.op
-- name_id     TEXT_ID  the name; NULL when the profile lost its text
-- outer_id    BIGINT   that outermost op, of trace.op
WITH RECURSIVE namespace AS (
    SELECT text_id AS name_id, dense_rank() OVER (ORDER BY split_part(text, '::', 1)) AS namespace
    FROM trace.string
    WHERE contains(text, '::') AND text_id IN (SELECT name_id FROM trace.op)
),
wanted_moment AS (
    SELECT DISTINCT op_id
    FROM free.host_part
    WHERE op_id IS NOT NULL
),
named_op AS (
    SELECT op.op_id, namespace.namespace
    FROM trace.op
    JOIN namespace USING (name_id)
    WHERE NOT op.is_step
),
-- In one query with the next join, names of equal namespaces are compared with each other, all with all.
inside AS MATERIALIZED (
    SELECT parent.op_id, parent.parent_id, named_op.namespace
    FROM op.parent
    JOIN named_op USING (op_id)
    WHERE parent.parent_id IS NOT NULL
),
edge AS MATERIALIZED (
    SELECT inside.op_id, inside.parent_id
    FROM inside
    JOIN named_op ON named_op.op_id = inside.parent_id AND named_op.namespace = inside.namespace
),
-- From the outermost ones down, so that each op comes once: at a million kernels 1.4 s of CPU, and climbs from all moments 2.5.
outermost AS (
    SELECT edge.op_id, edge.parent_id AS outer_id
    FROM edge
    ANTI JOIN edge AS around ON around.op_id = edge.parent_id
    UNION ALL
    SELECT edge.op_id, outermost.outer_id
    FROM outermost
    JOIN edge ON edge.parent_id = outermost.op_id
),
called AS (
    SELECT wanted_moment.op_id, coalesce(launch.call_id, wanted_moment.op_id) AS call_id
    FROM wanted_moment
    LEFT JOIN op.launch USING (op_id)
)
SELECT called.op_id, op.name_id, op.op_id AS outer_id
FROM called
LEFT JOIN outermost ON outermost.op_id = called.call_id
JOIN trace.op ON op.op_id = coalesce(outermost.outer_id, called.call_id)
