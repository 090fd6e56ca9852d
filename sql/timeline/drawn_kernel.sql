-- One row is a kernel in the picture of a step. Kernels that take less than a 400th of the step are one row with others of
-- their kind and lane in the same 400th.
--
-- step_id        BIGINT   the step; NULL for the whole profile
-- device_id      BIGINT   device; NULL when not recorded
-- stream_id      BIGINT   stream; NULL for communication whose tasks run on several
-- group_name_id  TEXT_ID  the group of ranks of a communication operator without a stream; NULL for others, and when not
--                         recorded
-- lane           INTEGER  its lane, as in timeline.kernel
-- kind           ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- name_id        TEXT_ID  name of the kernel, of several that of the longest
-- op_name_id     TEXT_ID  the op that launched it, of several that of the longest with an op; NULL when linked to no op
-- module_path    VARCHAR  path of its module, of several that of the longest in one; NULL outside modules
-- since_ns       BIGINT   start, ns since the step began
-- until_ns       BIGINT   end, ns since the step began
-- duration_ns    BIGINT   time of the kernels, ns
-- row_count      BIGINT   kernels
WITH step AS (
    SELECT step_id, start_ns AS begin_ns, greatest((end_ns - start_ns) // 400, 1) AS slice_ns
    FROM timeline.step
),
kernel AS (
    SELECT
        kernel.* EXCLUDE (step_id),
        step.step_id,
        step.begin_ns,
        if(duration_ns < slice_ns, (start_ns - begin_ns) // slice_ns, -1 - kernel_id) AS slice
    FROM timeline.kernel
    JOIN step ON step.step_id IS NOT DISTINCT FROM kernel.step_id
)
SELECT
    step_id,
    device_id,
    stream_id,
    group_name_id,
    lane,
    kind,
    arg_max(name_id, (duration_ns, -kernel_id)) AS name_id,
    arg_max(op_name_id, (duration_ns, -kernel_id)) AS op_name_id,
    arg_max(path_of_module(parent_module, module), (duration_ns, -kernel_id)) AS module_path,
    min(start_ns) - begin_ns AS since_ns,
    max(end_ns) - begin_ns AS until_ns,
    sum(duration_ns)::BIGINT AS duration_ns,
    count(*) AS row_count
FROM kernel
GROUP BY step_id, begin_ns, device_id, stream_id, group_name_id, lane, kind, slice
ORDER BY step_id, since_ns, until_ns, device_id, stream_id, group_name_id, lane, kind
