-- One row is a rank and a type of small collectives that follow each other, where one collective could take the place of many.
--
-- @title Many small collectives take the time of starting them
-- @evidence {count} operators of {size_bytes} on average, {operators_per_step:.0f} in a step, take {time_ns} without computing,
--     {mean_ns} each[; large ones move {best_gb_s:.1f} GB/s, these {rate_gb_s:.2f} GB/s]
-- @kind (is_in_modules) hint
-- @kind upper bound
-- @remedy (is_in_modules) They lie between layers, so they cannot be one: give each more (larger batches), use fewer tensor
--     parallel ranks, or take what is made for small sizes<<: HCCL_OP_EXPANSION_MODE=AIV||: an all-reduce in one or two shots
--     (that of vLLM, SGLang or FlashInfer, torch symmetric memory), or one fused with the norm behind it>>.
-- @remedy Send several at once: larger buckets of gradients (bucket_cap_mb of DDP, --ddp-bucket-size of Megatron), one flat
--     tensor for many small ones (torch.distributed.all_reduce_coalesced), fewer single values (losses, metrics).
-- @query SELECT exposed_ns, op_count, size_bytes, type, rank_id FROM communication.by_size ORDER BY exposed_ns
--     DESC LIMIT 50
-- @counts transfers
-- @requires communication
-- @threshold least_operators 10: Operators of the type and group in a step
-- @threshold most_bytes 1048576 bytes: Bytes from which on a collective is not small
--
-- @columns profile to rank_id, kernel_type, count to win_ns as in advice.finding_of_rank
-- size_bytes          BIGINT   mean bytes of an operator
-- operators_per_step  DOUBLE   operators in a step
-- mean_ns             BIGINT   mean time of an operator, ns
-- best_gb_s           DOUBLE   best rate of larger ones of the type, bytes / time of the fastest, GB/s; NULL without any
-- rate_gb_s           DOUBLE   that of the small ones, GB/s
-- is_in_modules       BOOLEAN  whether modules call most of them, by time
--
-- Collectives of less than 1 MiB (`most_bytes`), ten or more of a type and group in a step (`least_operators`), in profiles
-- that do not record packets, as of GPUs; where they do, see [small messages](#small-messages). So small, they take the time
-- that a collective takes to start, whatever their size. The win is an upper bound: their time without computing and without
-- waiting for late ranks, less that of one in each step. Between layers, as under tensor parallelism, they cannot be joined:
-- there the finding is a hint.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_operators') AS least_operators,
        max(value) FILTER (name = 'most_bytes') AS most_bytes
    FROM advice.threshold
    WHERE rule = 'small_collectives'
),
best AS (
    SELECT by_size.profile, by_size.type, max(size_bytes / shortest_ns) AS best_gb_s
    FROM communication.by_size
    CROSS JOIN threshold
    WHERE size_bytes >= threshold.most_bytes AND shortest_ns > 0
    GROUP BY by_size.profile, by_size.type
),
small AS (
    SELECT
        by_size.profile,
        by_size.rank_id,
        by_size.type,
        by_size.group_name,
        sum(op_count)::BIGINT AS op_count,
        sum(size_bytes * op_count) AS size_bytes,
        sum(elapse_ns)::BIGINT AS elapse_ns,
        sum(exposed_ns)::BIGINT AS exposed_ns,
        sum(critical_ns) AS critical_ns,
        sum(in_modules_ns) AS in_modules_ns
    FROM communication.by_size
    CROSS JOIN threshold
    WHERE size_bytes < threshold.most_bytes AND group_size IS DISTINCT FROM 1
    GROUP BY by_size.profile, by_size.rank_id, by_size.type, by_size.group_name
),
candidate AS (
    SELECT
        small.*,
        rank_step.step_count,
        least(
            small.critical_ns,
            small.exposed_ns - coalesce(small.exposed_ns * late_rank.waited_ns / nullif(late_rank.elapse_ns, 0), 0)
        ) * (1 - rank_step.step_count / small.op_count) AS win_ns
    FROM small
    JOIN across.rank_step USING (profile)
    LEFT JOIN across.late_rank
        ON late_rank.profile = small.profile
        AND late_rank.group_name IS NOT DISTINCT FROM small.group_name
        AND late_rank.type IS NOT DISTINCT FROM small.type
    CROSS JOIN threshold
    WHERE small.op_count >= threshold.least_operators * rank_step.step_count
      AND small.profile NOT IN (SELECT profile FROM communication.packet WHERE kind = 'collective')
),
finding AS (
    SELECT
        profile,
        rank_id,
        type,
        sum(op_count)::BIGINT AS op_count,
        sum(size_bytes) AS size_bytes,
        sum(elapse_ns)::BIGINT AS elapse_ns,
        sum(exposed_ns)::BIGINT AS exposed_ns,
        sum(in_modules_ns) * 2 > sum(exposed_ns) AS is_in_modules,
        min(step_count) AS step_count,
        round(sum(win_ns))::BIGINT AS win_ns
    FROM candidate
    GROUP BY profile, rank_id, type
)
SELECT
    finding.profile,
    finding.rank_id,
    finding.type AS kernel_type,
    op_count AS count,
    exposed_ns AS time_ns,
    if(is_in_modules, NULL, win_ns) AS win_ns,
    round(size_bytes / op_count)::BIGINT AS size_bytes,
    op_count / step_count AS operators_per_step,
    elapse_ns // op_count AS mean_ns,
    best.best_gb_s,
    size_bytes / elapse_ns AS rate_gb_s,
    is_in_modules
FROM finding
LEFT JOIN best ON best.profile = finding.profile AND best.type IS NOT DISTINCT FROM finding.type
WHERE exposed_ns > 0
