-- One row is an mstx mark or range by its message, over all ranks, those with the most time on the host first, then those with
-- the most on the device. Records that several ranks share on one host, such as the devices of one database, count once.
--
-- kind                VARCHAR  range or mark
-- producer            VARCHAR  who makes them, as in mstx.event; NULL when the message is lost
-- domain              VARCHAR  mstx domain; NULL when not recorded
-- message             VARCHAR  the message; NULL when the profile lost its text
-- event_count         BIGINT   marks or ranges
-- host_total_ns       BIGINT   their time on the host, ns; nested ranges count fully; NULL for marks, which are moments
-- host_max_ns         BIGINT   longest time on the host, ns; NULL for marks
-- device_count        BIGINT   marks or ranges that were given a stream and so have a device side
-- device_total_ns     BIGINT   their time on the device, ns; NULL without any
-- kernel_count        BIGINT   kernels that their thread launched inside them, once for each enclosing range; NULL for marks
-- kernel_duration_ns  BIGINT   time of these kernels, ns; NULL for marks
WITH of_host AS (
    SELECT
        kind,
        producer,
        domain,
        message,
        max(event_count) AS event_count,
        max(host_total_ns) AS host_total_ns,
        max(host_max_ns) AS host_max_ns,
        sum(device_count) AS device_count,
        sum(device_total_ns) AS device_total_ns,
        sum(kernel_count) AS kernel_count,
        sum(kernel_duration_ns) AS kernel_duration_ns
    FROM mstx.statistic
    JOIN op.host USING (profile)
    GROUP BY kind, producer, domain, message, host.host_profile
)
SELECT
    kind,
    producer,
    domain,
    message,
    sum(event_count)::BIGINT AS event_count,
    sum(host_total_ns)::BIGINT AS host_total_ns,
    max(host_max_ns) AS host_max_ns,
    sum(device_count)::BIGINT AS device_count,
    sum(device_total_ns)::BIGINT AS device_total_ns,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(kernel_duration_ns)::BIGINT AS kernel_duration_ns
FROM of_host
GROUP BY kind, producer, domain, message
ORDER BY host_total_ns DESC NULLS LAST, device_total_ns DESC NULLS LAST, event_count DESC, kind, producer, domain, message
