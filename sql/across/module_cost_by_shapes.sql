-- One row is a module path, an op directly in it, and the type and input shapes of kernels that the op launched, over all
-- ranks, the longest time first.
--
-- @columns parent_module to type as in across.module_cost
-- input_shapes   VARCHAR  their input shapes, tensors split by ';'; NULL when not recorded
-- call_count     BIGINT   calls of the op
-- kernel_count   BIGINT   kernels
-- duration_ns    BIGINT   their time, ns
-- efficiency     DOUBLE   how well these kernels used the cube cores while they ran, as in across.mfu; NULL without known FLOPs
-- bound          VARCHAR  what bounds most of the time: compute, memory, on chip, scalar or wait, as in pmu.bound; NULL when
--                         not known
WITH summed_cost AS (
    SELECT
        parent_module,
        module,
        op_name,
        kind::VARCHAR AS kind,
        type,
        trim(input_shapes, '"') AS input_shapes,
        sum(call_count)::BIGINT AS call_count,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(known_flops) AS known_flops,
        sum(possible_flops) AS possible_flops,
        sum(compute_ns) AS compute_ns,
        sum(memory_ns) AS memory_ns,
        sum(on_chip_ns) AS on_chip_ns,
        sum(scalar_ns) AS scalar_ns,
        sum(wait_ns) AS wait_ns
    FROM module.cost_by_shapes
    GROUP BY ALL
)
SELECT
    parent_module,
    module,
    op_name,
    kind,
    type,
    input_shapes,
    call_count,
    kernel_count,
    duration_ns,
    known_flops * 1000 / nullif(possible_flops, 0) AS efficiency,
    longest_bound(compute_ns, memory_ns, on_chip_ns, scalar_ns, wait_ns) AS bound
FROM summed_cost
ORDER BY duration_ns DESC, parent_module, module, op_name, kind, type, input_shapes
