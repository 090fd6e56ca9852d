-- One row is a rank on which the device waits because the host launches kernels too slowly, or a module and op in which the
-- host is long before it launches.
--
-- @title (is_in_op) An op keeps the host busy too long
-- @title The host launches kernels too slowly
-- @evidence (is_in_op) In {count|a gap|gaps} the device is idle for {time_ns} while the host is in this op and has not yet
--     launched: {mean_ns} at a time
-- @evidence The device is idle for {time_ns} because the host launched the next kernel only after it had run out of work;
--     {most_ns} of it in {most_in}[; behind these launches, {starting_ns} more until it has started the kernels]
-- @kind upper bound
-- @remedy (is_in_op) See what the op does on the host. Its first call sets up caches and workspace: measure after warm-up
--     steps. A range around Python code is such an op too: record with_stack=True to see the functions.
-- @remedy (no replayed_share) Launch less, or faster: graph mode (torch.compile, <<torchair, ACL graphs||CUDA graphs>>),
--     fused ops and optimizers, larger batches[; {switches}].
-- @remedy Launch less, or faster: captured graphs run {replayed_share} of the kernel time already, so capture what is
--     launched one by one too; fused ops and optimizers, larger batches[; {switches}].
-- @query SELECT total_ns, gap_count, module, op, rank_id FROM free.cause_of_op WHERE work = 'launch' ORDER BY total_ns DESC
--     LIMIT 50
-- @counts host
-- @requires kernels, ops
-- @threshold least_gap_count 20: Gaps of the device in a step before kernels that were launched late: fewer are no stretch of
--     them
-- @threshold least_op_share 0.01: Share of the step from which such an op is a finding of its own
-- @threshold long_ns 100000 ns: From how long in a gap the host does more than launch: in an op, or between ops
--     (python_between_ops); acts as the next power of ten
--
-- @columns profile to rank_id, module to op, count to win_ns as in advice.finding_of_rank
-- is_in_op        BOOLEAN  whether the host is long in the op; else it launches too slowly
-- mean_ns         DOUBLE   mean idle time of a gap, ns
-- most_ns         BIGINT   the part of time_ns in the module that has most, ns
-- most_in         VARCHAR  this module
-- starting_ns     BIGINT   idle time of the rank behind launches, until the kernels start, ns; NULL without any
-- replayed_share  DOUBLE   share of the kernel time that captured graphs run, where it is half or more; else NULL
-- switches        VARCHAR  what can be set on NPUs and is not in force; NULL when all is
--
-- *The host launches kernels too slowly*: the idle time of late gaps up to the end of the launch, without the time that other
-- rules explain. The evidence says how long the device then needs to start these kernels. The rule needs 20 such gaps in a step
-- (`launch_bound.least_gap_count`). The win is an upper bound: an infinitely fast host would remove all of it; no real change
-- needs to. *An op keeps the host busy*: the host spends 100 us or more of a gap (`launch_bound.long_ns`) inside ops, and those
-- of this module and op cost 1 % of the step (`launch_bound.least_op_share`).
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_gap_count') AS least_gap_count,
        max(value) FILTER (name = 'long_ns') AS long_ns,
        max(value) FILTER (name = 'least_op_share') AS least_op_share
    FROM advice.threshold
    WHERE rule = 'launch_bound'
),
late AS (
    SELECT
        profile,
        rank_id,
        module,
        op,
        cause = 'inside an op' AND decade_ns >= threshold.long_ns AS is_long,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE work = 'launch' OR (work = 'between ops' AND decade_ns < threshold.long_ns)
    GROUP BY ALL
),
-- An op that costs little is no finding by itself: its time is that of a host which launches too slowly.
candidate AS (
    SELECT late.*, is_long AND total_ns >= rank_step.duration_ns * threshold.least_op_share AS is_in_op, rank_step.step_count
    FROM late
    JOIN across.rank_step USING (profile)
    CROSS JOIN threshold
),
of_module AS (
    SELECT
        profile,
        rank_id,
        step_count,
        is_in_op,
        if(is_in_op, module, NULL) AS module,
        if(is_in_op, op, NULL) AS op,
        coalesce(module, 'no module') AS place,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM candidate
    GROUP BY ALL
),
-- What lies behind the launch is no part of it.
start_of_rank AS (
    SELECT profile, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    WHERE work = 'start'
    GROUP BY profile
),
-- What is in force is not advised.
replayed_share AS (
    SELECT profile, sum(replayed_ns) / sum(replayed_ns + eager_ns) AS share
    FROM graph.by_step
    GROUP BY profile
),
in_force AS (
    SELECT
        profile,
        bool_or(name = 'TASK_QUEUE_ENABLE' AND value = '2') AS has_queue,
        bool_or(name = 'CPU_AFFINITY_CONF' AND value <> '0') AS has_affinity
    FROM trace.setting
    GROUP BY profile
),
remedy AS (
    SELECT
        rank_step.profile,
        start_of_rank.total_ns AS starting_ns,
        if(replayed_share.share >= 0.5, replayed_share.share, NULL) AS replayed_share,
        nullif(
            concat_ws(
                ', and ',
                if(coalesce(in_force.has_queue, false), NULL, 'TASK_QUEUE_ENABLE=2'),
                if(coalesce(in_force.has_affinity, false), NULL, 'CPU_AFFINITY_CONF to bind CPUs')
            ),
            ''
        ) AS switches_of_npu,
        if(getvariable('device_kind') = 'GPU', NULL, switches_of_npu) AS switches
    FROM across.rank_step
    LEFT JOIN start_of_rank USING (profile)
    LEFT JOIN replayed_share USING (profile)
    LEFT JOIN in_force USING (profile)
),
of_rank AS (
    SELECT
        profile,
        rank_id,
        step_count,
        is_in_op,
        module,
        op,
        arg_max(place, (total_ns, place)) AS most_in,
        max(total_ns) AS most_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM of_module
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    module,
    op,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    is_in_op,
    total_ns / gap_count AS mean_ns,
    most_ns,
    most_in,
    remedy.starting_ns,
    remedy.replayed_share,
    remedy.switches
FROM of_rank
JOIN remedy USING (profile)
CROSS JOIN threshold
WHERE is_in_op OR gap_count >= least_gap_count * step_count
