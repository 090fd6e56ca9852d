-- One row is the rank with most work among those that share experts, and a module whose grouped matmuls take unevenly long.
-- Requires compute.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_imbalance') AS least_imbalance
    FROM advice.threshold
    WHERE rule = 'expert_imbalance'
),
in_step AS (
    FROM across.expert_call
    WHERE rank_count > 1
      AND (step_id IS NOT NULL OR NOT EXISTS (FROM across.expert_call WHERE step_id IS NOT NULL))
),
spread AS (
    SELECT
        expert_group,
        module,
        count(*) AS call_count,
        max(rank_count) AS rank_count,
        sum(mean_ns)::BIGINT AS mean_ns,
        sum(cost_ns)::BIGINT AS cost_ns,
        sum(wait_ns)::BIGINT AS wait_ns,
        sum(max_rows) / nullif(sum(mean_rows), 0) AS row_imbalance
    FROM in_step
    GROUP BY expert_group, module
),
busiest AS (
    SELECT expert_group, profile, rank_id, time_imbalance
    FROM across.expert_rank
    QUALIFY row_number() OVER (PARTITION BY expert_group ORDER BY duration_ns DESC, rank_id, profile) = 1
)
SELECT
    busiest.profile,
    busiest.rank_id,
    'Experts load the ranks unevenly' AS title,
    spread.module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            'in {} grouped matmuls the slowest of {} ranks takes {} more than the mean of {}; in all, this rank takes '
            || '{:.2f} times the mean',
            call_count,
            rank_count,
            shown_time(cost_ns),
            shown_time(mean_ns),
            time_imbalance
        ),
        CASE
            WHEN row_imbalance IS NULL THEN ''
            WHEN row_imbalance < 1.005 THEN '; all have as many rows, so it is not the routing'
            ELSE format('; the one with most rows has {:.2f} times the mean', row_imbalance)
        END,
        if(wait_ns IS NULL, '', format('; in the collectives after them ranks wait {} on average', shown_time(wait_ns)))
    ) AS evidence,
    call_count AS count,
    cost_ns AS time_ns,
    cost_ns AS win_ns,
    'upper bound' AS kind,
    if(
        coalesce(row_imbalance < 1.005, false),
        'Rows are even, so look at the device of the slowest rank: its clock (`prof-analysis clock`), what runs beside.',
        'Balance the experts: in training an auxiliary loss or bias of the router, a capacity of experts; in inference copies '
        || 'of busy experts placed by load (EPLB). `prof-analysis experts` shows which experts and ranks have most rows.'
    ) AS what_to_do,
    'docs/rules.md#expert-imbalance' AS doc,
    'SELECT cost_ns, mean_ns, max_ns, slowest_rank, module FROM across.expert_call ORDER BY cost_ns DESC LIMIT 20' AS sql
FROM spread
JOIN busiest USING (expert_group)
CROSS JOIN threshold
WHERE cost_ns > 0 AND mean_ns + cost_ns >= least_imbalance * mean_ns
