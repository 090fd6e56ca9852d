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
WITH RECURSIVE in_order AS (
    SELECT parent.parent_id, op.start_ns, op.end_ns
    FROM trace.op
    JOIN op.parent USING (op_id)
    WHERE parent.parent_id IS NOT NULL
    ORDER BY parent.parent_id, op.start_ns, op.end_ns DESC, op.op_id
),
-- The windows over rows that are in order already are streamed: at 3.7 M ops this takes 4.1 s of CPU, and windows with a
-- partition for each op 4.7 s.
inner_op AS (
    SELECT
        parent_id,
        start_ns,
        end_ns,
        -- Of two neighbours inside an op the later one ends later, or it would lie in the other.
        if(lag(parent_id) OVER () = parent_id, lag(end_ns) OVER (), NULL) AS neighbour_end_ns
    FROM in_order
),
host_inside AS (
    SELECT
        around.op_id,
        sum(greatest(
            0,
            least(inner_op.end_ns, around.end_ns)
                - greatest(inner_op.start_ns, coalesce(inner_op.neighbour_end_ns, inner_op.start_ns))
        ))::BIGINT AS duration_ns
    FROM inner_op
    JOIN trace.op AS around ON around.op_id = inner_op.parent_id
    GROUP BY around.op_id
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
