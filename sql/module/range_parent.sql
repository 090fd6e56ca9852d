-- One row is a module range and the range that encloses it on its thread.
--
-- range_id   BIGINT  a range of module.range
-- parent_id  BIGINT  the innermost range around it; NULL for an outermost one
--
-- Each range starts with the range before it as candidate. While the candidate does not enclose it, the candidate's own
-- candidate takes its place. Everything in between was rejected by the candidate already and starts no later, so no encloser
-- is missed, also where ranges overlap in part. The plain form, a join on containment, is the oracle in the tests.
WITH RECURSIVE search (range_id, start_ns, end_ns, candidate_id, candidate_end_ns) USING KEY (range_id) AS (
    SELECT range_id, start_ns, end_ns, lag(range_id) OVER on_thread, lag(end_ns) OVER on_thread
    FROM module.range
    WINDOW on_thread AS (PARTITION BY tid ORDER BY range_id)
    UNION
    SELECT inside.range_id, inside.start_ns, inside.end_ns, rejected.candidate_id, rejected.candidate_end_ns
    FROM search AS inside
    JOIN recurring.search AS rejected ON rejected.range_id = inside.candidate_id
    WHERE NOT covers(inside.candidate_end_ns, inside.start_ns, inside.end_ns)
)
SELECT range_id, candidate_id AS parent_id
FROM search
