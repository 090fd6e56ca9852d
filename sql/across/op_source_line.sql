-- One row is a framework op and the line of user code that called it over all ranks, the largest own device time first. Records
-- that several ranks share on one host, such as the devices of one database, count once.
--
-- @columns name to reason as in stack.by_op
-- calls           BIGINT  calls; without profiler steps
-- kernel_count    BIGINT  kernels that they launched themselves
-- device_self_ns  BIGINT  time of these kernels, ns; overlapping kernels count fully
-- share           DOUBLE  device_self_ns / that of the ops of all ranks; NULL when that is 0
-- host_self_ns    BIGINT  time of the calls on the host without that of the ops inside them, ns
WITH of_host AS (
    SELECT
        name,
        source_line,
        reason,
        max(calls) AS calls,
        sum(kernel_count) AS kernel_count,
        sum(device_self_ns) AS device_self_ns,
        max(host_self_ns) AS host_self_ns
    FROM stack.by_op
    JOIN op.host USING (profile)
    GROUP BY name, source_line, reason, host.host_profile
),
total AS (
    SELECT sum(device_self_ns) AS all_ns
    FROM op.by_shape
)
SELECT
    name,
    source_line,
    reason,
    sum(calls)::BIGINT AS calls,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(device_self_ns)::BIGINT AS device_self_ns,
    (sum(device_self_ns) / nullif((SELECT all_ns FROM total), 0))::DOUBLE AS share,
    sum(host_self_ns)::BIGINT AS host_self_ns
FROM of_host
GROUP BY name, source_line, reason
ORDER BY sum(device_self_ns) DESC, sum(host_self_ns) DESC, name, source_line, reason
