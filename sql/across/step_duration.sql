-- One row is all whole steps of all ranks: how long they took on the device. A step takes its stage time and its bubble, on
-- each rank that has it.
--
-- step_count        BIGINT  steps; one that several ranks have is one
-- rank_count        BIGINT  ranks with such steps
-- rank_step_count   BIGINT  steps of all ranks, each of which has its time
-- median_ns         BIGINT  median of these times, ns; NULL without steps
-- p95_ns            BIGINT  time that 95 % of them do not exceed, ns; NULL without steps
-- max_ns            BIGINT  the longest, ns; NULL without steps
-- outlier_above_ns  DOUBLE  third quartile + 1.5 x the distance between the first and the third (Tukey's fence), ns; NULL with
--                           fewer than 8 of them
-- outlier_count     BIGINT  of them, those that took longer; NULL with fewer than 8
WITH whole_step AS (
    SELECT profile, step_id, stage_ns + coalesce(bubble_ns, 0) AS duration_ns
    FROM step.time
    WHERE step_id IS NOT NULL AND stage_ns IS NOT NULL
),
summary AS (
    SELECT
        count(DISTINCT step_id) AS step_count,
        count(DISTINCT profile) AS rank_count,
        count(*) AS rank_step_count,
        quantile_disc(duration_ns, 0.25) AS first_quartile_ns,
        quantile_disc(duration_ns, 0.5) AS median_ns,
        quantile_disc(duration_ns, 0.75) AS third_quartile_ns,
        quantile_disc(duration_ns, 0.95) AS p95_ns,
        max(duration_ns) AS max_ns
    FROM whole_step
),
fence AS (
    SELECT
        CASE
            WHEN rank_step_count >= 8 THEN third_quartile_ns + 1.5::DOUBLE * (third_quartile_ns - first_quartile_ns)
        END AS outlier_above_ns
    FROM summary
)
SELECT
    step_count,
    rank_count,
    rank_step_count,
    median_ns,
    p95_ns,
    max_ns,
    outlier_above_ns,
    CASE WHEN outlier_above_ns IS NOT NULL THEN (SELECT count(*) FROM whole_step WHERE duration_ns > outlier_above_ns) END
        AS outlier_count
FROM summary
CROSS JOIN fence
