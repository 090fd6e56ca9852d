WITH replayed AS (
    FROM raw.replayed_kernel
),
kernel AS (
    FROM trace.kernel
),
replayed_kernel AS (
    FROM kernels_of_replays(replayed, kernel)
),
launch AS (
    FROM launches_of_replays(replayed_kernel)
)
SELECT
    replayed_op.op_id,
    launch.launch_id,
    replayed_op.tid,
    replayed_op.parent_id,
    replayed_op.name AS name_id,
    replayed_op.is_op,
    replayed_op.input_dims AS input_shapes_id,
    replayed_op.start_ns,
    replayed_op.end_ns
FROM raw.replayed_op
LEFT JOIN launch USING (tid)
