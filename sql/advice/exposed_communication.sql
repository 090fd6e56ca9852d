-- One row is communication of a rank, by module, op and type, during which the device does not compute; or, where computing
-- covers nearly all of much communication, that nothing can be won there. What moves between pipeline stages is left to
-- pipeline_bubble.
--
-- @title (is_covered) Computing covers this communication: nothing to win here
-- @title Computing does not cover communication
-- @evidence (is_covered) {count|1 operator takes|operators take} {time_ns}, and computing runs beside all but {exposed_ns} of
--     it: 0 can be won by making it faster
-- @evidence {count|1 operator takes|operators take} {time_ns}, of which {exposed_ns} ({exposed_share}) without computing[:
--     {parts}][; one alone takes {longest_ns}][; {late_ns} is for a rank that comes later, and no part of the win]{waits?; the
--     wait is no part of the win|}[; {group_ns} of it in the group {group_label}]{won_of_collectives(is_partly_won,
--     critical_ns, win_ns)}
-- @kind upper bound
-- @remedy (is_covered) Leave it as it is: look at what computes instead.
-- @remedy (situation = late rank) Find the rank that comes late with `prof-analysis slow-ranks`: waiting goes only when that
--     rank is faster, neither by overlapping nor by fewer bytes.
-- @remedy (situation = first call) Most of it neither transfers nor waits for a late rank. The first call of a group sets up
--     its links: call it once before the recording, or record a later step. Else its tasks reach the device late: let the
--     device unfold them<< (HCCL_OP_EXPANSION_MODE=AIV or AI_CPU)||>>.
-- @remedy (situation = one call) One call takes most of it. If it is the first of its group, it sets up links: call it once
--     before the recording, or record a later step. Else see with `prof-analysis slow-ranks` who comes late to it.
-- @remedy (situation = buffers) Do not broadcast buffers in each forward: DistributedDataParallel(broadcast_buffers=False),
--     where ranks need not share them.
-- @remedy (situation = experts) Run it beside computing of other tokens or of shared experts (<<--moe-alltoall-overlap-comm
--     of MindSpeed||--overlap-moe-expert-parallel-comm of Megatron>>), keep experts within a node, send fewer bytes (FP8,
--     INT8).
-- @remedy (situation = send and receive) Post sends and receives before the computing that does not need them, and wait for
--     them after it.
-- @remedy (situation = in layers) It lies between layers that need it. Split it and run it beside the matmul
--     (<<--use-ascend-mc2 of MindSpeed, {fused_op}||--tp-comm-overlap of Megatron>>), prefetch parameters (FSDP), or use fewer
--     tensor parallel ranks.
-- @remedy (situation = between layers) Between layers (tensor parallel): split it and run it beside the matmul
--     (<<{fused_op}; --use-ascend-mc2 of MindSpeed{is_reduced?, VLLM_ASCEND_ENABLE_FLASHCOMM1=1 of
--     vLLM-Ascend|}||--tp-comm-overlap of Megatron>>), fewer tensor parallel ranks<<; HCCL_OP_EXPANSION_MODE=AIV shortens small
--     ones||>>. Of gradients: start it in the backward.
-- @remedy (situation = gradients) Start it while the backward still computes: smaller buckets (bucket_cap_mb of DDP),
--     --overlap-grad-reduce and --overlap-param-gather of Megatron<< and MindSpeed||>>, prefetch of FSDP. Communicate less
--     often (no_sync with gradient accumulation) or in BF16.
-- @remedy Start it earlier (async_op=True) and wait for it later, so that computing that does not need it runs beside it.
-- @query SELECT exposed_ns, elapse_ns, waiting_ns, type, rank_id FROM communication.exposed ORDER BY exposed_ns DESC LIMIT 50
-- @counts transfers
-- @requires communication
-- @threshold covered_share 0.05: Share of communication that may be without computing where it counts as covered
-- @threshold large_share 0.05: Share of the step from which covered communication is reported, as msprof-analyze has it for
--     high priority
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- situation      VARCHAR  what the time goes into, and what is to do therefore; NULL for operators of other kinds
-- is_covered     BOOLEAN  whether computing covers nearly all of it
-- exposed_ns     BIGINT   the part of time_ns without computing, ns
-- exposed_share  DOUBLE   exposed_ns / time_ns
-- critical_ns    BIGINT   the part of exposed_ns after which the device does not wait for the host, ns
-- parts          VARCHAR  what exposed_ns goes into; NULL when it is 0
-- longest_ns     BIGINT   time of the longest operator, ns; NULL when it is not far longer than the others
-- late_ns        BIGINT   the part of exposed_ns that waits for a rank that comes later, ns; NULL when there is none, or ranks
--                         are not here to compare
-- waits          BOOLEAN  whether a part waits, and there are no ranks to compare
-- group_label    VARCHAR  of operators in several groups of ranks, the group that has most; else NULL
-- group_ns       BIGINT   the part of exposed_ns in that group, ns; NULL when all are in one
-- is_partly_won  BOOLEAN  whether the device waits for the host after some of it
-- fused_op       VARCHAR  the fused op that communicates so and multiplies
-- is_reduced     BOOLEAN  whether it is an all-reduce
--
-- Communication during which no compute kernel of the step runs, by module, op and type (`communication.exposed`, whose rows
-- add up to communication_not_overlapped_ns of `step-time`). The win is that time, less the part in operators after which the
-- device waits for the host, and less the time in which the rank waits for a later one, which you win by mending that rank
-- ([slow rank](#slow-rank), [waiting](#waiting)). It is an **upper bound**, since the data must still move. We compute how long
-- a rank waits from the other ranks' start times. If some ranks of the group are missing, we use the wait time that the
-- profiler reported. Time that all ranks of a group wait equally stays in the win: the first call of a group sets up its links.
-- The evidence says how much time waits, transfers (overlap or fewer bytes save it) or does neither (tasks reach the device
-- late). For partly covered operators these times are scaled by the exposed share. Covered communication wins 0: if less than
-- `covered_share` (5 %) of it is exposed and it has `large_share` (5 %) of the step, the finding says so. Transfers between
-- pipeline stages are in [pipeline bubble](#pipeline-bubble).
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
compared_operator AS (
    SELECT
        by_group.*,
        late_rank.waited_ns IS NOT NULL AS is_compared,
        by_group.waiting_ns + by_group.unknown_ns AS possible_ns,
        late_rank.waited_ns * sum(by_group.exposed_ns) OVER of_type / nullif(late_rank.elapse_ns, 0) AS exposed_wait_ns,
        if(
            is_compared,
            possible_ns * least(1, exposed_wait_ns / nullif(sum(possible_ns) OVER of_type, 0)),
            by_group.waiting_ns
        ) AS late_ns,
        if(is_compared, by_group.waiting_ns * (1 - late_ns / nullif(possible_ns, 0)), 0) AS common_ns
    FROM by_group
    LEFT JOIN across.late_rank
        ON late_rank.profile = by_group.profile
        AND late_rank.group_name IS NOT DISTINCT FROM by_group.group_name
        AND late_rank.type IS NOT DISTINCT FROM by_group.type
    WINDOW of_type AS (PARTITION BY by_group.profile, by_group.group_name, by_group.type)
),
operators_of_op AS (
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
    FROM compared_operator
    GROUP BY profile, rank_id, module, op, type
),
candidate AS (
    SELECT
        operators_of_op.*,
        exposed_ns - late_ns AS rest_ns,
        CASE operation
            -- Knows npu, npu_all_gather_base_mm, npu_mm_all_reduce_base, npu_mm_reduce_scatter_base: users call these.
            WHEN 'allgather' THEN 'torch_npu.npu_all_gather_base_mm'
            WHEN 'reducescatter' THEN 'torch_npu.npu_mm_reduce_scatter_base'
            ELSE 'torch_npu.npu_mm_all_reduce_base'
        END AS fused_op,
        least(critical_ns, rest_ns) AS win_ns,
        unknown_ns + waiting_ns - common_ns - late_ns AS unknown_rest_ns,
        exposed_ns < covered_share * elapse_ns AS is_covered,
        coalesce(starts_with(main_group, 'dp') OR main_group = 'embd', false) AS is_of_gradients,
        coalesce(regexp_matches(main_group, '^(tp|cp|tp-cp)\b'), false) AS is_of_layers,
        longest_ns * 2 > elapse_ns AND longest_ns * op_count > 3 * elapse_ns AS has_long_one,
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
    FROM operators_of_op
    CROSS JOIN threshold
    JOIN across.rank_step USING (profile)
    WHERE exposed_ns >= covered_share * elapse_ns OR elapse_ns >= large_share * rank_step.duration_ns
)
SELECT
    profile,
    rank_id,
    module,
    op,
    type AS kernel_type,
    op_count AS count,
    elapse_ns AS time_ns,
    if(is_covered, 0, win_ns) AS win_ns,
    CASE
            WHEN is_covered THEN 'covered'
            WHEN candidate.late_ns * 10 >= exposed_ns * 9 THEN 'late rank'
            WHEN (other_ns + common_ns) * 2 > rest_ns THEN 'first call'
            WHEN unknown_rest_ns * 2 > rest_ns AND has_long_one AND group_count = 1 THEN 'one call'
            WHEN operation = 'broadcast' THEN 'buffers'
            WHEN starts_with(operation, 'alltoall') THEN 'experts'
            WHEN operation IN ('send', 'receive', 'sendrecv', 'batchsendrecv') THEN 'send and receive'
            WHEN coalesce(operation NOT IN ('allreduce', 'allgather', 'reducescatter'), true) THEN NULL
            WHEN module IS NOT NULL THEN 'in layers'
            WHEN is_of_layers OR (op IS NULL AND NOT is_of_gradients) THEN 'between layers'
            ELSE 'gradients'
        END AS situation,
    is_covered,
    exposed_ns,
    exposed_ns / elapse_ns AS exposed_share,
    critical_ns,
    if(exposed_ns > 0, array_to_string(candidate.parts, ', '), NULL) AS parts,
    if(has_long_one, candidate.longest_ns, NULL) AS longest_ns,
    if(is_compared AND candidate.late_ns > 0, candidate.late_ns, NULL) AS late_ns,
    NOT is_compared AND candidate.late_ns > 0 AS waits,
    if(group_count > 1, main_group, NULL) AS group_label,
    if(group_count > 1, main_group_ns, NULL) AS group_ns,
    critical_ns < exposed_ns AS is_partly_won,
    fused_op,
    operation = 'allreduce' AS is_reduced
FROM candidate
WHERE elapse_ns > 0
