-- One row is a rank of a pipeline that has nothing to compute between the passes of its micro-batches; or the time of its
-- sends and receives between stages without computing, whichever is more.
--
-- @title The pipeline has bubbles
-- @evidence (is_between_passes) {bubble_share} of the time from the first to the last pass of a step has none, with
--     {micro_batch_count:.0f} micro-batches: in all steps {time_ns}, of which {p2p_ns} in sends and receives, {idle_ns} idle[;
--     {stage_count} even stages in 1F1B leave {least_share}]
-- @evidence {count} sends and receives between stages take {time_ns} without computing[, of which {waiting_ns} wait for the
--     other stage]
-- @kind upper bound
-- @remedy (is_uneven) It is more than even stages leave: look at `prof-analysis pipeline` and `prof-analysis slow-ranks` for
--     the stage that takes longer, and move layers from it.
-- @remedy Use more micro-batches in a step, or virtual stages (--num-layers-per-virtual-pipeline-stage), or a schedule with
--     less bubble (zero bubble, DualPipeV); fewer stages where memory allows. Uneven stages add to it: `prof-analysis
--     slow-ranks`.
-- @query (is_between_passes) SELECT rank_id, bubble_ns, span_ns, p2p_ns, bubble_share FROM across.pipeline_rank ORDER BY
--     bubble_ns DESC LIMIT 50
-- @query SELECT exposed_ns, waiting_ns, op_count, type, rank_id FROM communication.exposed WHERE direction IS NOT NULL ORDER BY
--     exposed_ns DESC LIMIT 50
-- @counts ranks
-- @requires communication
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- is_between_passes  BOOLEAN  whether it is time between passes; else of sends and receives
-- bubble_share       DOUBLE   share of the time from the first to the last pass of a step
-- micro_batch_count  DOUBLE   micro-batches of a step
-- p2p_ns             BIGINT   the part of time_ns in sends and receives, ns
-- idle_ns            BIGINT   the part in which the device is idle, ns
-- stage_count        BIGINT   stages of the pipeline
-- least_share        DOUBLE   share that even stages in 1F1B leave; NULL when not known
-- waiting_ns         BIGINT   of sends and receives, the part that waits for the other stage, ns; NULL without any
-- is_uneven          BOOLEAN  whether it is far more than even stages leave
--
-- Time in which a rank of a pipeline runs no pass of a micro-batch (`prof-analysis pipeline`), or, if that is more, the time of
-- its sends and receives between stages without computing. The win is an **upper bound**: 1F1B with p even stages and m
-- micro-batches keeps (p - 1) / (m + p - 1), which the evidence shows for comparison. If the bubble is more than 1.2 times
-- that, stages are uneven. If stages are not known, only sends and receives between stages make a pipeline. Some collectives
-- (old NCCL, all-to-all) run as send and receive kernels; the name that the host gives them decides.
WITH between_stages AS (
    SELECT
        profile,
        rank_id,
        sum(op_count)::BIGINT AS op_count,
        sum(exposed_ns)::BIGINT AS exposed_ns,
        sum(waiting_ns)::BIGINT AS waiting_ns
    FROM communication.exposed
    WHERE is_between_stages(direction, group_label)
    GROUP BY profile, rank_id
),
bubble AS (
    SELECT
        profile,
        rank_id,
        micro_batch_count,
        stage_count,
        round(bubble_ns * step_count)::BIGINT AS bubble_ns,
        round(p2p_ns * step_count)::BIGINT AS p2p_ns,
        round(idle_ns * step_count)::BIGINT AS idle_ns,
        bubble_share,
        least_share
    FROM pipeline.bubble
    -- Not all sends and receives are between stages.
    WHERE stage_count > 1 OR profile IN (SELECT profile FROM between_stages)
),
-- Where marks are coarse, sends and receives lie inside passes.
finding AS (
    SELECT
        coalesce(bubble.profile, between_stages.profile) AS profile,
        coalesce(bubble.rank_id, between_stages.rank_id) AS rank_id,
        bubble.* EXCLUDE (profile, rank_id, bubble_ns),
        between_stages.op_count,
        between_stages.waiting_ns,
        coalesce(bubble.bubble_ns >= between_stages.exposed_ns, bubble.bubble_ns IS NOT NULL) AS is_between_passes,
        if(is_between_passes, bubble.bubble_ns, between_stages.exposed_ns) AS bubble_ns
    FROM bubble
    FULL JOIN between_stages USING (profile)
)
SELECT
    profile,
    rank_id,
    if(is_between_passes, NULL, op_count) AS count,
    bubble_ns AS time_ns,
    bubble_ns AS win_ns,
    is_between_passes,
    bubble_share,
    micro_batch_count,
    p2p_ns,
    idle_ns,
    stage_count,
    least_share,
    if(waiting_ns > 0, waiting_ns, NULL) AS waiting_ns,
    coalesce(is_between_passes AND bubble_share > 1.2 * least_share, false) AS is_uneven
FROM finding
WHERE bubble_ns > 0
