-- One row is a rank whose first recorded steps take longer than those after them: warm-up that the profile holds.
--
-- @title The first recorded steps are unlike the rest
-- @evidence (no last_step_id) step {first_step_id} takes {first_ns}, the {later_count} after {later_ns} on average: {times:.1f}
--     times as long
-- @evidence steps {first_step_id} to {last_step_id} take on average {first_ns}, the {later_count} after {later_ns} on average:
--     {times:.1f} times as long
-- @kind hint
-- @remedy Do not judge the model by these steps: record later ones (skip_first or warmup in the schedule of the profiler), and
--     look at one of the others with --step-id.
-- @query SELECT step_id, duration_ns, computing_ns, idle_ns, rank_id FROM step.duration ORDER BY rank_id, step_id LIMIT 40
-- @counts none
-- @requires kernels | reported_steps
-- @threshold least_excess_share 0.2: Share by more than which the first steps take longer than later ones
-- @threshold least_later_count 2: Steps after them, at least
--
-- @columns profile to rank_id, count as in advice.finding_of_rank
-- first_step_id  BIGINT  the first step
-- last_step_id   BIGINT  the last of the steps that take longer; NULL when it is one
-- first_ns       DOUBLE  mean time of these steps, ns
-- later_count    BIGINT  steps after them
-- later_ns       DOUBLE  mean time of those, ns
-- times          DOUBLE  first_ns / later_ns
--
-- The first recorded steps take over 20 % longer than the median of those after them: the recording includes warm-up
-- (compilation, caches, allocation). A step lasts from the end of the step before it on the device to its own end
-- (step.duration); the first step begins with the end of the work before it, even if that ran beside the step. The finding is a
-- hint: means over all steps are too high, so look at one of the later steps with `--step-id`. At least two steps must follow,
-- and at least as many as the rule leaves out.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_excess_share') AS least_excess_share,
        max(value) FILTER (name = 'least_later_count') AS least_later_count
    FROM advice.threshold
    WHERE rule = 'first_steps'
),
step AS (
    SELECT profile, rank_id, step_id, duration_ns, row_number() OVER (PARTITION BY profile ORDER BY step_id) AS place
    FROM step.duration
),
usual AS (
    SELECT profile, quantile_disc(duration_ns, 0.5) AS usual_ns
    FROM step
    WHERE place > 1
    GROUP BY profile
),
compared_step AS (
    SELECT
        step.*,
        bool_and(step.duration_ns > usual.usual_ns * (1 + threshold.least_excess_share)) OVER up_to AS is_leading
    FROM step
    JOIN usual USING (profile)
    CROSS JOIN threshold
    WINDOW up_to AS (PARTITION BY step.profile ORDER BY step.place ROWS UNBOUNDED PRECEDING)
),
summary AS (
    SELECT
        profile,
        rank_id,
        count(*) FILTER (is_leading) AS first_count,
        min(step_id) FILTER (is_leading) AS first_id,
        max(step_id) FILTER (is_leading) AS last_id,
        mean(duration_ns) FILTER (is_leading) AS first_ns,
        count(*) FILTER (NOT is_leading) AS later_count,
        mean(duration_ns) FILTER (NOT is_leading) AS later_ns
    FROM compared_step
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    first_count AS count,
    first_id AS first_step_id,
    if(first_count = 1, NULL, last_id) AS last_step_id,
    first_ns,
    later_count,
    later_ns,
    first_ns / later_ns AS times
FROM summary
CROSS JOIN threshold
WHERE first_count > 0 AND later_count >= least_later_count AND later_count >= first_count
