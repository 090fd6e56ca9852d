-- One row is all framework ops over all ranks. What ranks have from one host, as the devices of one database do, counts once.
--
-- calls           BIGINT  calls; NULL when there are none
-- host_self_ns    BIGINT  their time on the host without that of the ops directly inside them, ns; NULL when there are none
-- kernel_count    BIGINT  kernels that they launched; NULL where of a rank only operator_details.csv tells of them
-- device_self_ns  BIGINT  time of these kernels, ns; NULL when there are no ops
-- all_kernels_ns  BIGINT  time of all kernels, also of those that no op launched, ns
SELECT
    sum(calls)::BIGINT AS calls,
    sum(host_self_ns)::BIGINT AS host_self_ns,
    if(count(kernel_count) = count(*), sum(kernel_count)::BIGINT, NULL) AS kernel_count,
    sum(device_self_ns)::BIGINT AS device_self_ns,
    coalesce((SELECT sum(duration_ns * kernel_count) FROM kernels.duration), 0)::BIGINT AS all_kernels_ns
FROM across.op_statistic
