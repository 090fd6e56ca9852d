-- One row is a Python stack with the work of the ops that were called from it, or a reason why the stack of work is not known.
-- The kernel times of all rows add up to all kernel time of the rank, or of the chosen step.
--
-- stack_id     BIGINT   a stack of stack.every_frame; NULL when it is not known
-- reason       VARCHAR  why the stack is not known: 'gradient hooks' and for kernels without op as in module.kernel, else
--                       'op without stack'; NULL when it is known
-- is_backward  BOOLEAN  whether the stack is that of the forward op, as in stack.op; NULL when it is not known
-- is_chosen    BOOLEAN  whether it is work of a module that --module chooses; true without the option
-- kernel_count BIGINT   kernels
-- device_ns    BIGINT   their time, ns; overlapping kernels count fully
-- op_count     BIGINT   ops; without profiler steps
-- host_ns      BIGINT   their time on the host without that of the ops inside them, ns
WITH launched_kernel AS (
    SELECT kernel.kernel_id, coalesce(kernel_op.host_op_id, bare_launch.op_id) AS op_id
    FROM trace.kernel
    LEFT JOIN module.kernel_op USING (kernel_id)
    LEFT JOIN module.bare_launch ON bare_launch.launch_id = kernel.launch_id AND kernel_op.host_op_id IS NULL
),
part AS (
    SELECT
        stack.stack_id,
        CASE
            WHEN stack.stack_id IS NOT NULL THEN NULL
            WHEN kernel.location <> 'linked to no op' AND kernel.reason IS DISTINCT FROM 'gradient hooks'
                THEN 'op without stack'
            ELSE kernel.reason
        END AS reason,
        stack.is_backward,
        getvariable('module') IS NULL OR chosen_path.path_id IS NOT NULL AS is_chosen,
        count(*) AS kernel_count,
        sum(kernel.duration_ns) AS device_ns,
        0 AS op_count,
        0 AS host_ns
    FROM module.kernel
    JOIN launched_kernel USING (kernel_id)
    LEFT JOIN stack.op AS stack ON stack.op_id = launched_kernel.op_id
    LEFT JOIN stack.chosen_path ON chosen_path.path_id = kernel.path_id
    GROUP BY ALL
    UNION ALL
    SELECT
        stack.stack_id,
        if(stack.stack_id IS NULL, 'op without stack', NULL),
        stack.is_backward,
        getvariable('module') IS NULL OR op_of_module.op_id IS NOT NULL,
        0,
        0,
        count(*),
        sum(cost.host_self_ns)
    FROM trace.op
    JOIN op.cost USING (op_id)
    LEFT JOIN stack.op AS stack USING (op_id)
    LEFT JOIN stack.op_of_module USING (op_id)
    -- All pairs: periods of the chosen step are few.
    LEFT JOIN step.selected ON op.start_ns >= selected.start_ns AND op.start_ns < selected.end_ns
    WHERE NOT op.is_step AND (getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL)
    GROUP BY ALL
)
SELECT
    stack_id,
    reason,
    is_backward,
    is_chosen,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(device_ns)::BIGINT AS device_ns,
    sum(op_count)::BIGINT AS op_count,
    sum(host_ns)::BIGINT AS host_ns
FROM part
GROUP BY stack_id, reason, is_backward, is_chosen
