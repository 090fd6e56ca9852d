-- One row is an op at its place in a module: all calls of the module's path that run the same sequence of ops are one, over
-- layers, steps and micro-batches. The columns, the merging, the order and the suffixes are those of msprof-analyze.
--
-- parent_module             VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                    VARCHAR  class name of the module, with [Backward] before it in the backward; variants of one module
--                                    that run different ops one after the other end in _0, _1, ...
-- op_name                   VARCHAR  the op that launched the kernels; NULL when the profile lost its name
-- kernel_list               VARCHAR  names of the kernels it launched, joined by ', ': compute, then communication (by type),
--                                    then schedule, each by start
-- total_kernel_duration_ns  BIGINT   sum over all calls, ns
-- avg_kernel_duration_ns    DOUBLE   mean per call, ns
-- op_count                  BIGINT   calls
WITH launch AS (
    SELECT
        call_id,
        path_id,
        op_id,
        list(CASE kind WHEN 'communication' THEN type_id ELSE name_id END ORDER BY kind, start_ns, kernel_id) AS kernel_ids,
        sum(duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
    WHERE call_id IS NOT NULL
    GROUP BY call_id, path_id, op_id
),
placed AS (
    SELECT
        launch.*,
        op.name_id,
        op.start_ns,
        row_number() OVER (PARTITION BY call_id ORDER BY op.start_ns, op.end_ns DESC, op_id) AS op_order
    FROM launch
    JOIN trace.op USING (op_id)
),
-- The ops of a call in order. Calls with equal sequences share the rank of the first of them.
sequence AS (
    SELECT placed.call_id, list(placed.name_id ORDER BY op_order) AS name_ids, min(placed.start_ns) AS first_op_ns
    FROM placed
    GROUP BY placed.call_id
),
numbered_sequence AS (
    SELECT call_id, name_ids, row_number() OVER (ORDER BY call.start_ns, first_op_ns, call_id) AS position
    FROM sequence
    JOIN module.call USING (call_id)
),
ranked_sequence AS (
    SELECT call_id, min(position) OVER (PARTITION BY name_ids) AS sequence_rank
    FROM numbered_sequence
),
merged AS (
    SELECT
        path_id,
        name_id,
        op_order,
        kernel_ids,
        sequence_rank,
        sum(duration_ns)::BIGINT AS total_kernel_duration_ns,
        count(*) AS op_count,
        min(start_ns) AS first_start_ns
    FROM placed
    JOIN ranked_sequence USING (call_id)
    GROUP BY path_id, name_id, op_order, kernel_ids, sequence_rank
),
ordered AS (
    SELECT *, row_number() OVER (ORDER BY first_start_ns, op_order, path_id, sequence_rank, name_id, kernel_ids) AS position
    FROM merged
),
-- Rows of one module with no row of another in between are a block; within a block, variants are told apart by a suffix.
in_block AS (
    SELECT *, position - row_number() OVER (PARTITION BY path_id ORDER BY position) AS block
    FROM ordered
),
variant AS (
    SELECT *, dense_rank() OVER (PARTITION BY path_id, block ORDER BY sequence_rank) - 1 AS variant
    FROM in_block
),
suffixed AS (
    SELECT
        *,
        CASE WHEN max(variant) OVER (PARTITION BY path_id, block) > 0 THEN '_' || variant ELSE '' END AS suffix
    FROM variant
),
kernel_name AS (
    SELECT position, string_agg(coalesce(string.text, '(name lost)'), ', ' ORDER BY part.ordinality) AS kernel_list
    FROM suffixed, unnest(kernel_ids) WITH ORDINALITY AS part (text_id, ordinality)
    LEFT JOIN trace.string ON string.text_id = part.text_id
    GROUP BY position
)
SELECT
    path.parent_module,
    path.module || suffixed.suffix AS module,
    op_name.text AS op_name,
    kernel_name.kernel_list,
    suffixed.total_kernel_duration_ns,
    suffixed.total_kernel_duration_ns / suffixed.op_count AS avg_kernel_duration_ns,
    suffixed.op_count
FROM suffixed
JOIN module.path USING (path_id)
JOIN kernel_name USING (position)
LEFT JOIN trace.string AS op_name ON op_name.text_id = suffixed.name_id
ORDER BY position
