-- One row is a rank on which a few steps take far longer than the others, those at the beginning left out.
--
-- @title A few steps take far longer than the others
-- @evidence {count} of {step_count} steps {count?takes|take} longer than the median ({usual_ns}), step {longest_step_id} most
--     ({longest_ns}); together {time_ns} longer: {signed_time(idle_ns)} idle, {signed_time(computing_ns)} computing[,
--     {signed_time(uncovered_ns)} communication not covered]
-- @kind upper bound
-- @remedy Look at what only these steps do: saving a checkpoint, logging, evaluation, garbage collection, new shapes; what need
--     not be done in a step can be done less often or beside it. The largest difference says where to look.
-- @query SELECT duration_ns, step_id, computing_ns, idle_ns, rank_id FROM step.duration ORDER BY duration_ns DESC LIMIT 20
-- @counts steps
-- @requires kernels | reported_steps
-- @threshold least_excess_share 0.3: Share by more than which a step takes longer than the median
-- @threshold least_step_count 5: Steps of a rank, at least
-- @threshold most_uneven_share 0.25: Share of the steps that may take longer; if more do, they are of several kinds
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- step_count       BIGINT  steps of the rank
-- usual_ns         BIGINT  the median of their times, ns
-- longest_step_id  BIGINT  the step that takes longest
-- longest_ns       BIGINT  its time, ns
-- idle_ns          BIGINT  the part of time_ns in which the device is idle, ns; below 0 where it is less than in the median
-- computing_ns     BIGINT  the same of computing, ns
-- uncovered_ns     BIGINT  the same of communication that computing does not cover, ns; NULL when not known
--
-- At most a quarter of at least 5 steps take over 30 % longer (step.duration) than the median; steps at the beginning do not
-- count. The evidence splits the difference into idle time, computing and exposed communication. The win is an upper bound: the
-- time beyond the median. The other rules name the cause: garbage collection, data loading, compilation.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_excess_share') AS least_excess_share,
        max(value) FILTER (name = 'least_step_count') AS least_step_count,
        max(value) FILTER (name = 'most_uneven_share') AS most_uneven_share
    FROM advice.threshold
    WHERE rule = 'uneven_steps'
),
step AS (
    SELECT *, row_number() OVER (PARTITION BY profile ORDER BY step_id) AS place
    FROM step.duration
),
usual AS (
    SELECT
        profile,
        count(*) AS step_count,
        quantile_disc(duration_ns, 0.5) AS duration_ns,
        quantile_disc(computing_ns, 0.5) AS computing_ns,
        quantile_disc(uncovered_ns, 0.5) AS uncovered_ns,
        quantile_disc(idle_ns, 0.5) AS idle_ns
    FROM step
    GROUP BY profile
),
compared_step AS (
    SELECT
        step.profile,
        step.rank_id,
        step.step_id,
        usual.step_count,
        usual.duration_ns AS usual_ns,
        step.duration_ns - usual.duration_ns AS excess_ns,
        step.computing_ns - usual.computing_ns AS computing_ns,
        step.uncovered_ns - usual.uncovered_ns AS uncovered_ns,
        step.idle_ns - usual.idle_ns AS idle_ns,
        step.duration_ns > usual.duration_ns * (1 + threshold.least_excess_share) AS is_long,
        bool_and(is_long) OVER (PARTITION BY step.profile ORDER BY step.place ROWS UNBOUNDED PRECEDING) AS is_first
    FROM step
    JOIN usual USING (profile)
    CROSS JOIN threshold
),
uneven AS (
    SELECT
        profile,
        rank_id,
        min(step_count) AS step_count,
        min(usual_ns) AS usual_ns,
        count(*) AS uneven_count,
        arg_max(step_id, (excess_ns, -step_id)) AS step_id,
        max(excess_ns) AS most_ns,
        sum(excess_ns)::BIGINT AS excess_ns,
        sum(computing_ns)::BIGINT AS computing_ns,
        sum(uncovered_ns)::BIGINT AS uncovered_ns,
        sum(idle_ns)::BIGINT AS idle_ns
    FROM compared_step
    WHERE is_long AND NOT is_first
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    uneven_count AS count,
    excess_ns AS time_ns,
    excess_ns AS win_ns,
    step_count,
    usual_ns,
    step_id AS longest_step_id,
    usual_ns + most_ns AS longest_ns,
    idle_ns,
    computing_ns,
    uncovered_ns
FROM uneven
CROSS JOIN threshold
WHERE step_count >= least_step_count AND uneven_count <= most_uneven_share * step_count
