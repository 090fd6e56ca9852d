-- One row is a kernel in the timeline of the device, in the order of time, with its module and op. With a step chosen, only the
-- kernels of that step.
--
-- kernel_id      BIGINT   a kernel of trace.kernel
-- kind           ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernel
-- name_id        TEXT_ID  name of the kernel
-- type_id        TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- device_id      BIGINT   device; NULL when not recorded
-- stream_id      BIGINT   stream; NULL for communication whose tasks run on several
-- group_name_id  TEXT_ID  the group of ranks of a communication operator without a stream; NULL for others, and when not
--                         recorded
-- lane           INTEGER  kernels of one stream, or of one group, that overlap lie in different lanes; 0 is the first
-- start_ns       BIGINT   start, Unix ns
-- end_ns         BIGINT   end, Unix ns
-- duration_ns    BIGINT   end - start
-- step_id        BIGINT   its step, as in kernels.step; NULL outside steps
-- op_name_id     TEXT_ID  the op that launched it; NULL when linked to no op
-- interval_id    BIGINT   the call of module.call it belongs to; NULL outside modules
-- path_id        BIGINT   the path of module.path it belongs to; NULL outside modules
-- parent_module  VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules
-- module         VARCHAR  class name of the module, [Backward] before it in the backward; NULL outside modules
-- reason         VARCHAR  why it is in no module, as in module.kernel; NULL inside modules
-- input_shapes_id  TEXT_ID  input shapes, tensors split by ';'; NULL at Level0
WITH placed_kernel AS (
    SELECT
        kernel.kernel_id,
        kernel.device_id,
        kernel.stream_id,
        if(kernel.stream_id IS NULL, communication.group_name_id, NULL) AS group_name_id,
        kernel.start_ns,
        kernel.end_ns
    FROM module.kernel
    LEFT JOIN trace.communication USING (kernel_id)
),
track AS (
    SELECT *, row_number() OVER () AS track_id
    FROM (SELECT DISTINCT device_id, stream_id, group_name_id FROM placed_kernel) AS found
),
-- The windows over rows that are in order already are streamed, and track and time are one number, which only grows: at a
-- million kernels this table takes 1.3 s of CPU, and with partitions and a group for each kernel 5.3 s.
in_order AS (
    SELECT placed_kernel.kernel_id, track.track_id, placed_kernel.start_ns, placed_kernel.end_ns
    FROM placed_kernel
    JOIN track
        ON track.device_id IS NOT DISTINCT FROM placed_kernel.device_id
        AND track.stream_id IS NOT DISTINCT FROM placed_kernel.stream_id
        AND track.group_name_id IS NOT DISTINCT FROM placed_kernel.group_name_id
    ORDER BY track.track_id, placed_kernel.start_ns, placed_kernel.end_ns, placed_kernel.kernel_id
),
kernel_and_reach AS (
    SELECT *, max(pair_key(track_id, end_ns)) OVER (ROWS UNBOUNDED PRECEDING) AS reached
    FROM in_order
),
-- A stretch is a time in which kernels of one track overlap without a break.
begun_kernel AS (
    SELECT *, coalesce(pair_key(track_id, start_ns) >= lag(reached) OVER (), true) AS begins
    FROM kernel_and_reach
),
numbered_kernel AS (
    SELECT
        *,
        sum(begins::INTEGER) OVER (ROWS UNBOUNDED PRECEDING) AS stretch,
        lead(begins, 1, true) OVER () AS is_last
    FROM begun_kernel
),
overlapping_kernels AS (
    SELECT
        list(kernel_id ORDER BY start_ns, end_ns, kernel_id) AS kernel_ids,
        lanes(list(start_ns ORDER BY start_ns, end_ns, kernel_id), list(end_ns ORDER BY start_ns, end_ns, kernel_id)) AS lanes
    FROM numbered_kernel
    WHERE NOT (begins AND is_last)
    GROUP BY stretch
),
lane AS (
    SELECT unnest(kernel_ids) AS kernel_id, unnest(lanes) AS lane
    FROM overlapping_kernels
)
SELECT
    kernel.kernel_id,
    kernel.kind,
    kernel.name_id,
    kernel.type_id,
    kernel.device_id,
    kernel.stream_id,
    if(kernel.stream_id IS NULL, communication.group_name_id, NULL) AS group_name_id,
    coalesce(lane.lane, 0)::INTEGER AS lane,
    kernel.start_ns,
    kernel.end_ns,
    kernel.duration_ns,
    step.step_id,
    kernel.op_name_id,
    kernel.interval_id,
    kernel.path_id,
    kernel.parent_module,
    kernel.module,
    kernel.reason,
    kernel.input_shapes_id
FROM module.kernel
LEFT JOIN trace.communication USING (kernel_id)
LEFT JOIN lane USING (kernel_id)
LEFT JOIN kernels.step USING (kernel_id)
ORDER BY kernel.start_ns, kernel.end_ns, kernel.kernel_id
