-- One row is a rank with its whole steps: how many there are, and how long they take on the device, as in step.time. Without
-- steps, the whole recording counts as one.
--
-- profile      VARCHAR  folder of the rank
-- rank_id      INTEGER  the rank; NULL when not known
-- step_count   BIGINT   steps
-- duration_ns  BIGINT   their time on the device, ns: stage_ns and bubble_ns of step.time, and between_ns
-- step_ns      BIGINT   the part of it in the steps, ns: stage_ns and bubble_ns
-- between_ns   BIGINT   the part of it between the steps, ns: idle_before_ns of step.time
-- host_ns      BIGINT   time of the steps on the host, ns; NULL when not known
SELECT
    profile,
    rank_id,
    count(*) AS step_count,
    (sum(stage_ns + coalesce(bubble_ns, 0)) + coalesce(sum(idle_before_ns), 0))::BIGINT AS duration_ns,
    sum(stage_ns + coalesce(bubble_ns, 0))::BIGINT AS step_ns,
    coalesce(sum(idle_before_ns), 0)::BIGINT AS between_ns,
    if(count(host_ns) = count(*), sum(host_ns), NULL)::BIGINT AS host_ns
FROM step.time
WHERE stage_ns IS NOT NULL
GROUP BY profile, rank_id
ORDER BY rank_id, profile
