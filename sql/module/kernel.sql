-- One row is a kernel with the op that launched it and the module it belongs to. With a step chosen, only the kernels of that
-- step, as in kernels.step.
--
-- kernel_id         BIGINT   the id, unique in the rank
-- kind              ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernel
-- name_id           TEXT_ID  name of the kernel
-- type_id           TEXT_ID  operator type, such as MatMulV3 or hcom_allReduce_; NULL when it is not known
-- core_id           TEXT_ID  cores it ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- device_id         BIGINT   device; NULL when not recorded
-- stream_id         BIGINT   stream; NULL for communication, whose tasks run on several
-- start_ns          BIGINT   start, Unix ns
-- end_ns            BIGINT   end, Unix ns
-- duration_ns       BIGINT   end - start
-- input_shapes_id   TEXT_ID  input shapes, tensors split by ';'; NULL at Level0
-- input_types_id    TEXT_ID  input data types; NULL at Level0
-- output_shapes_id  TEXT_ID  output shapes; NULL at Level0
-- location          ENUM('inside modules', 'linked to no op', 'outside modules')  'outside modules': an op launched it, but no
--                            module encloses the op
-- reason            VARCHAR  why it is not inside modules: 'outside every module', 'gradient hooks' (work that autograd
--                            does when it accumulates a gradient), 'graph replay', 'no host launch', 'cut at the profile
--                            edge' (its launch is not in the profile, or a module call around it began before the recording or
--                            ended after it), 'launch outside any op'; NULL inside modules
-- link              VARCHAR  how its op is known: recorded, derived, corrected or replayed, as in module.kernel_op; NULL when
--                            no op is known
-- module_by         VARCHAR  how its module is known: 'op' (it is around the op or launch on the host), 'capture' (a recording
--                            of the capture of the replayed graph has it), 'annotation' (the framework noted it), or 'launch'
--                            (it is around the launch of the replayed graph); NULL outside modules
-- op_id             BIGINT   the op that launched it, of trace.op or trace.replayed_op; in a module but outside any op, the
--                            launch, of module.bare_launch; NULL when linked to no op
-- op_name_id        TEXT_ID  name of that op or launch; where a replayed graph was launched in an op, and its own ops are not
--                            known, of that op; NULL when linked to no op
-- op_start_ns       BIGINT   start of that op, Unix ns; NULL when linked to no op
-- op_end_ns         BIGINT   its end, Unix ns; NULL when linked to no op
-- interval_id       BIGINT   the call of module.call it belongs to; NULL outside modules
-- instance_id       BIGINT   the call that it belongs to in the statistic, as in module.call; NULL outside modules
-- path_id           BIGINT   the path of module.path it belongs to; NULL outside modules
-- parent_module     VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules
-- module            VARCHAR  class name of the module, [Backward] before it in the backward; NULL outside modules
WITH gradient AS (
    -- Of all intervals with their kinds, the join takes 0.2 s of CPU more for a million kernels.
    SELECT interval_id
    FROM module.interval
    WHERE kind = 'gradient'
),
-- Ops of replayed graphs, and launches outside any op. Together with all ops, the join takes three times as long.
other_op AS (
    SELECT op_id, name_id, start_ns, end_ns FROM trace.replayed_op
    UNION ALL
    SELECT op_id, name_id, start_ns, end_ns FROM module.bare_launch
),
of_capture AS (
    SELECT interval_id
    FROM module.interval
    WHERE tid < 0
)
SELECT
    kernel.kernel_id,
    kernel.kind,
    kernel.name_id,
    kernel.type_id,
    kernel.core_id,
    kernel.device_id,
    kernel.stream_id,
    kernel.start_ns,
    kernel.end_ns,
    kernel.duration_ns,
    kernel.input_shapes_id,
    kernel.input_types_id,
    kernel.output_shapes_id,
    CASE
        WHEN call.interval_id IS NOT NULL THEN 'inside modules'
        WHEN kernel_op.op_id IS NOT NULL THEN 'outside modules'
        ELSE 'linked to no op'
    END::ENUM('inside modules', 'linked to no op', 'outside modules') AS location,
    CASE
        WHEN call.interval_id IS NOT NULL THEN NULL
        WHEN gradient.interval_id IS NOT NULL THEN 'gradient hooks'
        WHEN unplaced.is_cut OR cut.tid IS NOT NULL THEN 'cut at the profile edge'
        WHEN kernel_op.op_id IS NOT NULL THEN 'outside every module'
        WHEN kernel.model_id IS NOT NULL AND (derived_link.is_on_host IS NOT TRUE OR bare_launch.is_replay) THEN 'graph replay'
        WHEN kernel.launch_id IS NULL THEN 'no host launch'
        WHEN derived_link.is_on_host THEN 'launch outside any op'
        ELSE 'cut at the profile edge'
    END AS reason,
    kernel_op.link,
    CASE
        WHEN call.interval_id IS NULL THEN NULL
        WHEN of_capture.interval_id IS NOT NULL THEN replayed.modules_by::VARCHAR
        WHEN kernel.model_id IS NOT NULL OR bare_launch.is_replay THEN 'launch'
        ELSE 'op'
    END AS module_by,
    coalesce(replayed.op_id, kernel_op.op_id, if(call.interval_id IS NULL, NULL, bare_launch.op_id)) AS op_id,
    coalesce(op.name_id, if(location = 'linked to no op', NULL, other_op.name_id)) AS op_name_id,
    if(location = 'linked to no op', NULL, coalesce(other_op.start_ns, op.start_ns)) AS op_start_ns,
    if(location = 'linked to no op', NULL, coalesce(other_op.end_ns, op.end_ns)) AS op_end_ns,
    call.interval_id,
    call.instance_id,
    path.path_id,
    path.parent_module,
    path.module
FROM trace.kernel
LEFT JOIN module.kernel_op USING (kernel_id)
LEFT JOIN module.bare_launch ON bare_launch.launch_id = kernel.launch_id AND kernel_op.op_id IS NULL
LEFT JOIN trace.replayed_kernel AS replayed ON replayed.kernel_id = kernel.kernel_id
LEFT JOIN trace.op ON op.op_id = kernel_op.op_id
LEFT JOIN other_op ON other_op.op_id = coalesce(replayed.op_id, kernel_op.op_id, bare_launch.op_id)
LEFT JOIN module.op_interval ON op_interval.op_id = coalesce(replayed.op_id, kernel_op.op_id, bare_launch.op_id)
LEFT JOIN of_capture ON of_capture.interval_id = op_interval.interval_id
LEFT JOIN gradient ON gradient.interval_id = op_interval.interval_id
LEFT JOIN module.unplaced_interval AS unplaced ON unplaced.interval_id = op_interval.interval_id
-- All pairs: a thread is cut at its start and at its end at most.
LEFT JOIN module.cut_time AS cut
    ON op_interval.interval_id IS NULL
    AND cut.tid = coalesce(op.tid, bare_launch.tid)
    AND coalesce(op.start_ns, bare_launch.start_ns) >= cut.start_ns
    AND coalesce(op.start_ns, bare_launch.start_ns) < cut.end_ns
LEFT JOIN module.derived_link ON derived_link.launch_id = kernel.launch_id
LEFT JOIN module.call ON call.interval_id = op_interval.interval_id
LEFT JOIN module.path ON path.path_key = call.path_key AND path.is_backward = call.is_backward
WHERE getvariable('step_id') IS NULL OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.in_step)
