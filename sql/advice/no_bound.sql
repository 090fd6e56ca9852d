-- One row is a module, op and type of kernels that keep no part of the cores busy for most of their time. What slow_matmul
-- or block_dim finds in them with a win as large is left to these rules.
--
-- @guard pmu.busiest
-- @title Kernels use no part of the cores to the full
-- @evidence The busiest part of the cores ({part}) works for {busy_share} of the {time_ns} of {count|a
--     kernel|kernels}{may_communicate?; by their name they communicate too: the rest may be waiting for other ranks|}[; a core
--     works for {core_share} of it on average, and waits for others]{unless_critical(time_ns, critical_ns)}
-- @kind upper bound
-- @remedy (may_communicate) Hold their times against those of other ranks: where one rank has shorter ones, the others wait
--     for it, and it must come earlier (even out experts and lengths of inputs). Where all have them alike, try other shapes or
--     a newer version.
-- @remedy (no core_share) Own kernels: overlap reads, computing and writes (double buffering), and take larger tiles.
--     Kernels of a library: try other shapes or formats, a fused op, or a newer version; <<operator tuning (AOE)||autotuning>>
--     searches tilings.
-- @remedy Few cores work on while the others have done their part. Give the kernel less of what runs one after another (take
--     the largest few before sorting or sampling, split long inputs), or more at a time (larger batches); own kernels: even out
--     the blocks. Else try a newer version.
-- @query SELECT sum(duration_ns)::BIGINT AS duration_ns, (sum(busy_percent * duration_ns) // sum(duration_ns))::BIGINT AS busy,
--     bound, type, module FROM pmu.busiest GROUP BY ALL ORDER BY duration_ns DESC LIMIT 20
-- @counts kernels
-- @requires compute, counters
-- @threshold least_duration_ns 20000 ns: Mean time that kernels must have, as in msprof-analyze
-- @threshold most_busy_percent 80 %: Part of the time below which nothing is busy, as in msprof-analyze
-- @yields slow_matmul
-- @yields slow_attention
-- @yields block_dim
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- part             VARCHAR  the busiest part of the cores
-- busy_share       DOUBLE   share of the time in which it works
-- may_communicate  BOOLEAN  whether the kernels communicate too, by their name
-- core_share       DOUBLE   share of the time in which a core works on average, where it is less than half and they do not
--                           communicate; else NULL
-- critical_ns      BIGINT   the part of time_ns in kernels that are critical, as in critical.kernel, ns
--
-- Kernels of 20 us or more in which no pipe is busy for 80 % of the time: neither computing nor moving data limits them. The
-- win is an upper bound: with perfect overlap a kernel takes as long as its busiest pipe works, and the rest of its critical
-- time disappears. Remedies: double buffering and larger tiles in kernels of your own; other shapes, formats or versions of
-- library kernels. A kernel that also communicates, as its name says (`DispatchFFNCombine`, `AllGatherMatmul`), may wait for
-- other ranks meanwhile; the evidence says so. If a core works for less than half of the time on average (`core_ns` of
-- `pmu.busiest`), most cores wait for the last ones, as in a sort; the evidence says that too. Kernels for which
-- [slow-matmul](#slow-matmul) or [block-dim](#block-dim) reports an equal win are not reported here.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'most_busy_percent') AS most_busy_percent,
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns
    FROM advice.threshold
    WHERE rule = 'no_bound'
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
        sum(core_ns) / sum(duration_ns) AS core_share,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(busy_ns)::BIGINT AS busy_ns,
        sum(busy_percent * duration_ns) / sum(duration_ns) / 100 AS busy_share,
        arg_max(bound, (duration_ns, bound)) AS bound
    FROM pmu.busiest
    CROSS JOIN threshold
    WHERE busy_percent < most_busy_percent AND duration_ns >= least_duration_ns * kernel_count
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
    critical_ns - busy_ns AS win_ns,
    CASE bound
        WHEN 'compute' THEN 'computing'
        WHEN 'memory' THEN 'moving data from or to memory'
        WHEN 'on chip' THEN 'moving data on the chip'
        ELSE 'scalar'
    END AS part,
    busy_share,
    may_communicate(kernel_type) AS may_communicate,
    if(finding.core_share < 0.5 AND NOT may_communicate(kernel_type), finding.core_share, NULL) AS core_share,
    critical_ns
FROM finding
