-- One row is a grouped matmul, in the order of each step, and the collective that follows it.
--
-- @guard trace.grouped_matmul
--
-- kernel_id        BIGINT   a kernel of trace.grouped_matmul
-- step_id          BIGINT   its step, as in kernels.step; NULL when it is of no step, and without steps
-- position         BIGINT   how many grouped matmuls of the step began before it, and 1
-- module           VARCHAR  path of its module; NULL outside modules
-- start_ns         BIGINT   start, Unix ns
-- duration_ns      BIGINT   end - start
-- row_count        BIGINT   rows that its experts share, as in experts.shape; NULL when not known
-- expert_count     BIGINT   experts, as in experts.shape; NULL when not known
-- input_shapes_id  TEXT_ID  shapes by which experts.shape describes it; NULL when not recorded
-- next_name        VARCHAR  name of the collective that began next after its end, before the next grouped matmul; NULL without
--                           one, or it has no name
-- next_group_name  VARCHAR  group of ranks of that collective; NULL when not recorded
-- next_id          BIGINT   that collective, a kernel of trace.kernel; NULL without one
-- next_elapse_ns   BIGINT   time of that collective, ns; NULL without one
WITH called_kernel AS (
    SELECT
        kernel.kernel_id,
        step.step_id,
        kernel.start_ns,
        kernel.end_ns,
        kernel.duration_ns,
        kernel.output_shapes_id,
        kernel_op.op_id,
        coalesce(kernel.input_shapes_id, if(op_form.name_id IS NULL, NULL, op.input_shapes_id)) AS input_shapes_id
    FROM trace.grouped_matmul
    JOIN trace.kernel USING (kernel_id)
    LEFT JOIN kernels.step USING (kernel_id)
    LEFT JOIN module.kernel_op USING (kernel_id)
    LEFT JOIN trace.op ON op.op_id = kernel_op.op_id
    LEFT JOIN mfu.op_form ON op_form.name_id = op.name_id AND op_form.form = 'grouped product'
    WHERE getvariable('step_id') IS NULL OR step.step_id = getvariable('step_id')
),
placed_call AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY step_id ORDER BY start_ns, kernel_id) AS position,
        lead(start_ns) OVER (ORDER BY start_ns, kernel_id) AS next_start_ns
    FROM called_kernel
),
collective AS (
    SELECT
        communication.short_name AS name,
        string.text AS group_name,
        kernel.kernel_id,
        kernel.start_ns,
        kernel.duration_ns
    FROM trace.kernel
    JOIN trace.communication USING (kernel_id)
    LEFT JOIN trace.string ON string.text_id = communication.group_name_id
    WHERE kernel.kind = 'communication' AND kernel.direction IS NULL
),
next_collective AS (
    SELECT start_ns, arg_min(struct_pack(name, group_name, kernel_id, duration_ns), (name, group_name, kernel_id)) AS one
    FROM collective
    WHERE name IS NOT NULL
    GROUP BY start_ns
),
followed_call AS (
    SELECT placed_call.kernel_id, next_collective.one
    FROM placed_call
    ASOF JOIN next_collective ON next_collective.start_ns >= placed_call.end_ns
    WHERE next_collective.start_ns < coalesce(placed_call.next_start_ns, next_collective.start_ns + 1)
)
SELECT
    placed_call.kernel_id,
    placed_call.step_id,
    placed_call.position,
    path_of_module(kernel.parent_module, kernel.module) AS module,
    placed_call.start_ns,
    placed_call.duration_ns,
    shape.row_count,
    shape.expert_count,
    placed_call.input_shapes_id,
    followed_call.one.name AS next_name,
    followed_call.one.group_name AS next_group_name,
    followed_call.one.kernel_id AS next_id,
    followed_call.one.duration_ns AS next_elapse_ns
FROM placed_call
LEFT JOIN module.kernel USING (kernel_id)
LEFT JOIN experts.shape
    ON shape.input_shapes_id = placed_call.input_shapes_id
    AND shape.output_shapes_id IS NOT DISTINCT FROM placed_call.output_shapes_id
LEFT JOIN followed_call USING (kernel_id)
ORDER BY placed_call.start_ns, placed_call.kernel_id
