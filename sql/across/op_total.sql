-- One row is all framework ops over all ranks, also those that --filter does not choose. Records that several ranks share on
-- one host, such as the devices of one database, count once.
--
-- calls           BIGINT  calls; NULL without any
-- host_self_ns    BIGINT  their time on the host without the ops directly inside them, ns; NULL without any
-- kernel_count    BIGINT  kernels that they launched; NULL where only operator_details.csv has them for a rank
-- device_self_ns  BIGINT  time of these kernels, ns; NULL when there are no ops
-- all_kernels_ns  BIGINT  time of all kernels, including those that no op launched, ns
-- rows_left_out   BIGINT  rows that across.op_statistic would have without --filter, and has not
-- left_out_ns     BIGINT  device_self_ns of these rows, ns
SELECT
    sum(calls)::BIGINT AS calls,
    sum(host_self_ns)::BIGINT AS host_self_ns,
    if(count(kernel_count) = count(*), sum(kernel_count)::BIGINT, NULL) AS kernel_count,
    sum(device_self_ns)::BIGINT AS device_self_ns,
    coalesce((SELECT sum(coalesce(total_ns, duration_ns * kernel_count)) FROM kernels.duration), 0)::BIGINT AS all_kernels_ns,
    count(*) FILTER (NOT is_chosen(name) AND NOT is_chosen(launches)) AS rows_left_out,
    coalesce(sum(device_self_ns) FILTER (NOT is_chosen(name) AND NOT is_chosen(launches)), 0)::BIGINT AS left_out_ns
FROM across.op_by_shape
