-- One row is a rank with its whole steps: how many there are, and how long they take. Without steps, the whole recording counts
-- as one.
--
-- profile      VARCHAR  folder of the rank
-- rank_id      INTEGER  the rank; NULL when not known
-- step_count   BIGINT   steps
-- duration_ns  BIGINT   their time, ns: on the host or on the device, whichever is longer; that on the device is stage_ns and
--                       bubble_ns of step.time
SELECT
    profile,
    rank_id,
    count(*) AS step_count,
    greatest(sum(stage_ns + coalesce(bubble_ns, 0)), sum(host_ns))::BIGINT AS duration_ns
FROM step.time
WHERE stage_ns IS NOT NULL
GROUP BY profile, rank_id
ORDER BY rank_id, profile
