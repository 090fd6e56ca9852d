-- One row is a module, op and type of kernels that compute and whose blocks leave cores of the device without work.
--
-- @title Kernels leave cores of the device without work
-- @evidence {count|1 kernel|kernels} of [{least_blocks} to ]{most_blocks|1 block|blocks} on a device of {core_count} cores, for
--     {duration_ns}, in which {idle_share} of the cores have no work{unless_critical(duration_ns, critical_ns)}
-- @kind upper bound
-- @remedy Choose sizes (batch, sequence, heads, tensor parallelism) that give as many blocks as there are cores or a multiple;
--     take a fused or newer op that divides the work further; raise the block dim or grid of own kernels.
-- @query SELECT idle_ns, critical_idle_ns, most_blocks, type, module FROM kernels.work WHERE idle_ns > 0 AND role IS NULL ORDER
--     BY idle_ns DESC LIMIT 50
-- @counts kernels
-- @requires compute
-- @threshold least_duration_ns 10000 ns: Mean time that kernels must have: shorter ones have too little work for all cores
-- @threshold least_idle_share 0.1: Share of the cores that have no work
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- least_blocks  BIGINT  blocks of the kernel with the fewest; NULL when all have as many
-- most_blocks   BIGINT  blocks of the kernel with the most
-- core_count    BIGINT  cores that the device has for them
-- duration_ns   BIGINT  time of the kernels, ns
-- idle_share    DOUBLE  share of the cores without work in that time
-- critical_ns   BIGINT  the part of duration_ns in kernels that are critical, as in critical.kernel, ns
--
-- Kernels of fewer blocks than the device has cores, or of a number that leaves cores without work in the last round,
-- by module, op and type. The win is time × (1 − blocks / (rounds × cores)), where rounds = ⌈blocks / cores⌉, kernel by
-- kernel: an upper bound, since more blocks cost something too. Cores are those of `kernels.core`: cube cores from
-- `info.json` or `cube_utilization(%)`; vector cores from `aiv_num` of `info.json`, or else twice the cube cores if a
-- vector kernel had exactly so many blocks; otherwise the kernel is not judged. GPUs: multiprocessors, and blocks of
-- the `grid` (AMD counts threads in it for some launches, which is taken into account; kernels of a replayed graph have
-- none). `block_dim.least_duration_ns` (10 us on average; shorter kernels have too little work to divide) and
-- `block_dim.least_idle_share` (10 % of the cores) are our choice; msprof-analyze lists any number that is no multiple
-- of the cores.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns,
        max(value) FILTER (name = 'least_idle_share') AS least_idle_share
    FROM advice.threshold
    WHERE rule = 'block_dim'
),
finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        min(least_blocks) AS least_blocks,
        max(most_blocks) AS most_blocks,
        max(core_count) AS core_count,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(idle_ns)::BIGINT AS idle_ns,
        sum(critical_idle_ns)::BIGINT AS critical_idle_ns
    FROM kernels.work
    WHERE idle_ns > 0 AND role IS NULL
    GROUP BY ALL
)
SELECT
    finding.profile,
    finding.rank_id,
    finding.module,
    finding.op,
    finding.kernel_type,
    finding.kernel_count AS count,
    finding.idle_ns AS time_ns,
    finding.critical_idle_ns AS win_ns,
    nullif(finding.least_blocks, finding.most_blocks) AS least_blocks,
    finding.most_blocks,
    finding.core_count,
    finding.duration_ns,
    finding.idle_ns / finding.duration_ns AS idle_share,
    finding.critical_ns
FROM finding
CROSS JOIN threshold
WHERE finding.duration_ns >= threshold.least_duration_ns * finding.kernel_count
  AND finding.idle_ns >= threshold.least_idle_share * finding.duration_ns
