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
--
-- The same search as in op.parent.
WITH RECURSIVE frame_name AS (
    SELECT text_id, min(text_id) OVER (PARTITION BY frame_without_address(text)) AS name_id
    FROM trace.string
    WHERE text_id IN (SELECT name_id FROM trace.frame) AND NOT starts_with(text, 'nn.Module: ')
),
call AS (
    SELECT frame.frame_id, frame.tid, frame_name.name_id, frame.start_ns, frame.end_ns
    FROM trace.frame
    LEFT JOIN frame_name ON frame_name.text_id = frame.name_id
    WHERE (frame.name_id IS NULL OR frame_name.name_id IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM trace.op_stack)
),
reached AS (
    SELECT
        frame_id,
        start_ns,
        end_ns,
        lag(frame_id) OVER on_thread AS before_id,
        lag(end_ns) OVER on_thread AS before_end_ns,
        max(end_ns) OVER (on_thread ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_ns
    FROM call
    WINDOW on_thread AS (PARTITION BY tid ORDER BY start_ns, end_ns DESC, frame_id)
),
search (frame_id, start_ns, end_ns, candidate_id, candidate_end_ns) USING KEY (frame_id) AS (
    SELECT
        frame_id,
        start_ns,
        end_ns,
        CASE WHEN covers(reached_ns, start_ns, end_ns) THEN before_id END,
        CASE WHEN covers(reached_ns, start_ns, end_ns) THEN before_end_ns END
    FROM reached
    UNION
    SELECT inside.frame_id, inside.start_ns, inside.end_ns, rejected.candidate_id, rejected.candidate_end_ns
    FROM search AS inside
    JOIN recurring.search AS rejected ON rejected.frame_id = inside.candidate_id
    WHERE NOT covers(inside.candidate_end_ns, inside.start_ns, inside.end_ns)
)
SELECT
    call.*,
    search.candidate_id AS parent_id,
    lead(call.start_ns) OVER on_thread IS DISTINCT FROM call.start_ns AS is_last_started
FROM call
JOIN search USING (frame_id)
WINDOW on_thread AS (PARTITION BY call.tid ORDER BY call.start_ns, call.end_ns DESC, call.frame_id)
