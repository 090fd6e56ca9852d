-- One row is a rank on which a few steps take far longer than the others, those at the beginning left out.
-- Requires kernels or reported_steps.
--
-- profile to sql as in advice.finding_of_rank
--
-- Where many steps take longer, steps are of two kinds, and none is an exception.
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
compared AS (
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
    FROM compared
    WHERE is_long AND NOT is_first
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    'A few steps take far longer than the others' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            '{} of {} steps {} longer than the median ({}), step {} most ({}); together {} longer: {} idle, {} computing',
            uneven_count,
            step_count,
            if(uneven_count = 1, 'takes', 'take'),
            shown_time(usual_ns),
            step_id,
            shown_time(usual_ns + most_ns),
            shown_time(excess_ns),
            signed_time(idle_ns),
            signed_time(computing_ns)
        ),
        if(uncovered_ns IS NULL, '', format(', {} communication not covered', signed_time(uncovered_ns)))
    ) AS evidence,
    uneven_count AS count,
    excess_ns AS time_ns,
    excess_ns AS win_ns,
    'upper bound' AS kind,
    'Look at what only these steps do: saving a checkpoint, logging, evaluation, garbage collection, new shapes; what need '
    || 'not be done in a step can be done less often or beside it. The largest difference says where to look.' AS what_to_do,
    'docs/rules.md#uneven-steps' AS doc,
    'SELECT duration_ns, step_id, computing_ns, idle_ns, rank_id FROM step.duration ORDER BY duration_ns DESC LIMIT 20' AS sql
FROM uneven
CROSS JOIN threshold
WHERE step_count >= least_step_count AND uneven_count <= most_uneven_share * step_count
