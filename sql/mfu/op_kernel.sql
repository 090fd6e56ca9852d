-- One row is a kernel that shares the FLOPs of an op, or whose name says that it multiplies matrices, in a rank whose kernels
-- have no shapes of their own.
--
-- @guard trace.op_input
--
-- kernel_id        BIGINT   a kernel of trace.kernel
-- shape_id         BIGINT   its description: kernels that agree in all columns from name_id to reason have the same one
-- op_id            BIGINT   the op of trace.op or trace.replayed_op whose FLOPs it shares; NULL where it shares none
-- name_id          TEXT_ID  name of the op whose FLOPs it shares; NULL where it shares none
-- input_shapes_id  TEXT_ID  input shapes of that op; NULL when not recorded
-- input_types_id   TEXT_ID  input types of that op; NULL when not recorded
-- input_values_id  TEXT_ID  inputs of that op that are no tensors; NULL when not recorded
-- fp32_as          VARCHAR  the data type in which the op multiplies FP32, as in trace.kernel; NULL when it is not known
-- reason           VARCHAR  why it shares none; NULL where it does
-- until_ns         BIGINT   time of the kernels of the op up to this one in the order of their starts, ns
-- all_ns           BIGINT   time of all kernels that share the FLOPs of the op, ns
--
-- The FLOPs of an op belong to the kernels that it, or an op inside it, launched: to those
-- whose names say that they multiply matrices; where no name does, to all. An op around another one that counts does not count.
-- Around the ops of a replayed graph is the op that launched the graph.
WITH RECURSIVE launched_kernel AS (
    SELECT
        kernel.kernel_id,
        kernel_op.op_id,
        kernel.model_id,
        kernel.start_ns,
        kernel.duration_ns,
        coalesce(kernel.engine IN ('matrix', 'matrix and vector'), false) AS is_matrix,
        kernel.fp32_as
    FROM trace.kernel
    LEFT JOIN module.kernel_op USING (kernel_id)
    WHERE kernel.kind = 'compute'
),
enclosed AS (
    SELECT op_id, parent_id
    FROM op.parent
    WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT replayed_op.op_id, coalesce(replayed_op.parent_id, replay.op_id)
    FROM trace.replayed_op
    LEFT JOIN module.replay USING (launch_id)
),
around AS (
    SELECT DISTINCT op_id, op_id AS around_id, 0 AS level
    FROM launched_kernel
    WHERE op_id IS NOT NULL
    UNION ALL
    SELECT around.op_id, enclosed.parent_id, around.level + 1
    FROM around
    JOIN enclosed ON enclosed.op_id = around.around_id
    WHERE enclosed.parent_id IS NOT NULL
),
named_op AS (
    SELECT op_id, name_id
    FROM trace.op
    UNION ALL
    SELECT op_id, name_id
    FROM trace.replayed_op
    WHERE input_shapes_id IS NOT NULL
),
-- The ops with a formula around each op that launched kernels, itself included.
op_of_form AS (
    SELECT
        around.op_id,
        around.around_id,
        named_op.name_id,
        around.level,
        min(around.level) OVER (PARTITION BY around.op_id) AS innermost
    FROM around
    JOIN named_op ON named_op.op_id = around.around_id
    SEMI JOIN mfu.op_form ON op_form.name_id = named_op.name_id
),
outer_op AS (
    SELECT DISTINCT around_id AS op_id
    FROM op_of_form
    WHERE level > innermost
),
of_op AS (
    SELECT
        launched_kernel.kernel_id,
        op_of_form.around_id AS counted_id,
        op_of_form.name_id AS counted_name_id,
        outer_op.op_id IS NOT NULL AS is_outer,
        launched_kernel.op_id,
        launched_kernel.model_id,
        launched_kernel.start_ns,
        launched_kernel.duration_ns,
        launched_kernel.is_matrix,
        bool_or(launched_kernel.is_matrix) OVER (PARTITION BY op_of_form.around_id) AS has_matrix,
        launched_kernel.fp32_as
    FROM launched_kernel
    LEFT JOIN op_of_form ON op_of_form.op_id = launched_kernel.op_id AND op_of_form.level = op_of_form.innermost
    LEFT JOIN outer_op ON outer_op.op_id = op_of_form.around_id
),
sharing_kernel AS (
    SELECT
        kernel_id,
        counted_id,
        counted_name_id,
        CASE WHEN count(DISTINCT fp32_as) OVER of_counted = 1 THEN min(fp32_as) OVER of_counted END AS fp32_as,
        sum(duration_ns) OVER (PARTITION BY counted_id ORDER BY start_ns, kernel_id ROWS UNBOUNDED PRECEDING) AS until_ns,
        sum(duration_ns) OVER of_counted AS all_ns
    FROM of_op
    WHERE counted_id IS NOT NULL AND NOT is_outer AND (is_matrix OR NOT has_matrix)
    WINDOW of_counted AS (PARTITION BY counted_id)
),
described_kernel AS (
    SELECT
        sharing_kernel.kernel_id,
        sharing_kernel.counted_id AS op_id,
        sharing_kernel.counted_name_id AS name_id,
        op_input.input_shapes_id,
        op_input.input_types_id,
        op_input.input_values_id,
        sharing_kernel.fp32_as::VARCHAR AS fp32_as,
        NULL AS reason,
        sharing_kernel.until_ns::BIGINT AS until_ns,
        sharing_kernel.all_ns::BIGINT AS all_ns
    FROM sharing_kernel
    LEFT JOIN trace.op_input ON op_input.op_id = sharing_kernel.counted_id
    UNION ALL BY NAME
    SELECT
        of_op.kernel_id,
        CASE
            WHEN of_op.is_outer THEN 'the FLOPs of its op are those of the ops inside it'
            WHEN replayed_op.input_shapes_id IS NOT NULL
                THEN 'there is no formula for the op ' || coalesce(replayed_name.text[:60], '(name lost)')
            WHEN replayed_op.op_id IS NOT NULL THEN 'a replay ran the op ' || coalesce(replayed_name.text[:60], '(name lost)')
                || ', whose shapes are not recorded'
            WHEN op.op_id IS NOT NULL THEN 'there is no formula for the op ' || coalesce(name.text[:60], '(name lost)')
            WHEN of_op.model_id IS NOT NULL THEN 'no op launched it, but the replay of a graph'
            ELSE 'no op in the profile launched it'
        END AS reason
    FROM of_op
    LEFT JOIN trace.op ON op.op_id = of_op.op_id
    LEFT JOIN trace.string AS name ON name.text_id = op.name_id
    LEFT JOIN trace.replayed_kernel ON replayed_kernel.kernel_id = of_op.kernel_id
    LEFT JOIN trace.replayed_op ON replayed_op.op_id = replayed_kernel.op_id AND replayed_op.is_op
    LEFT JOIN trace.string AS replayed_name ON replayed_name.text_id = replayed_op.name_id
    WHERE of_op.is_matrix AND (of_op.counted_id IS NULL OR of_op.is_outer)
)
SELECT
    kernel_id,
    dense_rank() OVER (
        ORDER BY name_id, input_shapes_id, input_types_id, input_values_id, fp32_as, reason
    ) AS shape_id,
    op_id,
    name_id,
    input_shapes_id,
    input_types_id,
    input_values_id,
    fp32_as,
    reason,
    until_ns,
    all_ns
FROM described_kernel
