-- One row is a call of a Python function that the Python tracer recorded, and the call around it on its thread.
--
-- frame_id         BIGINT   a call of trace.frame
-- tid              BIGINT   host thread: process id * 2^32 + thread id
-- name_id          TEXT_ID  its frame: of names that differ in the address of an object alone, the first one; NULL when the
--                           profile lost its text
-- start_ns         BIGINT   start, Unix ns
-- end_ns           BIGINT   end, Unix ns
-- parent_id        BIGINT   the innermost call around it; NULL for an outermost one
-- is_last_started  BOOLEAN  whether it is the last one, in the order (start, longest first), of those that start when it starts
--
-- Calls of modules are left out: they are no place in a file, and the function that each of them runs is a call of its own.
-- Where the profile records stacks with ops, there are no rows.
WITH frame_name AS (
    SELECT text_id, min(text_id) OVER (PARTITION BY frame_without_address(text)) AS name_id
    FROM trace.string
    -- Knows nn.module: PyTorch itself names its rows so, on any device.
    WHERE text_id IN (SELECT name_id FROM trace.frame) AND NOT starts_with(text, 'nn.Module: ')
),
call AS (
    SELECT frame.frame_id, frame.tid, frame_name.name_id, frame.start_ns, frame.end_ns
    FROM trace.frame
    LEFT JOIN frame_name ON frame_name.text_id = frame.name_id
    WHERE (frame.name_id IS NULL OR frame_name.name_id IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM trace.op_stack)
),
span AS (
    SELECT frame_id AS span_id, tid, start_ns, end_ns
    FROM call
)
SELECT
    call.*,
    around.parent_id,
    lead(call.start_ns) OVER on_thread IS DISTINCT FROM call.start_ns AS is_last_started
FROM call
JOIN parents(span) AS around ON around.span_id = call.frame_id
WINDOW on_thread AS (PARTITION BY call.tid ORDER BY call.start_ns, call.end_ns DESC, call.frame_id)
