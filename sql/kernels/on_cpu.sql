-- One row is a name and type of kernels that ran on CPUs of the device (AI CPU on Ascend), with the op that launched them and
-- the module it belongs to, the largest total time first. Such kernels are slow; another type of the input often avoids them.
--
-- name_id        TEXT_ID  name of the kernels
-- type_id        TEXT_ID  operator type; NULL when it is not known
-- op_name_id     TEXT_ID  name of the op; NULL when linked to no op
-- parent_module  VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules
-- module         VARCHAR  class name of the module, [Backward] before it in the backward; NULL outside modules
-- kernel_count   BIGINT   kernels
-- total_ns       BIGINT   their time, ns
SELECT
    kernel.name_id,
    kernel.type_id,
    kernel.op_name_id,
    kernel.parent_module,
    kernel.module,
    count(*) AS kernel_count,
    sum(kernel.duration_ns)::BIGINT AS total_ns
FROM module.kernel
JOIN trace.kernel AS device USING (kernel_id)
WHERE device.engine = 'cpu' AND kernel.kind = 'compute'
GROUP BY kernel.name_id, kernel.type_id, kernel.op_name_id, kernel.parent_module, kernel.module
ORDER BY total_ns DESC, kernel.parent_module, kernel.module, kernel.name_id, kernel.type_id, kernel.op_name_id
