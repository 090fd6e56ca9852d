-- One row is one of the 100 longest gaps of the steps, in which the device was idle, the longest first, with what the host did
-- meanwhile.
--
-- step_id           BIGINT   the step in whose time it lies; of several the first; NULL without steps
-- start_ns          BIGINT   start, Unix ns
-- duration_ns       BIGINT   length, ns
-- cause             VARCHAR  the cause of most of its time, as in free.gap_cause; NULL where neither ops nor calls on the host
--                            are recorded, as in a file of kernels alone, unless it is an edge of the recording
-- cause_ns          BIGINT   time of that cause, ns; NULL without one
-- kernel_before_id  TEXT_ID  name of the kernel that ended last before it
-- op_before_id      TEXT_ID  name of the op that launched that kernel; NULL when no op is known
-- kernel_after_id   TEXT_ID  name of the kernel that ended it
-- op_after_id       TEXT_ID  name of the op that launched that kernel; NULL when no op is known
-- host_ops          VARCHAR  framework ops on the thread that requested the next kernel, around the middle of the host's part
--                            of the gap, outermost first, joined by ' > '; NULL without any
-- host_call_id      TEXT_ID  the call into CANN that took most of the gap, on that thread or on the one that launched the
--                            kernel; NULL without one
-- host_call_ns      BIGINT   how long it ran in the gap, ns; NULL without one
-- python_stack      VARCHAR  Python functions around the same moment, outermost first, joined by ' > '; NULL without any, as
--                            without with_stack
WITH kernel_beside AS (
    SELECT DISTINCT unnest([gap.kernel_before_id, gap.kernel_after_id]) AS kernel_id
    FROM free.longest
    JOIN free.gap USING (gap_id)
),
launched_by AS (
    SELECT kernel_op.kernel_id, op.name_id
    FROM module.kernel_op
    SEMI JOIN kernel_beside USING (kernel_id)
    JOIN trace.op USING (op_id)
),
host AS (
    SELECT EXISTS (FROM trace.op) OR EXISTS (FROM trace.host_api) AS is_recorded
)
SELECT
    longest.step_id,
    longest.start_ns,
    longest.end_ns - longest.start_ns AS duration_ns,
    if(host.is_recorded OR longest.cause = 'edge of the recording', longest.cause, NULL) AS cause,
    if(host.is_recorded OR longest.cause = 'edge of the recording', longest.cause_ns, NULL) AS cause_ns,
    kernel_before.name_id AS kernel_before_id,
    op_before.name_id AS op_before_id,
    kernel_after.name_id AS kernel_after_id,
    op_after.name_id AS op_after_id,
    host_stack.host_ops,
    host_call.host_call_id,
    host_call.host_call_ns,
    host_stack.python_stack
FROM free.longest
CROSS JOIN host
JOIN free.gap USING (gap_id)
JOIN trace.kernel AS kernel_before ON kernel_before.kernel_id = gap.kernel_before_id
JOIN trace.kernel AS kernel_after ON kernel_after.kernel_id = gap.kernel_after_id
LEFT JOIN launched_by AS op_before ON op_before.kernel_id = gap.kernel_before_id
LEFT JOIN launched_by AS op_after ON op_after.kernel_id = gap.kernel_after_id
LEFT JOIN free.host_stack USING (gap_id)
LEFT JOIN free.host_call USING (gap_id)
ORDER BY longest.position
