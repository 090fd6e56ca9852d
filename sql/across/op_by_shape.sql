-- One row is a framework op and its input shapes with its calls and their cost over all ranks, regardless of --filter, the
-- heaviest on the device first. Records that several ranks share on one host, such as the devices of one database, count once.
--
-- @columns name to host_total_ns as in op.by_shape
-- kernel_count     BIGINT   kernels that they launched themselves; NULL where only operator_details.csv has them for a rank
-- device_self_ns   BIGINT   time of these kernels, ns
-- device_total_ns  BIGINT   time of these kernels and of those that ops inside them launched, ns, as in op.by_shape
-- share            DOUBLE   part of the device_self_ns of all ops of all ranks; NULL when they took no time
-- launches         VARCHAR  names of the records of launches that count as a part of it, as in op.by_shape
WITH of_host AS (
    SELECT
        name,
        input_shapes,
        max(calls) AS calls,
        max(host_self_ns) AS host_self_ns,
        max(host_total_ns) AS host_total_ns,
        sum(kernel_count) AS kernel_count,
        sum(device_self_ns) AS device_self_ns,
        sum(device_total_ns) AS device_total_ns,
        string_agg(launches, ', ') AS launches
    FROM op.by_shape
    JOIN op.host USING (profile)
    GROUP BY name, input_shapes, host.host_profile
)
SELECT
    name,
    input_shapes,
    sum(calls)::BIGINT AS calls,
    sum(host_self_ns)::BIGINT AS host_self_ns,
    sum(host_total_ns)::BIGINT AS host_total_ns,
    if(count(kernel_count) = count(*), sum(kernel_count)::BIGINT, NULL) AS kernel_count,
    sum(device_self_ns)::BIGINT AS device_self_ns,
    sum(device_total_ns)::BIGINT AS device_total_ns,
    sum(device_self_ns) / nullif(sum(sum(device_self_ns)) OVER (), 0) AS share,
    list_sort(list_distinct(string_split(string_agg(launches, ', '), ', '))).list_aggregate('string_agg', ', ') AS launches
FROM of_host
GROUP BY name, input_shapes
ORDER BY sum(device_self_ns) DESC, sum(host_self_ns) DESC, name, input_shapes
