-- One row is a rank with its whole steps: how many there are, and how long they take. Without steps, the whole recording counts
-- as one, without an idle beginning or end (free.edge).
--
-- profile      VARCHAR  folder of the rank
-- rank_id      INTEGER  the rank; NULL when not known
-- step_count   BIGINT   steps
-- duration_ns  BIGINT   their time, ns: on the host or on the device, whichever is longer; that on the device is stage_ns and
--                       bubble_ns of step.time
WITH edge AS (
    SELECT profile, sum(duration_ns) AS duration_ns
    FROM free.edge
    GROUP BY profile
)
SELECT
    profile,
    rank_id,
    count(*) AS step_count,
    greatest(sum(stage_ns + coalesce(bubble_ns, 0)) - coalesce(max(edge.duration_ns), 0), sum(host_ns))::BIGINT AS duration_ns
FROM step.time
LEFT JOIN edge USING (profile)
WHERE stage_ns IS NOT NULL
GROUP BY profile, rank_id
ORDER BY rank_id, profile
