-- One row is an op with its time on the host and the time of its kernels on the device, each without the ops inside it (self)
-- and with them (total).
--
-- op_id            BIGINT  an op of trace.op
-- host_self_ns     BIGINT  its time without that of the ops directly inside it, ns; where these overlap, their time is
--                          subtracted once
-- host_total_ns    BIGINT  end - start
-- kernel_count     BIGINT  kernels that it launched itself
-- device_self_ns   BIGINT  time of these kernels, ns; overlapping kernels count fully
-- device_total_ns  BIGINT  time of these kernels and of those that the ops inside it launched, ns
WITH part AS (
    SELECT parent_id AS op_id, inside_ns AS duration_ns
    FROM op.parent
    WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT parent_id, -beside_ns
    FROM op.beside
),
host_inside AS (
    SELECT op_id, sum(duration_ns)::BIGINT AS duration_ns
    FROM part
    GROUP BY op_id
)
SELECT
    op.op_id,
    op.duration_ns - coalesce(host_inside.duration_ns, 0) AS host_self_ns,
    op.duration_ns AS host_total_ns,
    coalesce(kernel_time.kernel_count, 0) AS kernel_count,
    coalesce(kernel_time.device_self_ns, 0) AS device_self_ns,
    coalesce(kernel_time.device_total_ns, 0) AS device_total_ns
FROM trace.op
LEFT JOIN host_inside USING (op_id)
LEFT JOIN op.kernel_time USING (op_id)
