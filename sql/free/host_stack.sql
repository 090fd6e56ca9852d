-- One row is one of the longest gaps and the ops and Python functions that ran on its host thread at the moment given in
-- free.longest.
--
-- gap_id        BIGINT   a gap of free.longest
-- host_ops      VARCHAR  the framework ops around the moment, outermost first, joined by ' > '; NULL without any; without
--                        profiler steps
-- python_stack  VARCHAR  the Python functions around the moment, outermost first, joined by ' > '; NULL without any, as without
--                        with_stack
WITH moment AS (
    SELECT DISTINCT tid, at_ns
    FROM free.longest
    WHERE at_ns IS NOT NULL
),
-- An op of less than 1 ms starts in the ms of a moment that it contains, or in the ms before: to look at these alone takes
-- 0.1 s of CPU in place of 1.2 at a million kernels.
ms_of_moment AS (
    SELECT DISTINCT at_ns // 1_000_000 - unnest([0, 1]) AS ms
    FROM moment
),
near_op AS (
    SELECT op_id, name_id, tid, start_ns, end_ns
    FROM trace.op
    WHERE NOT is_step AND (end_ns - start_ns >= 1_000_000 OR start_ns // 1_000_000 IN (FROM ms_of_moment))
),
-- The calls that contain a moment: each of them contains the first moment after its start.
held_op AS (
    SELECT op.tid, op.start_ns, op.end_ns, op.op_id AS call_id, coalesce(name.text, '(name lost)') AS name
    FROM near_op AS op
    ASOF JOIN moment ON moment.tid = op.tid AND op.start_ns <= moment.at_ns
    LEFT JOIN trace.string AS name ON name.text_id = op.name_id
    WHERE moment.at_ns < op.end_ns
),
held_frame AS (
    SELECT frame.tid, frame.start_ns, frame.end_ns, frame.frame_id AS call_id, coalesce(name.text, '(name lost)') AS name
    FROM trace.frame
    ASOF JOIN moment ON moment.tid = frame.tid AND frame.start_ns <= moment.at_ns
    LEFT JOIN trace.string AS name ON name.text_id = frame.name_id
    WHERE moment.at_ns < frame.end_ns
),
held_call AS (
    SELECT true AS is_op, * FROM held_op
    UNION ALL
    SELECT false AS is_op, * FROM held_frame
)
SELECT
    longest.gap_id,
    string_agg(held_call.name, ' > ' ORDER BY held_call.start_ns, held_call.end_ns DESC, held_call.call_id)
        FILTER (held_call.is_op) AS host_ops,
    string_agg(held_call.name, ' > ' ORDER BY held_call.start_ns, held_call.end_ns DESC, held_call.call_id)
        FILTER (NOT held_call.is_op) AS python_stack
FROM free.longest
-- All pairs: the longest gaps are 100.
JOIN held_call ON held_call.tid = longest.tid AND held_call.start_ns <= longest.at_ns AND longest.at_ns < held_call.end_ns
GROUP BY longest.gap_id
