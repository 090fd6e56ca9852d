-- One row is an op at its position in a module, merged over all calls of the module's path that run the same sequence of ops,
-- with the suffix that distinguishes variants, and with ids instead of texts.
--
-- position       BIGINT    order of the rows: by the first op, then by the position in the module
-- path_id        BIGINT    a path of module.path
-- suffix         VARCHAR   _0, _1, ... where consecutive rows of one module come from calls that run different ops; else ''
-- name_id        TEXT_ID   the op that launched the kernels
-- kernel_ids     BIGINT[]  names of the kernels, ids of trace.string: compute, communication (types), copy, schedule,
--                          each by start
-- duration_ns    BIGINT    kernel time of all calls, ns
-- op_count       BIGINT    calls
-- first_op_id    BIGINT    the first of the ops, an op of trace.op
-- avg_mfu        VARCHAR   mean MFU over the calls, for each kernel, such as 0.14%,1.42%; NULL where no kernel has one
-- peer_avg_mfu   VARCHAR   the same by the definition of msprof-analyze 8.3
WITH listed_kernel AS NOT MATERIALIZED (
    -- Materialized, it would take 90 MB for a million kernels and save no time.
    SELECT *, CASE kind WHEN 'communication' THEN type_id ELSE name_id END AS listed_id
    FROM module.kernel
    WHERE instance_id IS NOT NULL
),
-- All kernels of an op have the same call, path, name and times. min() passes them on, since grouping by all of them, or
-- joining them again, takes 0.4 s of CPU more for a million kernels.
launching_op AS (
    SELECT
        op_id,
        min(instance_id) AS instance_id,
        min(path_id) AS path_id,
        min(op_name_id) AS name_id,
        min(op_start_ns) AS start_ns,
        min(op_end_ns) AS end_ns,
        sum(duration_ns)::BIGINT AS duration_ns,
        count(*) AS kernel_count,
        min(listed_id) AS listed_id
    FROM listed_kernel
    GROUP BY op_id
),
-- Most ops launch one kernel, which needs no ordering: for 1 million kernels this table takes 1.5 s of CPU, without this 2.1 s.
several_kernels AS (
    SELECT op_id, list(listed_id ORDER BY kind, start_ns, kernel_id) AS kernel_ids
    FROM listed_kernel
    SEMI JOIN (SELECT op_id FROM launching_op WHERE kernel_count > 1) AS several USING (op_id)
    GROUP BY op_id
),
op_in_call AS (
    SELECT
        launching_op.*,
        coalesce(several_kernels.kernel_ids, [launching_op.listed_id]) AS kernel_ids,
        row_number() OVER (PARTITION BY instance_id ORDER BY start_ns, end_ns DESC, op_id) AS op_order
    FROM launching_op
    LEFT JOIN several_kernels USING (op_id)
),
-- The ops of a call in order. Calls with equal sequences share the rank of the first of them. Two sums of hashes represent a
-- sequence: 128 bits, which two sequences share by chance once in 10^38. They take 1.2 s of CPU, lists 1.5 s.
sequence AS (
    SELECT
        instance_id,
        (count(*), sum(hash(op_order, name_id)::HUGEINT), sum(hash(name_id, op_order)::HUGEINT)) AS ops,
        min(start_ns) AS first_op_ns
    FROM op_in_call
    GROUP BY instance_id
),
numbered_sequence AS (
    SELECT instance_id, ops, row_number() OVER (ORDER BY interval.start_ns, first_op_ns, instance_id) AS position
    FROM sequence
    JOIN module.interval ON interval.interval_id = instance_id
),
ranked_sequence AS (
    SELECT instance_id, min(position) OVER (PARTITION BY ops) AS sequence_rank
    FROM numbered_sequence
),
-- The MFU of the kernel of an op that launched one, and of the kernels of an op that launched several. They join the ops late:
-- carried through the steps above, they would cost 0.3 s of CPU more.
rated_op AS (
    SELECT kernel.op_id, min(utilisation.ratio) AS ratio, min(utilisation.peer_ratio) AS peer_ratio
    FROM mfu.type_utilisation AS utilisation
    JOIN module.kernel USING (kernel_id)
    ANTI JOIN several_kernels ON several_kernels.op_id = kernel.op_id
    GROUP BY kernel.op_id
),
rated_kernels AS (
    SELECT
        op_id,
        list(utilisation.ratio ORDER BY kind, start_ns, kernel_id) AS ratios,
        list(utilisation.peer_ratio ORDER BY kind, start_ns, kernel_id) AS peer_ratios
    FROM listed_kernel
    SEMI JOIN several_kernels USING (op_id)
    LEFT JOIN mfu.type_utilisation AS utilisation USING (kernel_id)
    GROUP BY op_id
    HAVING count(utilisation.kernel_id) > 0
),
merged_row AS (
    SELECT
        path_id,
        name_id,
        op_order,
        kernel_ids,
        sequence_rank,
        sum(duration_ns)::BIGINT AS duration_ns,
        count(*) AS op_count,
        min(start_ns) AS first_start_ns,
        arg_min(op_id, (start_ns, op_id)) AS first_op_id,
        coalesce(
            percent(sum(ratio) / count(ratio)), mean_percents(list(ratios) FILTER (ratios IS NOT NULL))
        ) AS avg_mfu,
        coalesce(
            percent(sum(peer_ratio) / count(peer_ratio)), mean_percents(list(peer_ratios) FILTER (peer_ratios IS NOT NULL))
        ) AS peer_avg_mfu
    FROM op_in_call
    JOIN ranked_sequence USING (instance_id)
    LEFT JOIN rated_op USING (op_id)
    LEFT JOIN rated_kernels USING (op_id)
    GROUP BY path_id, name_id, op_order, kernel_ids, sequence_rank
),
ordered_row AS (
    SELECT *, row_number() OVER (ORDER BY first_start_ns, op_order, path_id, sequence_rank, name_id, kernel_ids) AS position
    FROM merged_row
),
-- Rows of one module with no row of another in between are a block; within a block, a suffix distinguishes variants.
in_block AS (
    SELECT *, position - row_number() OVER (PARTITION BY path_id ORDER BY position) AS block
    FROM ordered_row
),
variant AS (
    SELECT *, dense_rank() OVER (PARTITION BY path_id, block ORDER BY sequence_rank) - 1 AS variant
    FROM in_block
)
SELECT
    position,
    path_id,
    CASE WHEN max(variant) OVER (PARTITION BY path_id, block) > 0 THEN '_' || variant ELSE '' END AS suffix,
    name_id,
    kernel_ids,
    duration_ns,
    op_count,
    first_op_id,
    avg_mfu,
    peer_avg_mfu
FROM variant
ORDER BY position
