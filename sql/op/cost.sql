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
WITH RECURSIVE crowded AS (
    SELECT DISTINCT parent_id
    FROM op.parent
    WHERE is_beside
),
-- Only ops within which others overlap need them in order: to sort all 3.7 M ops of a million kernels took 2 s of CPU.
in_order AS (
    SELECT
        parent.parent_id,
        op.start_ns,
        op.start_ns + parent.inside_ns AS end_ns,
        -- Of two neighbours inside an op the later one ends later, or it would lie in the other.
        lag(op.end_ns) OVER (PARTITION BY parent.parent_id ORDER BY op.start_ns, op.end_ns DESC, op.op_id) AS neighbour_end_ns
    FROM op.parent
    JOIN trace.op USING (op_id)
    SEMI JOIN crowded USING (parent_id)
),
host_part AS (
    SELECT parent_id AS op_id, inside_ns AS duration_ns
    FROM op.parent
    WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT parent_id, -greatest(0, least(end_ns, neighbour_end_ns) - start_ns)
    FROM in_order
    WHERE neighbour_end_ns > start_ns
),
host_inside AS (
    SELECT op_id, sum(duration_ns)::BIGINT AS duration_ns
    FROM host_part
    GROUP BY op_id
),
launched AS (
    SELECT kernel_op.op_id, count(*) AS kernel_count, sum(kernel.duration_ns)::BIGINT AS duration_ns
    FROM module.kernel_op
    JOIN trace.kernel USING (kernel_id)
    GROUP BY kernel_op.op_id
),
-- Each round carries kernel time one op further out.
carried AS (
    SELECT op_id, duration_ns
    FROM launched
    UNION ALL
    SELECT parent.parent_id, sum(carried.duration_ns)::BIGINT
    FROM carried
    JOIN op.parent USING (op_id)
    WHERE parent.parent_id IS NOT NULL
    GROUP BY parent.parent_id
),
device_total AS (
    SELECT op_id, sum(duration_ns)::BIGINT AS duration_ns
    FROM carried
    GROUP BY op_id
)
SELECT
    op.op_id,
    op.duration_ns - coalesce(host_inside.duration_ns, 0) AS host_self_ns,
    op.duration_ns AS host_total_ns,
    coalesce(launched.kernel_count, 0) AS kernel_count,
    coalesce(launched.duration_ns, 0) AS device_self_ns,
    coalesce(device_total.duration_ns, 0) AS device_total_ns
FROM trace.op
LEFT JOIN host_inside USING (op_id)
LEFT JOIN launched USING (op_id)
LEFT JOIN device_total USING (op_id)
