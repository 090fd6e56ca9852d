-- One row is a communication kernel, a pair of ranks and a link, and the data that the kernel moved between the two ranks. The
-- rows cover all steps, also when a step is chosen.
--
-- kernel_id         BIGINT   a communication kernel of trace.kernel
-- source_rank       BIGINT   rank within the group; NULL when not recorded
-- destination_rank  BIGINT   rank within the group; the source itself within a device; NULL when not recorded
-- link              VARCHAR  the link, such as HCCS; ON_CHIP within a device; NULL when not recorded
-- is_within_device  BOOLEAN  whether the data stays within the device
-- transfer_count    BIGINT   tasks that move data; over RDMA those that post the payload
-- size_bytes        BIGINT   bytes that they moved
-- duration_ps       BIGINT   their time on all planes, ps; overlapping transfers count fully
SELECT
    kernel_id,
    source_rank,
    destination_rank,
    link,
    kind = 'copy' AS is_within_device,
    sum(transfer_count)::BIGINT AS transfer_count,
    sum(size_bytes)::BIGINT AS size_bytes,
    sum(duration_ps)::BIGINT AS duration_ps
FROM communication.activity
WHERE kind <> 'wait' AND size_bytes IS NOT NULL
GROUP BY ALL
