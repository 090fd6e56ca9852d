-- One row is an op and the op that encloses it on its thread.
--
-- op_id      BIGINT   an op of trace.op
-- parent_id  BIGINT   the innermost op around it; NULL for an outermost one
-- inside_ns  BIGINT   its time within that one, ns; NULL for an outermost one
-- is_beside  BOOLEAN  whether an op before it within the same one has not ended when it starts
--
-- The same search as in module.interval_parent: each op starts with the one before it as candidate, and while the candidate
-- does not enclose it, the candidate's own candidate replaces the candidate. Among the candidates that it leaves behind is the
-- op before it within the same one, or one that ends later.
WITH RECURSIVE reached AS (
    SELECT
        op_id,
        start_ns,
        end_ns,
        lag(op_id) OVER on_thread AS before_id,
        lag(end_ns) OVER on_thread AS before_end_ns,
        max(end_ns) OVER (on_thread ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_ns
    FROM trace.op
    WINDOW on_thread AS (PARTITION BY tid ORDER BY start_ns, end_ns DESC, op_id)
),
search (op_id, start_ns, end_ns, candidate_id, candidate_end_ns, is_beside) USING KEY (op_id) AS (
    SELECT
        op_id,
        start_ns,
        end_ns,
        CASE WHEN covers(reached_ns, start_ns, end_ns) THEN before_id END,
        CASE WHEN covers(reached_ns, start_ns, end_ns) THEN before_end_ns END,
        false
    FROM reached
    UNION
    SELECT
        inside.op_id,
        inside.start_ns,
        inside.end_ns,
        rejected.candidate_id,
        rejected.candidate_end_ns,
        inside.is_beside OR inside.candidate_end_ns > inside.start_ns
    FROM search AS inside
    JOIN recurring.search AS rejected ON rejected.op_id = inside.candidate_id
    WHERE NOT covers(inside.candidate_end_ns, inside.start_ns, inside.end_ns)
)
SELECT
    op_id,
    candidate_id AS parent_id,
    if(candidate_id IS NULL, NULL, least(end_ns, candidate_end_ns) - start_ns) AS inside_ns,
    is_beside AND candidate_id IS NOT NULL AS is_beside
FROM search
