-- One row is a rank of the pipeline stage that computes longest, where stages compute unevenly.
-- Requires communication or reported_communication.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_imbalance') AS least_imbalance
    FROM advice.threshold
    WHERE rule = 'stage_imbalance'
),
-- Where one rank of a stage alone computes longer, the rank is slow, not the stage.
stage AS (
    SELECT pipeline_stage, min(computing_ns) AS computing_ns
    FROM across.slow_rank
    WHERE pipeline_stage IS NOT NULL AND computing_ns IS NOT NULL
    GROUP BY pipeline_stage
),
spread AS (
    SELECT
        count(*) AS stage_count,
        avg(computing_ns) AS mean_ns,
        max(computing_ns) AS most_ns,
        min(computing_ns) AS least_ns,
        arg_max(pipeline_stage, (computing_ns, -pipeline_stage)) AS slowest_stage
    FROM stage
)
SELECT
    slow_rank.profile,
    slow_rank.rank_id,
    'A pipeline stage computes longer than the others' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'stage {} computes for {} of each step, {} stages for {} on average, the shortest for {}',
        slowest_stage,
        shown_time(most_ns),
        stage_count,
        shown_time(mean_ns),
        shown_time(least_ns)
    ) AS evidence,
    stage_count AS count,
    round((most_ns - mean_ns) * slow_rank.step_count)::BIGINT AS time_ns,
    round((most_ns - mean_ns) * slow_rank.step_count)::BIGINT AS win_ns,
    'upper bound' AS kind,
    'Move layers to the other stages, and count embedding and loss as layers: --decoder-first-pipeline-num-layers, '
    || '--decoder-last-pipeline-num-layers, --account-for-loss-in-pipeline-split or --pipeline-model-parallel-layout of '
    || 'Megatron, --num-layer-list of MindSpeed.' AS what_to_do,
    'docs/rules.md#stage-imbalance' AS doc,
    'SELECT pipeline_stage, rank_id, computing_ns, waited_ns FROM across.slow_rank '
    || 'ORDER BY pipeline_stage, rank_id LIMIT 50' AS sql
FROM spread
CROSS JOIN threshold
JOIN across.slow_rank ON slow_rank.pipeline_stage = spread.slowest_stage
WHERE stage_count > 1 AND most_ns >= least_imbalance * mean_ns
