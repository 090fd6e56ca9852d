-- One row is a time on a thread of the host: an op, a range, a call into the software of the device, a run of Python's garbage
-- collector, or, with the option python_frames, a call of a Python function; or a mark, which takes no time. With a step
-- chosen, only those that begin in it.
--
-- slice_id   BIGINT   number in the order of threads and times, outer ones first
-- kind       ENUM('range', 'frame', 'op', 'call', 'collection', 'mark')  what it is
-- item_id    BIGINT   its id in trace.range, trace.frame, trace.op, trace.host_api or trace.mark; NULL for a collection
-- tid        BIGINT   host thread: process id * 2^32 + thread id
-- name_id    TEXT_ID  name; NULL when the profile lost its text, and for a collection
-- start_ns   BIGINT   start, Unix ns, by the clock of the host
-- end_ns     BIGINT   end, Unix ns
-- launch_id  BIGINT   of a call, the launch id of the kernels that it launched; NULL when not recorded, and for others
WITH recorded_slice AS (
    SELECT 'range' AS kind, range_id AS item_id, tid, name_id, start_ns, end_ns
    FROM trace.range
    UNION ALL BY NAME
    SELECT 'frame' AS kind, frame_id AS item_id, tid, name_id, start_ns, end_ns
    FROM timeline.python_frame
    UNION ALL BY NAME
    SELECT 'op' AS kind, op_id AS item_id, tid, name_id, start_ns, end_ns
    FROM trace.op
    UNION ALL BY NAME
    SELECT 'call' AS kind, host_api_id AS item_id, tid, name_id, start_ns, end_ns, launch_id
    FROM trace.host_api
    UNION ALL BY NAME
    SELECT 'collection' AS kind, tid, start_ns, end_ns
    FROM trace.gc
    UNION ALL BY NAME
    SELECT 'mark' AS kind, mark_id AS item_id, tid, message_id AS name_id, start_ns, start_ns AS end_ns
    FROM trace.mark
),
chosen_step AS (
    SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM step.period
    WHERE step_id = getvariable('step_id')
),
-- Of what begins and ends together, the kind says what is around what.
slice_in_order AS (
    SELECT
        recorded.kind::ENUM('range', 'frame', 'op', 'call', 'collection', 'mark') AS kind,
        recorded.item_id,
        recorded.tid,
        recorded.name_id,
        recorded.start_ns,
        recorded.end_ns,
        recorded.launch_id
    FROM recorded_slice AS recorded
    CROSS JOIN chosen_step AS step
    WHERE getvariable('step_id') IS NULL OR (recorded.start_ns >= step.start_ns AND recorded.start_ns < step.end_ns)
    ORDER BY recorded.tid, recorded.start_ns, recorded.end_ns DESC, kind, recorded.item_id
)
SELECT row_number() OVER () AS slice_id, kind, item_id, tid, name_id, start_ns, end_ns, launch_id
FROM slice_in_order
