-- One row is a kernel and its share of the FLOPs that a range recorded.
--
-- kernel_id   BIGINT   a kernel of mfu.cube_kernel
-- range_id    BIGINT   the range of mfu.recorded_range, the innermost around the kernel's op on the op's thread
-- flops       BIGINT   its share: the FLOPs of the range are shared out by time, to the last one
-- flops_name  VARCHAR  what was called
--
-- Only when mfu.recorded_range has rows. Where a kernel of the range has a type that multiplies matrices, only such kernels
-- share; else those on cube cores that do not just move or convert.
WITH worked AS (
    SELECT cube_kernel.kernel_id, arg_max(range.range_id, (range.start_ns, -range.end_ns, range.range_id)) AS range_id
    FROM mfu.cube_kernel
    JOIN module.link USING (kernel_id)
    JOIN trace.op USING (op_id)
    JOIN mfu.recorded_range AS range
        ON range.tid = op.tid
        AND range.start_ns <= op.start_ns
        AND range.end_ns + getvariable('nesting_tolerance_ns') >= op.end_ns
    GROUP BY cube_kernel.kernel_id
),
typed AS (
    SELECT
        worked.*,
        cube_kernel.duration_ns,
        shape.family IS NOT NULL AS has_formula,
        bool_or(shape.family IS NOT NULL) OVER (PARTITION BY worked.range_id) AS range_has_formula,
        coalesce(regexp_matches(type.text, '(?i)^(trans|cast|memset|tensormove|slice|concat)'), false) AS only_moves
    FROM worked
    JOIN mfu.cube_kernel USING (kernel_id)
    JOIN mfu.shape USING (shape_id)
    LEFT JOIN trace.string AS type ON type.text_id = shape.type_id
),
sharing AS (
    SELECT
        kernel_id,
        range_id,
        duration_ns,
        sum(duration_ns) OVER (PARTITION BY range_id) AS all_ns,
        sum(duration_ns) OVER (PARTITION BY range_id ORDER BY kernel_id ROWS UNBOUNDED PRECEDING) AS until_ns
    FROM typed
    WHERE has_formula OR NOT (range_has_formula OR only_moves)
)
SELECT
    sharing.kernel_id,
    sharing.range_id,
    (range.flops * until_ns // all_ns - range.flops * (until_ns - duration_ns) // all_ns)::BIGINT AS flops,
    range.flops_name
FROM sharing
JOIN mfu.recorded_range AS range USING (range_id)
WHERE range.flops IS NOT NULL AND all_ns > 0
