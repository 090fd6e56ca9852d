-- One row is communication of a rank, by module, op and type, during which the device does not compute; or, where computing
-- covers nearly all of much communication, that nothing can be won there. What moves between pipeline stages is left to
-- pipeline_bubble.
-- Requires communication.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'covered_share') AS covered_share,
        max(value) FILTER (name = 'large_share') AS large_share
    FROM advice.threshold
    WHERE rule = 'exposed_communication'
),
by_group AS (
    SELECT
        profile,
        rank_id,
        if(module IS NULL, NULL, concat_ws('/', nullif(parent_module, ''), module)) AS module,
        op,
        type,
        group_name,
        group_label,
        min(operation) AS operation,
        sum(op_count) AS op_count,
        sum(elapse_ns)::BIGINT AS elapse_ns,
        sum(exposed_ns) AS exposed_ns,
        sum(critical_ns) AS critical_ns,
        coalesce(sum(waiting_ns), 0) AS waiting_ns,
        coalesce(sum(transferring_ns), 0) AS transferring_ns,
        coalesce(sum(other_ns), 0) AS other_ns,
        sum(unknown_ns) AS unknown_ns,
        max(longest_ns) AS longest_ns
    FROM communication.exposed
    WHERE NOT is_between_stages(direction, group_label)
    GROUP BY ALL
),
-- What waits for a late rank goes only when that rank is faster. The other ranks say how much that is; without them, all that
-- the profiler calls waiting, which can also be common to all ranks.
compared AS (
    SELECT
        by_group.*,
        late_rank.waited_ns IS NOT NULL AS is_compared,
        by_group.waiting_ns + by_group.unknown_ns AS possible_ns,
        late_rank.waited_ns * sum(by_group.exposed_ns) OVER of_type / nullif(late_rank.elapse_ns, 0) AS waited_ns,
        if(
            is_compared,
            possible_ns * least(1, waited_ns / nullif(sum(possible_ns) OVER of_type, 0)),
            by_group.waiting_ns
        ) AS late_ns,
        if(is_compared, by_group.waiting_ns * (1 - late_ns / nullif(possible_ns, 0)), 0) AS common_ns
    FROM by_group
    LEFT JOIN across.late_rank
        ON late_rank.profile = by_group.profile
        AND late_rank.group_name = by_group.group_name
        AND late_rank.type = by_group.type
    WINDOW of_type AS (PARTITION BY by_group.profile, by_group.group_name, by_group.type)
),
summed AS (
    SELECT
        profile,
        rank_id,
        module,
        op,
        type,
        min(operation) AS operation,
        sum(op_count)::BIGINT AS op_count,
        sum(elapse_ns)::BIGINT AS elapse_ns,
        sum(exposed_ns)::BIGINT AS exposed_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(waiting_ns)::BIGINT AS waiting_ns,
        sum(transferring_ns)::BIGINT AS transferring_ns,
        sum(other_ns)::BIGINT AS other_ns,
        sum(unknown_ns)::BIGINT AS unknown_ns,
        round(coalesce(sum(late_ns), 0))::BIGINT AS late_ns,
        round(coalesce(sum(common_ns), 0))::BIGINT AS common_ns,
        bool_or(is_compared) AS is_compared,
        max(longest_ns) AS longest_ns,
        arg_max(group_label, (exposed_ns, group_label)) AS main_group,
        max(exposed_ns)::BIGINT AS main_group_ns,
        count(*) AS group_count
    FROM compared
    GROUP BY profile, rank_id, module, op, type
),
judged AS (
    SELECT
        summed.*,
        exposed_ns - late_ns AS rest_ns,
        CASE operation
            WHEN 'allgather' THEN 'torch_npu.npu_all_gather_base_mm'
            WHEN 'reducescatter' THEN 'torch_npu.npu_mm_reduce_scatter_base'
            ELSE 'torch_npu.npu_mm_all_reduce_base'
        END AS fused_op,
        least(critical_ns, rest_ns) AS win_ns,
        unknown_ns + waiting_ns - common_ns - late_ns AS unknown_rest_ns,
        exposed_ns < covered_share * elapse_ns AS is_covered,
        coalesce(starts_with(main_group, 'dp') OR main_group = 'embd', false) AS is_of_gradients,
        longest_ns * 2 > elapse_ns AND longest_ns * op_count > 3 * elapse_ns AS has_long_one,
        if(op_count = 1, '1 operator takes', format('{} operators take', op_count)) AS operators,
        list_filter(
            [
                if(waiting_ns > 0, format('{} waits for other ranks', shown_time(waiting_ns)), NULL),
                if(transferring_ns > 0, format('{} transfers', shown_time(transferring_ns)), NULL),
                if(other_ns > 0, format('{} does neither', shown_time(other_ns)), NULL),
                if(
                    unknown_ns > 0,
                    concat(
                        if(unknown_ns < exposed_ns, format('of {} ', shown_time(unknown_ns)), ''),
                        'it is not recorded whether it waits or transfers'
                    ),
                    NULL
                )
            ],
            lambda part: part IS NOT NULL
        ) AS parts
    FROM summed
    CROSS JOIN threshold
    JOIN across.rank_step USING (profile)
    WHERE exposed_ns >= covered_share * elapse_ns OR elapse_ns >= large_share * rank_step.duration_ns
)
SELECT
    profile,
    rank_id,
    if(
        is_covered,
        'Computing covers this communication: nothing to win here',
        'Computing does not cover communication'
    ) AS title,
    module,
    op,
    type AS kernel_type,
    if(
        is_covered,
        format(
            '{} {}, and computing runs beside all but {} of it: 0 can be won by making it faster',
            operators,
            shown_time(elapse_ns),
            shown_time(exposed_ns)
        ),
        concat(
            format(
                '{} {}, of which {} ({}) without computing',
                operators,
                shown_time(elapse_ns),
                shown_time(exposed_ns),
                shown_share(exposed_ns / elapse_ns)
            ),
            if(exposed_ns > 0, ': ' || array_to_string(parts, ', '), ''),
            if(has_long_one, format('; one alone takes {}', shown_time(longest_ns)), ''),
            CASE
                WHEN late_ns = 0 THEN ''
                WHEN is_compared
                    THEN format('; {} is for a rank that comes later, and no part of the win', shown_time(late_ns))
                ELSE '; the wait is no part of the win'
            END,
            if(group_count > 1, format('; {} of it in the group {}', shown_time(main_group_ns), main_group), ''),
            if(critical_ns < exposed_ns, won_of_collectives(critical_ns, win_ns), '')
        )
    ) AS evidence,
    op_count AS count,
    elapse_ns AS time_ns,
    if(is_covered, 0, win_ns) AS win_ns,
    'upper bound' AS kind,
    CASE
        WHEN is_covered THEN 'Leave it as it is: look at what computes instead.'
        WHEN late_ns * 10 >= exposed_ns * 9
            THEN 'Find the rank that comes late with `prof-analysis slow-ranks`: waiting goes only when that rank is faster, '
            || 'neither by overlapping nor by fewer bytes.'
        WHEN (other_ns + common_ns) * 2 > rest_ns
            THEN 'Most of it neither transfers nor waits for a late rank. The first call of a group sets up its links: call it '
            || 'once before the recording, or record a later step. Else its tasks reach the device late: let the device unfold '
            || 'them (HCCL_OP_EXPANSION_MODE=AIV or AI_CPU on Ascend).'
        WHEN unknown_rest_ns * 2 > rest_ns AND has_long_one AND group_count = 1
            THEN 'One call takes most of it. If it is the first of its group, it sets up links: call it once before the '
            || 'recording, or record a later step. Else see with `prof-analysis slow-ranks` who comes late to it.'
        WHEN operation = 'broadcast'
            THEN 'Do not broadcast buffers in each forward: DistributedDataParallel(broadcast_buffers=False), where ranks need '
            || 'not share them.'
        WHEN starts_with(operation, 'alltoall')
            THEN 'Run it beside computing of other tokens or of shared experts (--moe-alltoall-overlap-comm of MindSpeed, '
            || '--overlap-moe-expert-parallel-comm of Megatron), keep experts within a node, send fewer bytes (FP8, INT8).'
        WHEN operation IN ('send', 'receive', 'sendrecv', 'batchsendrecv')
            THEN 'Post sends and receives before the computing that does not need them, and wait for them after it.'
        WHEN module IS NOT NULL AND operation IN ('allreduce', 'allgather', 'reducescatter')
            THEN 'It lies between layers that need it. Split it and run it beside the matmul (--use-ascend-mc2 of MindSpeed, '
            || fused_op || '; --tp-comm-overlap of Megatron on GPUs), prefetch parameters (FSDP), or use fewer tensor parallel '
            || 'ranks.'
        WHEN op IS NULL AND NOT is_of_gradients AND operation IN ('allreduce', 'allgather', 'reducescatter')
            THEN 'Between layers (tensor parallel): split it and run it beside the matmul (' || fused_op
            || '; --use-ascend-mc2 of MindSpeed'
            || if(operation = 'allreduce', ', VLLM_ASCEND_ENABLE_FLASHCOMM1=1 of vLLM-Ascend', '')
            || '), fewer tensor parallel ranks; HCCL_OP_EXPANSION_MODE=AIV shortens small ones on Ascend. Of gradients: '
            || 'start it in the backward.'
        WHEN operation IN ('allreduce', 'allgather', 'reducescatter')
            THEN 'Start it while the backward still computes: smaller buckets (bucket_cap_mb of DDP), --overlap-grad-reduce '
            || 'and --overlap-param-gather of Megatron and MindSpeed, prefetch of FSDP. Communicate less often (no_sync with '
            || 'gradient accumulation) or in BF16.'
        ELSE 'Start it earlier (async_op=True) and wait for it later, so that computing that does not need it runs beside it.'
    END AS what_to_do,
    'docs/rules.md#exposed-communication' AS doc,
    'SELECT exposed_ns, elapse_ns, waiting_ns, type, rank_id FROM communication.exposed '
    || 'ORDER BY exposed_ns DESC LIMIT 50' AS sql
FROM judged
WHERE elapse_ns > 0
