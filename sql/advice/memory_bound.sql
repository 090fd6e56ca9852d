-- One row is a module, op and type of kernels that spend their time on moving data from and to memory. Matmuls in which
-- slow_matmul finds a win as large are left to it.
--
-- @guard pmu.busiest
-- @title Kernels spend their time on moving data
-- @evidence Data moves from or to memory for {busy_share} of the {time_ns} of {count|a kernel|kernels}{is_size_unknown?; how
--     much data is not known|}[; to compute, and to move the data at the best rate of the profile, takes
--     {needed_ns}]{unless_critical(time_ns, critical_ns)}
-- @kind (no win_ns) hint
-- @kind upper bound
-- @remedy Make inputs contiguous where a stride scatters the reads, move fewer bytes (half precision, no copies), and fuse
--     these kernels with those before and after them, so that data is read once.
-- @query SELECT sum(duration_ns)::BIGINT AS duration_ns, (sum(busy_percent * duration_ns) // sum(duration_ns))::BIGINT AS busy,
--     bound, type, module FROM pmu.busiest WHERE bound = 'memory' GROUP BY ALL ORDER BY duration_ns DESC LIMIT 20
-- @counts kernels
-- @requires compute, counters
-- @threshold least_busy_percent 80 %: Part of the time in which memory must be busy: msprof-analyze calls a kernel bound from
--     0.8 on
-- @threshold least_duration_ns 20000 ns: Mean time that kernels must have, as for no_bound
-- @yields slow_matmul
-- @yields slow_attention
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- busy_share       DOUBLE   share of the time in which data moves
-- critical_ns      BIGINT   the part of time_ns in kernels that are critical, as in critical.kernel, ns
-- is_size_unknown  BOOLEAN  whether it is not known how much data critical kernels move
-- needed_ns        BIGINT   what critical kernels need at least, to compute and to move their data, ns; NULL when not known,
--                           and without any
--
-- Kernels of 20 us or more (mean of module, op and type) that move data from or to the memory of the device for 80 % of their
-- time or more, by the hardware counters of their pipes (`pmu.busiest`; both thresholds as in msprof-analyze's check of
-- bounds). The win is an upper bound: the critical time less the least time that they need, which is the time in which they
-- compute or the time to move their data at the best rate of the rank, whichever is longer. A cache may give that best rate;
-- then large tensors win less. If sizes are not recorded, the finding is a hint. Matmuls for which [slow-matmul](#slow-matmul)
-- reports an equal win are not reported here. Remedies: contiguous inputs, fewer bytes, fusing.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_busy_percent') AS least_busy_percent,
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns
    FROM advice.threshold
    WHERE rule = 'memory_bound'
),
finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(busy_percent * duration_ns) / sum(duration_ns) / 100 AS busy_share,
        if(sum(known_ns) = sum(critical_ns), coalesce(sum(least_ns), 0), NULL)::BIGINT AS least_ns
    FROM pmu.busiest
    CROSS JOIN threshold
    WHERE bound = 'memory' AND busy_percent >= least_busy_percent AND duration_ns >= least_duration_ns * kernel_count
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    module,
    op,
    kernel_type,
    kernel_count AS count,
    duration_ns AS time_ns,
    critical_ns - least_ns AS win_ns,
    busy_share,
    critical_ns,
    critical_ns > 0 AND least_ns IS NULL AS is_size_unknown,
    if(critical_ns = 0, NULL, least_ns) AS needed_ns
FROM finding
