-- One row is a rank with its whole steps: how many there are, and how long they take on the device, as in step.time. Without
-- steps, the whole recording counts as one, without an idle beginning or end (free.edge).
--
-- profile      VARCHAR  folder of the rank
-- rank_id      INTEGER  the rank; NULL when not known
-- step_count   BIGINT   steps
-- duration_ns  BIGINT   their time on the device, ns: step_ns and between_ns
-- step_ns      BIGINT   the part of it in the steps, ns: stage_ns and bubble_ns of step.time, without free.edge
-- between_ns   BIGINT   the part of it between the steps, ns: idle_before_ns of step.time
-- edge_ns      BIGINT   idle beginning or end of a recording without steps, which is no part of these times, ns: free.edge
-- host_ns      BIGINT   time of the steps on the host, ns; NULL when not known
WITH edge AS (
    SELECT profile, sum(duration_ns) AS duration_ns
    FROM free.edge
    GROUP BY profile
),
rank AS (
    SELECT
        profile,
        rank_id,
        count(*) AS step_count,
        coalesce(max(edge.duration_ns), 0) AS edge_ns,
        sum(stage_ns + coalesce(bubble_ns, 0)) - edge_ns AS step_ns,
        coalesce(sum(idle_before_ns), 0) AS between_ns,
        if(count(host_ns) = count(*), sum(host_ns), NULL) AS host_ns
    FROM step.time
    LEFT JOIN edge USING (profile)
    WHERE stage_ns IS NOT NULL
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    step_count,
    (step_ns + between_ns)::BIGINT AS duration_ns,
    step_ns::BIGINT AS step_ns,
    between_ns::BIGINT AS between_ns,
    edge_ns::BIGINT AS edge_ns,
    host_ns::BIGINT AS host_ns
FROM rank
ORDER BY rank_id, profile
