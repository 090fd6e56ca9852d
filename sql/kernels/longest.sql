-- One row is one of the 100 longest kernels, copies or communication operators of the rank, the longest first, and where it is.
-- With a step chosen, only those of that step.
--
-- name_id          TEXT_ID  name of the kernel
-- duration_ns      BIGINT   end - start
-- module           VARCHAR  path of the module, names joined by '/'; NULL outside modules
-- op_name_id       TEXT_ID  the op that launched it; NULL when linked to no op
-- step_id          BIGINT   step; NULL for a kernel of no step, and without steps
-- kind             VARCHAR  compute, communication, copy or schedule
-- type_id          TEXT_ID  operator type; NULL when it is not known
-- start_ns         BIGINT   start, Unix ns
-- stream_id        BIGINT   stream; NULL for communication
-- input_shapes_id  TEXT_ID  input shapes; NULL when not recorded
WITH longest AS (
    SELECT kernel_id, duration_ns
    FROM kernels.selected
    ORDER BY duration_ns DESC, kernel_id
    LIMIT 100
)
SELECT
    device.name_id,
    longest.duration_ns,
    path.module_path AS module,
    kernel.op_name_id,
    kernel_step.step_id,
    device.kind::VARCHAR AS kind,
    device.type_id,
    device.start_ns,
    device.stream_id,
    device.input_shapes_id
FROM longest
JOIN trace.kernel AS device USING (kernel_id)
LEFT JOIN module.kernel USING (kernel_id)
LEFT JOIN module.path USING (path_id)
LEFT JOIN kernels.step AS kernel_step USING (kernel_id)
ORDER BY longest.duration_ns DESC, longest.kernel_id
