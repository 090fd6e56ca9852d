-- One row is an op directly in a module and the line of user code that called it, with the kernels that it launched there; the
-- largest time first. The times add up to the kernel time inside modules.
--
-- parent_module  VARCHAR  names of the modules around it joined by '/'; '' for an outermost module
-- module         VARCHAR  class name of the module, with [Backward] before it in the backward
-- op_name        VARCHAR  the op, or the launch where it lies in no op; NULL when the profile lost its name
-- source_line    VARCHAR  as in stack.by_op
-- reason         VARCHAR  as in stack.by_op
-- kernel_count   BIGINT   kernels
-- duration_ns    BIGINT   their time, ns; overlapping kernels count fully
WITH part AS (
    SELECT path_id, op_name_id, op_id, count(*) AS kernel_count, sum(duration_ns) AS duration_ns
    FROM module.kernel
    WHERE path_id IS NOT NULL
    GROUP BY path_id, op_name_id, op_id
)
SELECT
    path.parent_module,
    path.module,
    op_name.text AS op_name,
    source_line.source_line,
    CASE
        WHEN stack.op_id IS NULL THEN 'op without stack'
        WHEN source_line.source_line IS NULL THEN 'no user code'
    END AS reason,
    sum(part.kernel_count)::BIGINT AS kernel_count,
    sum(part.duration_ns)::BIGINT AS duration_ns
FROM part
JOIN module.path USING (path_id)
LEFT JOIN stack.op AS stack USING (op_id)
LEFT JOIN stack.source_line ON source_line.stack_id = stack.stack_id
LEFT JOIN trace.string AS op_name ON op_name.text_id = part.op_name_id
GROUP BY ALL
ORDER BY sum(part.duration_ns) DESC, path.parent_module, path.module, op_name, source_line, reason
