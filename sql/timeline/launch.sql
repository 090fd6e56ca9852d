-- One row is a kernel of a timeline whose launch is on it: where the arrow to the kernel comes from.
--
-- kernel_id         BIGINT   a kernel of timeline.kernel
-- arrow_id          BIGINT   number of the arrow, counted from 1
-- tid               BIGINT   host thread where the arrow begins: at the call that launched the kernel; at the op that did where
--                            no such call is recorded, or where the call is on another thread, as that of a task queue
-- lane              INTEGER  lane of timeline.host_lane there, else 0
-- start_ns          BIGINT   start of that call or op, Unix ns, by the clock of the host
-- call_tid          BIGINT   host thread of the call, if the arrow leads from an op of another thread through it; else NULL
-- call_lane         INTEGER  lane of the call then; else NULL
-- call_start_ns     BIGINT   start of the call then, Unix ns, by the clock of the host; else NULL
-- early_ns          BIGINT   by how much the kernel begins before all of that by the recorded times, of which those of the
--                            device are moved by clock.offset, ns: it has no arrow then; else NULL
WITH launch AS (
    SELECT kernel.kernel_id, trace_kernel.launch_id, kernel_op.host_op_id, kernel.start_ns - clock.offset_ns AS kernel_start_ns
    FROM timeline.kernel
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
    JOIN trace.kernel AS trace_kernel USING (kernel_id)
    LEFT JOIN module.kernel_op USING (kernel_id)
),
-- Of several calls of one launch, such as one of the runtime around one of the driver, the outer one.
call AS (
    SELECT
        launch_id,
        arg_min(tid, slice_id) AS tid,
        min(slice_id) AS slice_id,
        arg_min(start_ns, slice_id) AS start_ns
    FROM timeline.host_slice
    WHERE kind = 'call' AND launch_id IN (SELECT launch_id FROM launch)
    GROUP BY launch_id
),
op AS (
    SELECT item_id AS host_op_id, tid, slice_id, start_ns
    FROM timeline.host_slice
    WHERE kind = 'op'
),
end_of_arrow AS (
    SELECT
        launch.kernel_id,
        launch.kernel_start_ns,
        call.tid AS call_tid,
        call.slice_id AS call_slice_id,
        call.start_ns AS call_start_ns,
        op.tid AS op_tid,
        op.slice_id AS op_slice_id,
        op.start_ns AS op_start_ns,
        call.start_ns IS NULL OR (op.tid <> call.tid AND op.start_ns <= call.start_ns) AS is_from_op
    FROM launch
    LEFT JOIN call USING (launch_id)
    LEFT JOIN op USING (host_op_id)
    WHERE call.start_ns IS NOT NULL OR op.start_ns IS NOT NULL
)
SELECT
    arrow.kernel_id,
    row_number() OVER (ORDER BY arrow.kernel_id) AS arrow_id,
    if(arrow.is_from_op, arrow.op_tid, arrow.call_tid) AS tid,
    coalesce(lane.lane, 0)::INTEGER AS lane,
    if(arrow.is_from_op, arrow.op_start_ns, arrow.call_start_ns) AS start_ns,
    if(arrow.is_from_op, arrow.call_tid, NULL) AS call_tid,
    if(arrow.is_from_op AND arrow.call_tid IS NOT NULL, coalesce(call_lane.lane, 0), NULL)::INTEGER AS call_lane,
    if(arrow.is_from_op, arrow.call_start_ns, NULL) AS call_start_ns,
    nullif(greatest(coalesce(arrow.call_start_ns, arrow.op_start_ns) - arrow.kernel_start_ns, 0), 0) AS early_ns
FROM end_of_arrow AS arrow
LEFT JOIN timeline.host_lane AS lane ON lane.slice_id = if(arrow.is_from_op, arrow.op_slice_id, arrow.call_slice_id)
LEFT JOIN timeline.host_lane AS call_lane ON call_lane.slice_id = arrow.call_slice_id
