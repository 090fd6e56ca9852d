-- One row is a kernel and its share of the FLOPs that a range recorded.
--
-- @guard mfu.recorded_range
--
-- kernel_id   BIGINT   a kernel of mfu.cube_kernel
-- range_id    BIGINT   the innermost range of mfu.recorded_range around the kernel's op, or its launch outside any op, on their
--                      thread
-- flops       BIGINT   its share: the FLOPs of the range are divided by time, without a remainder
-- flops_name  VARCHAR  the recorded operation
--
-- Where a kernel of the range has a type that multiplies matrices, only such kernels get
-- a share; else all on cube cores that do more than move or convert.
WITH RECURSIVE launched_kernel AS (
    SELECT cube_kernel.kernel_id, op.tid, op.start_ns, op.end_ns
    FROM mfu.cube_kernel
    JOIN module.kernel_op USING (kernel_id)
    JOIN trace.op ON op.op_id = kernel_op.host_op_id
    UNION ALL
    SELECT cube_kernel.kernel_id, bare_launch.tid, bare_launch.start_ns, bare_launch.end_ns
    FROM mfu.cube_kernel
    JOIN trace.kernel USING (kernel_id)
    JOIN module.bare_launch USING (launch_id)
    LEFT JOIN module.kernel_op USING (kernel_id)
    WHERE kernel_op.host_op_id IS NULL
),
ordered_range AS (
    SELECT
        range_id,
        tid,
        start_ns,
        end_ns,
        row_number() OVER on_thread AS position,
        max(end_ns) OVER (on_thread ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_before_ns
    FROM mfu.recorded_range
    WINDOW on_thread AS (PARTITION BY tid ORDER BY start_ns, end_ns DESC, range_id)
),
last_started AS (
    SELECT tid, start_ns, max(position) AS position
    FROM ordered_range
    GROUP BY tid, start_ns
),
-- The range around an op is the last one that started before it, or an earlier one: the walk goes back as long as some
-- earlier range reaches so far. Recorded ranges do not nest, so the walk is short.
walk AS (
    SELECT
        launched_kernel.kernel_id,
        launched_kernel.tid,
        launched_kernel.start_ns,
        launched_kernel.end_ns,
        last_started.position
    FROM launched_kernel
    ASOF JOIN last_started ON last_started.tid = launched_kernel.tid AND last_started.start_ns <= launched_kernel.start_ns
    UNION ALL
    SELECT walk.kernel_id, walk.tid, walk.start_ns, walk.end_ns, walk.position - 1
    FROM walk
    JOIN ordered_range AS range USING (tid, position)
    WHERE NOT covers(range.end_ns, walk.start_ns, walk.end_ns) AND covers(range.reached_before_ns, walk.start_ns, walk.end_ns)
),
enclosed_kernel AS (
    SELECT walk.kernel_id, range.range_id
    FROM walk
    JOIN ordered_range AS range USING (tid, position)
    WHERE covers(range.end_ns, walk.start_ns, walk.end_ns)
),
typed_kernel AS (
    SELECT
        enclosed_kernel.*,
        cube_kernel.duration_ns,
        shape.family IS NOT NULL AS has_formula,
        bool_or(shape.family IS NOT NULL) OVER (PARTITION BY enclosed_kernel.range_id) AS range_has_formula,
        -- Knows memset: formulas are of operators, which have names.
        coalesce(regexp_matches(type.text, '(?i)^(trans|cast|memset|tensormove|slice|concat)'), false) AS only_moves
    FROM enclosed_kernel
    JOIN mfu.cube_kernel USING (kernel_id)
    JOIN mfu.shape USING (shape_id)
    LEFT JOIN trace.string AS type ON type.text_id = shape.type_id
),
sharing_kernel AS (
    SELECT
        kernel_id,
        range_id,
        duration_ns,
        sum(duration_ns) OVER (PARTITION BY range_id) AS all_ns,
        sum(duration_ns) OVER (PARTITION BY range_id ORDER BY kernel_id ROWS UNBOUNDED PRECEDING) AS until_ns
    FROM typed_kernel
    WHERE has_formula OR NOT (range_has_formula OR only_moves)
)
SELECT
    sharing_kernel.kernel_id,
    sharing_kernel.range_id,
    part_of(range.flops, duration_ns, until_ns, all_ns) AS flops,
    range.flops_name
FROM sharing_kernel
JOIN mfu.recorded_range AS range USING (range_id)
WHERE range.flops IS NOT NULL AND all_ns > 0
