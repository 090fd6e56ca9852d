-- One row is a Python stack with the work of the ops that were called from it over all ranks, or a reason why the stack of work
-- is not known; the largest time on the device first. Records that several ranks share on one host, such as the devices of one
-- database, count once.
--
-- @columns stack to reason as in stack.by_stack
-- kernel_count  BIGINT  kernels that the ops launched
-- device_ns     BIGINT  their time, ns; overlapping kernels count fully
-- share         DOUBLE  device_ns / time of all kernels of all ranks; NULL when that is 0
-- backward_ns   BIGINT  the part of device_ns in the backward, which has the stack of its forward op
-- op_count      BIGINT  ops; without profiler steps
-- host_ns       BIGINT  their time on the host without that of the ops inside them, ns
WITH total AS (
    SELECT sum(coalesce(total_ns, duration_ns * kernel_count)) AS all_ns
    FROM kernels.duration
),
of_host AS (
    SELECT
        stack,
        reason,
        sum(kernel_count) AS kernel_count,
        sum(device_ns) AS device_ns,
        sum(backward_ns) AS backward_ns,
        max(op_count) AS op_count,
        max(host_ns) AS host_ns
    FROM stack.by_stack
    JOIN op.host USING (profile)
    GROUP BY stack, reason, host.host_profile
)
SELECT
    stack,
    reason,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(device_ns)::BIGINT AS device_ns,
    (sum(device_ns) / nullif((SELECT all_ns FROM total), 0))::DOUBLE AS share,
    sum(backward_ns)::BIGINT AS backward_ns,
    sum(op_count)::BIGINT AS op_count,
    sum(host_ns)::BIGINT AS host_ns
FROM of_host
GROUP BY stack, reason
ORDER BY sum(device_ns) DESC, sum(host_ns) DESC, stack, reason
