-- One row is a phase of passes of a server, and a type and core of compute kernels in it: the sums of which their rates follow.
--
-- @guard pass.kernel
--
-- phase         VARCHAR  as in pass.kernel_phase
-- type_id       TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- core_id       TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC
-- @columns kernel_count, total_ns, memory_gb_s to placed_ns as in kernels.by_category
WITH chip AS (
    SELECT product
    FROM trace.chip
),
known_product AS (
    SELECT product, pattern, memory_gb_s
    FROM roofline.product
),
memory AS (
    SELECT memory_gb_s
    FROM memory_of_device(chip, known_product)
),
kernel AS (
    SELECT
        {'phase': kernel_phase.phase, 'type_id': selected.type_id, 'core_id': selected.core_id} AS category,
        selected.duration_ns,
        judged.flops,
        judged.known_flops,
        judged.possible_flops,
        moved.bytes
    FROM kernels.selected
    JOIN pass.kernel_phase USING (kernel_id)
    LEFT JOIN mfu.judged ON judged.kernel_id = selected.kernel_id
    LEFT JOIN roofline.moved ON moved.kernel_id = selected.kernel_id
    WHERE selected.kind = 'compute'
)
SELECT
    unnest(category),
    kernel_count,
    total_ns,
    memory_gb_s,
    flops,
    flops_ns,
    known_flops,
    possible_flops,
    bytes,
    bytes_ns,
    placed_flops,
    possible_placed_flops,
    placed_bytes,
    placed_ns
FROM sums_of_kernels(kernel, memory)
