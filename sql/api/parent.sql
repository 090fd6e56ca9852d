-- One row is a call on the host into the software of the device, and the call that encloses it on its thread.
--
-- host_api_id  BIGINT  a call of trace.host_api
-- parent_id    BIGINT  the innermost call around it; NULL for an outermost one
--
-- The same search as in op.parent: each call starts with the one before it as candidate, and while the candidate does not
-- enclose it, the candidate's own candidate replaces the candidate.
WITH RECURSIVE reached AS (
    SELECT
        host_api_id,
        start_ns,
        end_ns,
        lag(host_api_id) OVER on_thread AS before_id,
        lag(end_ns) OVER on_thread AS before_end_ns,
        max(end_ns) OVER (on_thread ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_ns
    FROM trace.host_api
    WINDOW on_thread AS (PARTITION BY tid ORDER BY start_ns, end_ns DESC, host_api_id)
),
search (host_api_id, start_ns, end_ns, candidate_id, candidate_end_ns) USING KEY (host_api_id) AS (
    SELECT
        host_api_id,
        start_ns,
        end_ns,
        CASE WHEN covers(reached_ns, start_ns, end_ns) THEN before_id END,
        CASE WHEN covers(reached_ns, start_ns, end_ns) THEN before_end_ns END
    FROM reached
    UNION
    SELECT
        inside.host_api_id,
        inside.start_ns,
        inside.end_ns,
        rejected.candidate_id,
        rejected.candidate_end_ns
    FROM search AS inside
    JOIN recurring.search AS rejected ON rejected.host_api_id = inside.candidate_id
    WHERE NOT covers(inside.candidate_end_ns, inside.start_ns, inside.end_ns)
)
SELECT host_api_id, candidate_id AS parent_id
FROM search
