-- One row is a name and type of kernels that ran on CPUs of the device (AI CPU on Ascend), with the op that launched them and
-- the module it belongs to, over all ranks, the largest total time first; with --filter, only those whose name or type it
-- chooses.
--
-- name           VARCHAR  name of the kernels
-- type           VARCHAR  operator type; NULL when it is not known
-- op_name        VARCHAR  name of the op; NULL when linked to no op
-- parent_module  VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules
-- module         VARCHAR  class name of the module, [Backward] before it in the backward; NULL outside modules
-- kernel_count   BIGINT   kernels
-- total_ns       BIGINT   their time, ns
-- share          DOUBLE   part of the time of all compute kernels of all ranks; NULL when that is 0
WITH compute AS (
    SELECT sum(coalesce(total_ns, duration_ns * kernel_count)) AS total_ns
    FROM kernels.duration
    WHERE kind::VARCHAR = 'compute'
)
SELECT
    on_cpu.name,
    on_cpu.type,
    on_cpu.op_name,
    on_cpu.parent_module,
    on_cpu.module,
    sum(on_cpu.kernel_count)::BIGINT AS kernel_count,
    sum(on_cpu.total_ns)::BIGINT AS total_ns,
    sum(on_cpu.total_ns) / nullif(max(compute.total_ns), 0) AS share
FROM kernels.on_cpu
CROSS JOIN compute
WHERE is_chosen(on_cpu.name) OR is_chosen(on_cpu.type)
GROUP BY on_cpu.name, on_cpu.type, on_cpu.op_name, on_cpu.parent_module, on_cpu.module
ORDER BY total_ns DESC, parent_module, module, name, type, op_name
