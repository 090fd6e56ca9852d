-- One row is a rank whose first recorded steps take longer than those after them: warm-up that the profile holds.
-- Requires kernels or reported_steps.
--
-- profile to sql as in advice.finding_of_rank
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
compared AS (
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
    FROM compared
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    'The first recorded steps are unlike the rest' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        '{} {}, the {} after {} on average: {:.1f} times as long',
        if(first_count = 1, format('step {} takes', first_id), format('steps {} to {} take on average', first_id, last_id)),
        shown_time(first_ns),
        later_count,
        shown_time(later_ns),
        first_ns / later_ns
    ) AS evidence,
    first_count AS count,
    NULL::BIGINT AS time_ns,
    NULL::BIGINT AS win_ns,
    'hint' AS kind,
    'Do not judge the model by these steps: record later ones (skip_first or warmup in the schedule of the profiler), and '
    || 'look at one of the others with --step-id.' AS what_to_do,
    'docs/rules.md#first-steps' AS doc,
    'SELECT step_id, duration_ns, computing_ns, idle_ns, rank_id FROM step.duration ORDER BY rank_id, step_id LIMIT 40' AS sql
FROM summary
CROSS JOIN threshold
WHERE first_count > 0 AND later_count >= least_later_count AND later_count >= first_count
