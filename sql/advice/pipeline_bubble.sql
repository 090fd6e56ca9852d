-- One row is a rank of a pipeline that has nothing to compute between the passes of its micro-batches; or the time of its
-- sends and receives between stages without computing, whichever is more.
-- Requires communication.
--
-- profile to sql as in advice.finding_of_rank
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
    FROM across.pipeline_rank
    -- Without stages there are passes too, and idle time between them; and not all sends and receives are between stages.
    WHERE coalesce(stage_count > 1, p2p_ns > 0 AND profile IN (SELECT profile FROM between_stages))
),
-- Where marks are coarse, sends and receives lie inside passes.
found AS (
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
    'The pipeline has bubbles' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    if(
        NOT is_between_passes,
        concat(
            format('{} sends and receives between stages take {} without computing', op_count, shown_time(bubble_ns)),
            if(waiting_ns > 0, format(', of which {} wait for the other stage', shown_time(waiting_ns)), '')
        ),
        concat(
            format(
                '{} of the time from the first to the last pass of a step has none, with {:.0f} micro-batches: in all steps '
                || '{}, of which {} in sends and receives, {} idle',
                shown_share(bubble_share),
                micro_batch_count,
                shown_time(bubble_ns),
                shown_time(p2p_ns),
                shown_time(idle_ns)
            ),
            if(
                least_share IS NULL,
                '',
                format('; {} even stages in 1F1B leave {}', stage_count, shown_share(least_share))
            )
        )
    ) AS evidence,
    if(is_between_passes, NULL, op_count) AS count,
    bubble_ns AS time_ns,
    bubble_ns AS win_ns,
    'upper bound' AS kind,
    if(
        coalesce(is_between_passes AND bubble_share > 1.2 * least_share, false),
        'It is more than even stages leave: look at `prof-analysis pipeline` and `prof-analysis slow-ranks` for the stage that '
        || 'takes longer, and move layers from it.',
        'Use more micro-batches in a step, or virtual stages (--num-layers-per-virtual-pipeline-stage), or a schedule with '
        || 'less bubble (zero bubble, DualPipeV); fewer stages where memory allows. Uneven stages add to it: '
        || '`prof-analysis slow-ranks`.'
    ) AS what_to_do,
    'docs/rules.md#pipeline-bubble' AS doc,
    if(
        is_between_passes,
        'SELECT rank_id, bubble_ns, span_ns, p2p_ns, bubble_share FROM across.pipeline_rank ORDER BY bubble_ns DESC LIMIT 50',
        'SELECT exposed_ns, waiting_ns, op_count, type, rank_id FROM communication.exposed WHERE direction IS NOT NULL '
        || 'ORDER BY exposed_ns DESC LIMIT 50'
    ) AS sql
FROM found
WHERE bubble_ns > 0
