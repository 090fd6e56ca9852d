-- One row is an mstx mark or range by its message in one profiler step, as in mstx.statistic, the steps in their order. What
-- began outside every step has none.
--
-- step_id            BIGINT   the profiler step in which they began
-- kind               VARCHAR  range or mark
-- producer           VARCHAR  who makes them, as in mstx.event: communication, dataloader, save_checkpoint, profiler step, flops
--                             recording, or user; NULL when the message is lost
-- domain_id          TEXT_ID  mstx domain; NULL when not recorded
-- message_id         TEXT_ID  the message; NULL when the profile lost its text
-- event_count        BIGINT   marks or ranges
-- host_total_ns      BIGINT   their time on the host, ns, those inside others in full; NULL for marks, which are moments
-- host_mean_ns       DOUBLE   mean time on the host, ns; NULL for marks
-- host_median_ns     BIGINT   the smallest time that at least half of them do not exceed, ns; NULL for marks
-- host_p95_ns        BIGINT   the smallest time that at least 95 % of them do not exceed, ns; NULL for marks
-- host_min_ns        BIGINT   shortest time, ns; NULL for marks
-- host_max_ns        BIGINT   longest time, ns; NULL for marks
-- device_count       BIGINT   those of them that were given a stream and so have a device side
-- device_total_ns    BIGINT   their time on the device, ns, from when the stream reached the begin to when it reached the end; NULL
--                             without any
-- device_mean_ns     DOUBLE   mean time on the device, ns; NULL without any
-- device_median_ns   BIGINT   the smallest time that at least half of these do not exceed, ns; NULL without any
-- device_p95_ns      BIGINT   the smallest time that at least 95 % of these do not exceed, ns; NULL without any
-- device_min_ns      BIGINT   shortest time on the device, ns; NULL without any
-- device_max_ns      BIGINT   longest time on the device, ns; NULL without any
-- kernel_count       BIGINT   kernels launched inside them by their thread, once for each range around; NULL for marks
-- kernel_duration_ns BIGINT   time of these kernels, ns; NULL for marks
SELECT by_level.step_id, by_level.* EXCLUDE (is_of_step, step_id)
FROM mstx.by_level
LEFT JOIN trace.string AS domain ON domain.text_id = by_level.domain_id
LEFT JOIN trace.string AS message ON message.text_id = by_level.message_id
WHERE by_level.is_of_step
ORDER BY by_level.step_id, host_total_ns DESC NULLS LAST, device_total_ns DESC NULLS LAST, event_count DESC, kind, producer, domain.text, message.text
