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
    SELECT
        profile,
        rank_id,
        step_id,
        stage_ns + coalesce(bubble_ns, 0) AS duration_ns,
        computing_ns,
        communication_not_overlapped_ns,
        free_ns,
        row_number() OVER (PARTITION BY profile ORDER BY step_id) AS place
    FROM step.time
    WHERE step_id IS NOT NULL AND stage_ns IS NOT NULL
),
usual AS (
    SELECT
        profile,
        count(*) AS step_count,
        quantile_disc(duration_ns, 0.5) AS duration_ns,
        quantile_disc(computing_ns, 0.5) AS computing_ns,
        quantile_disc(communication_not_overlapped_ns, 0.5) AS communication_not_overlapped_ns,
        quantile_disc(free_ns, 0.5) AS free_ns
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
        step.communication_not_overlapped_ns - usual.communication_not_overlapped_ns AS communication_ns,
        step.free_ns - usual.free_ns AS free_ns,
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
        sum(communication_ns)::BIGINT AS communication_ns,
        sum(free_ns)::BIGINT AS free_ns
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
            signed_time(free_ns),
            signed_time(computing_ns)
        ),
        if(communication_ns IS NULL, '', format(', {} communication not covered', signed_time(communication_ns)))
    ) AS evidence,
    uneven_count AS count,
    excess_ns AS time_ns,
    excess_ns AS win_ns,
    'upper bound' AS kind,
    'Look at what only these steps do: saving a checkpoint, logging, evaluation, garbage collection, new shapes; what need '
    || 'not be done in a step can be done less often or beside it. The largest difference says where to look.' AS what_to_do,
    'docs/advise.md#uneven-steps' AS doc,
    'SELECT profile, step_id, stage_ns, computing_ns, communication_not_overlapped_ns, free_ns, bubble_ns FROM step.time '
    || 'ORDER BY profile, step_id' AS sql
FROM uneven
CROSS JOIN threshold
WHERE step_count >= least_step_count AND uneven_count <= most_uneven_share * step_count
