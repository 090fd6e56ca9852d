-- One row is an op directly in a module and the line of user code that called it, with the kernels that it launched there over
-- all ranks; the largest time first.
--
-- @columns parent_module to reason as in stack.by_module
-- kernel_count  BIGINT  kernels
-- duration_ns   BIGINT  their time, ns; overlapping kernels count fully
-- share         DOUBLE  duration_ns / the time of all kernels of all ranks; NULL when that is 0
WITH total AS (
    SELECT sum(kernel_duration_ns) AS all_ns
    FROM module.coverage
)
SELECT
    parent_module,
    module,
    op_name,
    source_line,
    reason,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(duration_ns)::BIGINT AS duration_ns,
    (sum(duration_ns) / nullif((SELECT all_ns FROM total), 0))::DOUBLE AS share
FROM stack.by_module
GROUP BY parent_module, module, op_name, source_line, reason
ORDER BY sum(duration_ns) DESC, parent_module, module, op_name, source_line, reason
