-- One row is a kernel of module.kernel in the step of timeline.usual_step.
--
-- kernel_id      BIGINT   a kernel of trace.kernel
-- kind           ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernel
-- name_id        TEXT_ID  name of the kernel
-- type_id        TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- @columns device_id to duration_ns as in module.kernel
-- op_name_id     TEXT_ID  the op that launched it; NULL when linked to no op
-- interval_id    BIGINT   the call of module.call it belongs to; NULL outside modules
-- @columns path_id to module as in module.kernel
-- reason         VARCHAR  why it is in no module, as in module.kernel; NULL inside modules
-- input_shapes_id  TEXT_ID  input shapes, tensors split by ';'; NULL at Level0
SELECT
    kernel.kernel_id,
    kernel.kind,
    kernel.name_id,
    kernel.type_id,
    kernel.device_id,
    kernel.stream_id,
    kernel.start_ns,
    kernel.end_ns,
    kernel.duration_ns,
    kernel.op_name_id,
    kernel.interval_id,
    kernel.path_id,
    kernel.parent_module,
    kernel.module,
    kernel.reason,
    kernel.input_shapes_id
FROM module.kernel
LEFT JOIN kernels.step USING (kernel_id)
-- All pairs: there is one usual step.
JOIN timeline.usual_step AS usual ON usual.step_id IS NULL OR usual.step_id = step.step_id
