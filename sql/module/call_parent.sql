-- One row is a call interval and the interval that encloses it on its thread.
--
-- call_id    BIGINT  an interval of module.call
-- parent_id  BIGINT  the innermost interval around it; NULL for an outermost one
--
-- The search of module.range_parent, done anew only for threads that have backward runs: the others keep their parents
-- (half of the nesting time of an inference profile).
WITH RECURSIVE run_thread AS (
    SELECT DISTINCT tid
    FROM module.backward_run
),
search (call_id, start_ns, end_ns, candidate_id, candidate_end_ns) USING KEY (call_id) AS (
    SELECT call_id, start_ns, end_ns, lag(call_id) OVER on_thread, lag(end_ns) OVER on_thread
    FROM module.call
    SEMI JOIN run_thread USING (tid)
    WINDOW on_thread AS (PARTITION BY tid ORDER BY call_id)
    UNION
    SELECT inside.call_id, inside.start_ns, inside.end_ns, rejected.candidate_id, rejected.candidate_end_ns
    FROM search AS inside
    JOIN recurring.search AS rejected ON rejected.call_id = inside.candidate_id
    WHERE NOT covers(inside.candidate_end_ns, inside.start_ns, inside.end_ns)
)
SELECT call_id, candidate_id AS parent_id
FROM search
UNION ALL
SELECT call.call_id, parent.call_id AS parent_id
FROM module.call
ANTI JOIN run_thread USING (tid)
JOIN module.range_parent USING (range_id)
LEFT JOIN module.call AS parent ON parent.range_id = range_parent.parent_id AND NOT parent.is_run
