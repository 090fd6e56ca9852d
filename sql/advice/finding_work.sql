-- One row is a finding and a part of the time in which it lies: kernels of a module, op and type, communication that no kernel
-- covers, idle time, or passes of a server; on the rank of the finding, else on all ranks. Findings without a row have no place
-- in time, as those about waits of ranks for each other.
--
-- finding_id  VARCHAR  a finding of advice.finding_of_run
-- module      VARCHAR  of kernels, path of the module; NULL outside modules
-- op_name     VARCHAR  of kernels, the op; NULL when linked to no op
-- type        VARCHAR  of kernels, their type; NULL when it is not known
-- phase       VARCHAR  phase of the passes of a server, as in pass.instance; NULL when not known, and outside passes
-- total_ns    BIGINT   the time of this part, ns
WITH timed_finding AS (
    SELECT finding.*, coalesce(counted_time.time, 'kernels') AS time
    FROM advice.finding_of_run AS finding
    LEFT JOIN advice.counted_time USING (rule)
),
work AS (
    SELECT
        rank_id,
        module,
        op_name,
        type,
        role,
        multiplies,
        data_type,
        phase,
        sum(duration_ns)::BIGINT AS total_ns
    FROM kernels.work
    GROUP BY ALL
),
part_of_chain AS (
    SELECT DISTINCT module, unnest(string_split(parts, ', ')) AS name
    FROM chain.cost
),
-- The kernels that a finding is about, by module, op and type.
of_kernels AS (
    SELECT timed_finding.finding_id, timed_finding.rank_id AS on_rank, work.*
    FROM timed_finding
    JOIN work
        ON work.module IS NOT DISTINCT FROM timed_finding.module
        AND CASE timed_finding.rule
            WHEN 'format_conversion' THEN coalesce(work.role <> 'type conversion', false)
            WHEN 'unfused_chain'
                THEN (work.module, coalesce(work.op_name, work.type)) IN (SELECT (module, name) FROM part_of_chain)
            WHEN 'full_precision'
                THEN if(
                    timed_finding.kernel_type IS NULL,
                    NOT work.multiplies AND work.role IS NULL AND work.data_type = 'fp32',
                    work.op_name IS NOT DISTINCT FROM timed_finding.op AND work.type = timed_finding.kernel_type
                )
            ELSE work.op_name IS NOT DISTINCT FROM timed_finding.op AND work.type IS NOT DISTINCT FROM timed_finding.kernel_type
        END
    WHERE timed_finding.time = 'kernels' AND timed_finding.rule NOT IN ('low_clock', 'recomputation', 'unlike_layer')
    UNION ALL
    -- Those about all kernels, or about all of a module, whose path may end in the number of a layer.
    SELECT timed_finding.finding_id, timed_finding.rank_id, work.*
    FROM timed_finding
    JOIN work
        ON timed_finding.module IS NULL
        OR (work.module IS NULL AND starts_with(timed_finding.module, 'layer '))
        OR starts_with(work.module, regexp_replace(timed_finding.module, '\[\d+\]$', ''))
    WHERE timed_finding.rule IN ('low_clock', 'recomputation', 'unlike_layer')
),
exposed AS (
    SELECT
        rank_id,
        if(module IS NULL, NULL, concat_ws('/', nullif(parent_module, ''), module)) AS module,
        op,
        type,
        phase,
        sum(exposed_ns)::BIGINT AS total_ns
    FROM communication.exposed
    GROUP BY ALL
),
-- Those of a finding that names no module, op or type are all.
of_transfers AS (
    SELECT timed_finding.finding_id, timed_finding.rank_id AS on_rank, exposed.rank_id, exposed.phase, exposed.total_ns
    FROM timed_finding
    JOIN exposed
        ON coalesce(exposed.module = timed_finding.module, timed_finding.module IS NULL)
        AND coalesce(exposed.op = timed_finding.op, timed_finding.op IS NULL)
        AND coalesce(exposed.type = timed_finding.kernel_type, timed_finding.kernel_type IS NULL)
    WHERE timed_finding.time = 'transfers'
),
threshold AS (
    SELECT max(value) AS long_ns
    FROM advice.threshold
    WHERE rule = 'launch_bound' AND name = 'long_ns'
),
-- Each part of the idle time that the host causes has one rule, by the work of the host.
idle AS (
    SELECT
        cause.rank_id,
        CASE
            WHEN cause.work IN ('compile', 'load code') THEN 'op_compilation'
            WHEN cause.work = 'collect garbage' THEN 'garbage_collection'
            WHEN cause.work = 'allocate' THEN 'allocator_stall'
            WHEN cause.work = 'load data' THEN 'data_loading'
            WHEN cause.work = 'copy' THEN 'host_copy'
            WHEN cause.work = 'synchronise' THEN 'synchronise'
            WHEN cause.work = 'launch' THEN 'launch_bound'
            WHEN cause.work = 'between ops' THEN if(cause.decade_ns < threshold.long_ns, 'launch_bound', 'python_between_ops')
        END AS rule,
        cause.module,
        cause.op,
        cause.phase,
        sum(cause.total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op AS cause
    CROSS JOIN threshold
    WHERE cause.work IS NOT NULL
    GROUP BY ALL
),
-- Rules about passes say of which.
rule_of_passes AS (
    SELECT 'pass_gaps' AS rule, title, rank_id, phase, time_ns AS total_ns
    FROM advice.pass_gaps
    UNION ALL
    SELECT 'host_sampling', rule.title, time.rank_id, time.phase, choice.choice_ns
    FROM advice.host_sampling AS rule
    JOIN pass.time ON time.profile = rule.profile
    JOIN pass.choice ON choice.profile = time.profile AND choice.pass_id = time.pass_id
    WHERE time.is_steady
    UNION ALL
    SELECT 'small_prefill_chunks', title, rank_id, phase, time_ns
    FROM advice.small_prefill_chunks
    UNION ALL
    SELECT 'graph_padding', title, rank_id, 'decode', time_ns
    FROM advice.graph_padding
    UNION ALL
    SELECT 'dummy_passes', title, rank_id, 'dummy', time_ns
    FROM advice.dummy_passes
),
of_passes AS (
    SELECT timed_finding.finding_id, timed_finding.rank_id AS on_rank, rule.rank_id, rule.phase, rule.total_ns
    FROM timed_finding
    JOIN rule_of_passes AS rule ON rule.rule = timed_finding.rule AND rule.title = timed_finding.title
),
of_idle AS (
    SELECT timed_finding.finding_id, timed_finding.rank_id AS on_rank, idle.rank_id, idle.phase, idle.total_ns
    FROM timed_finding
    JOIN idle
        ON coalesce(idle.module = timed_finding.module, timed_finding.module IS NULL)
        AND coalesce(idle.op = timed_finding.op, timed_finding.op IS NULL)
    WHERE (timed_finding.time = 'idle' OR timed_finding.time = 'host' AND idle.rule = timed_finding.rule)
      AND timed_finding.rule NOT IN (SELECT rule FROM rule_of_passes)
),
found AS (
    SELECT finding_id, on_rank, rank_id, module, op_name, type, phase, total_ns
    FROM of_kernels
    UNION ALL BY NAME
    FROM of_transfers
    UNION ALL BY NAME
    FROM of_idle
    UNION ALL BY NAME
    FROM of_passes
)
SELECT finding_id, module, op_name, type, phase, sum(total_ns)::BIGINT AS total_ns
FROM found
WHERE coalesce(rank_id = on_rank, true)
GROUP BY ALL
ORDER BY ALL
