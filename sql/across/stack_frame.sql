-- One row is a frame of Python stacks, a place in the source, with the work of the ops that were called from it over all ranks,
-- or a reason why the stack of work is not known; the largest time on the device first. Records that several ranks share on one
-- host, such as the devices of one database, count once.
--
-- @columns frame to reason as in stack.by_frame
-- kernel_count     BIGINT  kernels launched from it, and from the code that it called
-- device_self_ns   BIGINT  time of the kernels that were launched from it, and not from a frame inside it, ns; overlapping
--                          kernels count fully
-- device_total_ns  BIGINT  time of all kernels launched from it, and from the code that it called, ns
-- share            DOUBLE  device_total_ns / time of all kernels of all ranks; NULL when that is 0
-- backward_ns      BIGINT  the part of device_total_ns in the backward, which has the stack of its forward op
-- host_self_ns     BIGINT  the same as device_self_ns, of the ops on the host without that of the ops inside them, ns
-- host_total_ns    BIGINT  the same as device_total_ns, of the ops on the host, ns
WITH total AS (
    SELECT sum(coalesce(total_ns, duration_ns * kernel_count)) AS all_ns
    FROM kernels.duration
),
of_host AS (
    SELECT
        frame,
        reason,
        sum(kernel_count) AS kernel_count,
        sum(device_self_ns) AS device_self_ns,
        sum(device_total_ns) AS device_total_ns,
        sum(backward_ns) AS backward_ns,
        max(host_self_ns) AS host_self_ns,
        max(host_total_ns) AS host_total_ns
    FROM stack.by_frame
    JOIN op.host USING (profile)
    GROUP BY frame, reason, host.host_profile
)
SELECT
    frame,
    reason,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(device_self_ns)::BIGINT AS device_self_ns,
    sum(device_total_ns)::BIGINT AS device_total_ns,
    (sum(device_total_ns) / nullif((SELECT all_ns FROM total), 0))::DOUBLE AS share,
    sum(backward_ns)::BIGINT AS backward_ns,
    sum(host_self_ns)::BIGINT AS host_self_ns,
    sum(host_total_ns)::BIGINT AS host_total_ns
FROM of_host
GROUP BY frame, reason
ORDER BY sum(device_total_ns) DESC, sum(host_total_ns) DESC, frame, reason
