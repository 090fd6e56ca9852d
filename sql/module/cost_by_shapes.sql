-- One row is a module path, an op directly in it, and the type and input shapes of kernels that the op launched.
--
-- @columns path_id to type as in module.cost
-- input_shapes    VARCHAR  their input shapes, tensors split by ';'; NULL when not recorded
-- call_count      BIGINT   calls of the op
-- kernel_count    BIGINT   kernels
-- duration_ns     BIGINT   their time, ns
-- known_flops     HUGEINT  FLOPs of the kernels with known FLOPs and peak; NULL without any
-- possible_flops  HUGEINT  FLOPs that the device can do in the time of these kernels, in thousandths; NULL without any
-- @columns compute_ns to wait_ns as in pmu.by_level
WITH kernel_group AS (
    SELECT
        kernel.path_id,
        kernel.op_name_id,
        kernel.kind,
        kernel.type_id,
        kernel.input_shapes_id,
        count(DISTINCT kernel.op_id) AS call_count,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns,
        sum(judged.known_flops)::HUGEINT AS known_flops,
        sum(judged.possible_flops)::HUGEINT AS possible_flops,
        coalesce(sum(kernel.duration_ns) FILTER (bound.bound = 'compute'), 0)::BIGINT AS compute_ns,
        coalesce(sum(kernel.duration_ns) FILTER (bound.bound = 'memory'), 0)::BIGINT AS memory_ns,
        coalesce(sum(kernel.duration_ns) FILTER (bound.bound = 'on chip'), 0)::BIGINT AS on_chip_ns,
        coalesce(sum(kernel.duration_ns) FILTER (bound.bound = 'scalar'), 0)::BIGINT AS scalar_ns,
        coalesce(sum(kernel.duration_ns) FILTER (bound.bound = 'wait'), 0)::BIGINT AS wait_ns
    FROM module.kernel
    LEFT JOIN mfu.judged USING (kernel_id)
    LEFT JOIN pmu.bound USING (kernel_id)
    WHERE kernel.path_id IS NOT NULL
    GROUP BY kernel.path_id, kernel.op_name_id, kernel.kind, kernel.type_id, kernel.input_shapes_id
)
SELECT
    path_id,
    path.parent_module,
    path.module,
    op_name.text AS op_name,
    kind,
    type.text AS type,
    input_shapes.text AS input_shapes,
    call_count,
    kernel_count,
    duration_ns,
    known_flops,
    possible_flops,
    compute_ns,
    memory_ns,
    on_chip_ns,
    scalar_ns,
    wait_ns
FROM kernel_group
JOIN module.path USING (path_id)
LEFT JOIN trace.string AS op_name ON op_name.text_id = op_name_id
LEFT JOIN trace.string AS type ON type.text_id = type_id
LEFT JOIN trace.string AS input_shapes ON input_shapes.text_id = input_shapes_id
