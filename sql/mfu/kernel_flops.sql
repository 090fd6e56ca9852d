-- One row is a kernel that may multiply matrices, and its FLOPs from the most trusted source: the FLOPs recorded while it ran,
-- then the arguments of an attention with its shapes, then shapes alone, then those of attention with the lengths in the
-- annotation of a pass of a server; of an op with several such kernels, its share by time.
--
-- kernel_id          BIGINT   a kernel of mfu.cube_kernel
-- shape_id           BIGINT   its description in mfu.shape
-- device_id          BIGINT   device; NULL when not recorded
-- duration_ns        BIGINT   time, ns
-- flops              BIGINT   FLOPs; NULL when not known
-- peer_flops         BIGINT   flops; where they come from marks, as msprof-analyze counts them, as in mfu.marked_flops
-- padded_flops       BIGINT   FLOPs by its shapes with the padding of the format; NULL when not known
-- flops_upper_bound  BIGINT   where flops is NULL, an upper bound; NULL where that is unknown too
-- flops_source       VARCHAR  recorded, marks, shapes, padded shapes, op shapes or pass; NULL without flops
-- flops_name         VARCHAR  its name in the recording; NULL where nothing was recorded
-- reason             VARCHAR  why flops is NULL
--
-- For the grouped matmul with SwiGLU, torch_npu records all rows of the buffer, as in the shapes: this is not used.
WITH recorded AS (
    SELECT kernel_id, flops, flops_name
    FROM mfu.recorded
    WHERE NOT contains(lower(flops_name), 'swiglu')
),
by_shape AS (
    SELECT
        cube_kernel.*,
        shape_flops.source,
        shape_flops.reason,
        if(op_kernel.kernel_id IS NULL, shape_flops.padded_flops, NULL) AS padded_flops,
        if(
            op_kernel.kernel_id IS NULL,
            shape_flops.flops,
            part_of(shape_flops.flops, cube_kernel.duration_ns, until_ns, all_ns)
        ) AS flops,
        if(
            op_kernel.kernel_id IS NULL,
            shape_flops.flops_upper_bound,
            part_of(shape_flops.flops_upper_bound, cube_kernel.duration_ns, until_ns, all_ns)
        ) AS flops_upper_bound
    FROM mfu.cube_kernel
    JOIN mfu.shape_flops USING (shape_id)
    LEFT JOIN mfu.op_kernel USING (kernel_id)
)
SELECT
    by_shape.kernel_id,
    by_shape.shape_id,
    by_shape.device_id,
    by_shape.duration_ns,
    coalesce(recorded.flops, marked_flops.flops, by_shape.flops, served_attention.flops) AS flops,
    coalesce(recorded.flops, marked_flops.peer_flops, by_shape.flops, served_attention.flops) AS peer_flops,
    by_shape.padded_flops,
    if(recorded.flops IS NULL AND marked_flops.flops IS NULL, by_shape.flops_upper_bound, NULL) AS flops_upper_bound,
    CASE
        WHEN recorded.flops IS NOT NULL THEN 'recorded'
        WHEN marked_flops.flops IS NOT NULL THEN 'marks'
        WHEN by_shape.flops IS NULL AND served_attention.flops IS NOT NULL THEN 'pass'
        ELSE by_shape.source
    END AS flops_source,
    recorded.flops_name,
    CASE
        WHEN recorded.flops IS NULL AND marked_flops.flops IS NULL AND by_shape.flops IS NULL
            AND served_attention.flops IS NULL
            THEN coalesce(marked_flops.reason, served_attention.reason, by_shape.reason)
    END AS reason
FROM by_shape
LEFT JOIN recorded USING (kernel_id)
LEFT JOIN mfu.served_attention USING (kernel_id)
LEFT JOIN mfu.marked_kernel USING (kernel_id)
LEFT JOIN mfu.marked_flops
    ON marked_flops.shape_id = marked_kernel.shape_id
    AND marked_flops.message_id IS NOT DISTINCT FROM marked_kernel.message_id
