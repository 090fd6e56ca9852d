-- One row is the kernels of one name that were launched by ops of one name inside the same ops, as a line of a flame graph. The
-- times of all rows add up to all kernel time of the rank, or of the chosen step; with --filter, to that of the ops that it
-- chooses and of those inside them.
--
-- frames        VARCHAR[]  names from the outermost on: the ops without profiler steps, the op of a replayed graph inside the
--                          one that launched the graph, the kernel. Without an op: 'linked to no op', the reason as in
--                          module.kernel, the kernel. Communication has its type in place of the name of the kernel
-- kernel_count  BIGINT     kernels
-- duration_ns   BIGINT     their time, ns; overlapping kernels count fully
--
-- Only the ops that launched kernels, and those around them, are put into chains; equal chains have one key and are spelled
-- once.
WITH RECURSIVE enclosing AS (
    SELECT parent.op_id, parent.parent_id
    FROM op.parent
    SEMI JOIN module.kernel_op ON kernel_op.host_op_id = parent.op_id
    UNION
    SELECT parent.op_id, parent.parent_id
    FROM enclosing
    JOIN op.parent ON parent.op_id = enclosing.parent_id
),
named_op AS (
    SELECT enclosing.op_id, enclosing.parent_id, op.name_id, op.is_step
    FROM enclosing
    JOIN trace.op USING (op_id)
    UNION ALL
    SELECT replayed_op.op_id, op.op_id, replayed_op.name_id, false
    FROM trace.replayed_op
    LEFT JOIN module.replay USING (launch_id)
    LEFT JOIN trace.op ON op.op_id = replay.op_id
),
-- Each round goes one op further in. A step is no part of a chain: what is inside it has the key of what is around it.
chained AS (
    SELECT
        op_id,
        1::UHUGEINT AS around_key,
        if(is_step, 1::UHUGEINT, path_key(1::UHUGEINT, name_id, 0)) AS key,
        name_id,
        is_step
    FROM named_op
    WHERE parent_id IS NULL
    UNION ALL
    SELECT
        named_op.op_id,
        chained.key,
        if(named_op.is_step, chained.key, path_key(chained.key, named_op.name_id, 0)),
        named_op.name_id,
        named_op.is_step
    FROM chained
    JOIN named_op ON named_op.parent_id = chained.op_id
),
chain AS (
    SELECT key, min(around_key) AS around_key, coalesce(min(string.text), '(name lost)') AS name
    FROM chained
    LEFT JOIN trace.string ON string.text_id = chained.name_id
    WHERE NOT is_step
    GROUP BY key
),
spelled AS (
    SELECT key, [name] AS names
    FROM chain
    WHERE around_key = 1
    UNION ALL
    SELECT chain.key, list_append(spelled.names, chain.name)
    FROM spelled
    JOIN chain ON chain.around_key = spelled.key
),
part AS (
    SELECT
        chained.key,
        if(kernel_op.op_id IS NULL, coalesce(kernel.reason, 'launch outside any op'), NULL) AS reason,
        if(kernel.kind = 'communication', coalesce(kernel.type_id, kernel.name_id), kernel.name_id) AS kernel_name_id,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
    LEFT JOIN module.kernel_op USING (kernel_id)
    LEFT JOIN chained ON chained.op_id = kernel_op.op_id
    GROUP BY ALL
)
SELECT
    list_append(
        coalesce(spelled.names, ['linked to no op', part.reason]), coalesce(kernel_name.text, '(name lost)')
    ) AS frames,
    sum(part.kernel_count)::BIGINT AS kernel_count,
    sum(part.duration_ns)::BIGINT AS duration_ns
FROM part
LEFT JOIN spelled USING (key)
LEFT JOIN trace.string AS kernel_name ON kernel_name.text_id = part.kernel_name_id
WHERE getvariable('filter') IS NULL OR len(list_filter(spelled.names, lambda name: is_chosen(name))) > 0
GROUP BY frames
ORDER BY frames
