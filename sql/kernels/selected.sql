-- One row is a selected kernel: with a step chosen, each kernel of that step, as in kernels.step; else each kernel.
--
-- kernel_id    BIGINT   a kernel of trace.kernel
-- kind         ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernel
-- name_id      TEXT_ID  name of the kernel
-- type_id      TEXT_ID  operator type, such as MatMulV3 or hcom_allReduce_; NULL when it is not known
-- type_from    ENUM('profile', 'name')  as in trace.kernel
-- core_id      TEXT_ID  cores it ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- duration_ns  BIGINT   end - start
SELECT kernel_id, kind, name_id, type_id, type_from, core_id, duration_ns
FROM trace.kernel
WHERE getvariable('step_id') IS NULL OR kernel_id IN (SELECT kernel_id FROM kernels.in_step)
