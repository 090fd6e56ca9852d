-- One row is a rank of the pipeline stage that computes longest, where stages compute unevenly.
--
-- @title A pipeline stage computes longer than the others
-- @evidence stage {stage} computes for {stage_ns} of each step, {count} stages for {mean_ns} on average, the shortest for
--     {least_ns}
-- @kind upper bound
-- @remedy Move layers to the other stages, and count embedding and loss as layers: --decoder-first-pipeline-num-layers,
--     --decoder-last-pipeline-num-layers, --account-for-loss-in-pipeline-split or --pipeline-model-parallel-layout of Megatron,
--     --num-layer-list of MindSpeed.
-- @query SELECT pipeline_stage, rank_id, computing_ns, waited_ns FROM across.slow_rank ORDER BY pipeline_stage, rank_id LIMIT
--     50
-- @counts ranks
-- @guard several ranks
-- @requires communication | reported_communication
-- @threshold least_imbalance 1.05: Longest computing of a stage / mean, as msprof-analyze has it
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- stage     BIGINT  the stage that computes longest
-- stage_ns  BIGINT  its computing in a step, ns
-- mean_ns   DOUBLE  the mean of all stages, ns
-- least_ns  BIGINT  that of the stage that computes least, ns
--
-- A pipeline stage whose ranks all compute longer than the mean stage, by `least_imbalance` (1.05, as msprof-analyze compares
-- ranks). The win is that excess, an **upper bound**: with 1F1B a step takes (micro-batches - 1) times the slowest stage and
-- once each stage, so even stages save at most longest - mean.
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
    stage_count AS count,
    round((most_ns - mean_ns) * slow_rank.step_count)::BIGINT AS time_ns,
    round((most_ns - mean_ns) * slow_rank.step_count)::BIGINT AS win_ns,
    slowest_stage AS stage,
    most_ns AS stage_ns,
    mean_ns,
    least_ns
FROM spread
CROSS JOIN threshold
JOIN across.slow_rank ON slow_rank.pipeline_stage = spread.slowest_stage
WHERE stage_count > 1 AND most_ns >= least_imbalance * mean_ns
