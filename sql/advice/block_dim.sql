-- One row is a module, op and type of kernels that compute and whose blocks leave cores of the device without work.
-- Requires compute.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns,
        max(value) FILTER (name = 'least_idle_share') AS least_idle_share
    FROM advice.threshold
    WHERE rule = 'block_dim'
),
found AS (
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
    found.profile,
    found.rank_id,
    'Kernels leave cores of the device without work' AS title,
    found.module,
    found.op,
    found.kernel_type,
    format(
        '{} of {} on a device of {} cores, for {}, in which {} of the cores have no work{}',
        shown_kernels(found.kernel_count),
        if(found.least_blocks = found.most_blocks, '', found.least_blocks || ' to ') || found.most_blocks
        || if(found.most_blocks = 1, ' block', ' blocks'),
        found.core_count,
        shown_time(found.duration_ns),
        shown_share(found.idle_ns / found.duration_ns),
        unless_critical(found.duration_ns, found.critical_ns)
    ) AS evidence,
    found.kernel_count AS count,
    found.idle_ns AS time_ns,
    found.critical_idle_ns AS win_ns,
    'upper bound' AS kind,
    'Choose sizes (batch, sequence, heads, tensor parallelism) that give as many blocks as there are cores or a multiple; take '
    || 'a fused or newer op that divides the work further; raise the block dim or grid of own kernels.' AS what_to_do,
    'docs/rules.md#block-dim' AS doc,
    'SELECT idle_ns, critical_idle_ns, most_blocks, type, module FROM kernels.work WHERE idle_ns > 0 AND role IS NULL '
    || 'ORDER BY idle_ns DESC LIMIT 50' AS sql
FROM found
CROSS JOIN threshold
WHERE found.duration_ns >= threshold.least_duration_ns * found.kernel_count
  AND found.idle_ns >= threshold.least_idle_share * found.duration_ns
