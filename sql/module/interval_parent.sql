-- One row is an interval and the interval that encloses it on its thread.
--
-- interval_id  BIGINT   an interval of module.interval
-- parent_id    BIGINT   the innermost interval around it; NULL for an outermost one
-- is_crossing  BOOLEAN  whether an interval before it on its thread has not ended when it starts, and ends before it
--
-- Each interval starts with the one before it as candidate. While the candidate does not enclose it, the candidate's own
-- candidate replaces the candidate. Everything in between starts no later and did not enclose the candidate, so no enclosing
-- interval is missed, even where intervals overlap in part. An interval that nothing before it reaches is outermost at once,
-- which spares the tasks of an autograd thread the search. The plain form, a join on containment, is the oracle in the tests.
WITH RECURSIVE reached AS (
    SELECT
        interval_id,
        start_ns,
        end_ns,
        lag(interval_id) OVER on_thread AS before_id,
        lag(end_ns) OVER on_thread AS before_end_ns,
        max(end_ns) OVER (on_thread ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_ns
    FROM module.interval
    WINDOW on_thread AS (PARTITION BY tid ORDER BY interval_id)
),
search (interval_id, start_ns, end_ns, candidate_id, candidate_end_ns, is_crossing) USING KEY (interval_id) AS (
    SELECT
        interval_id,
        start_ns,
        end_ns,
        CASE WHEN covers(reached_ns, start_ns, end_ns) THEN before_id END,
        CASE WHEN covers(reached_ns, start_ns, end_ns) THEN before_end_ns END,
        coalesce(reached_ns > start_ns AND NOT covers(reached_ns, start_ns, end_ns), false)
    FROM reached
    UNION
    SELECT
        inside.interval_id,
        inside.start_ns,
        inside.end_ns,
        rejected.candidate_id,
        rejected.candidate_end_ns,
        inside.is_crossing OR inside.candidate_end_ns > inside.start_ns
    FROM search AS inside
    JOIN recurring.search AS rejected ON rejected.interval_id = inside.candidate_id
    WHERE NOT covers(inside.candidate_end_ns, inside.start_ns, inside.end_ns)
)
SELECT interval_id, candidate_id AS parent_id, is_crossing
FROM search
