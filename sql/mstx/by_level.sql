-- One row is an mstx mark or range by its message: all of them, or those of one profiler step.
--
-- is_of_step         BOOLEAN  whether the row covers only those of one step
-- step_id            BIGINT   the profiler step in which they began; NULL for all steps together
-- kind               VARCHAR  range or mark
-- producer           VARCHAR  who makes them, as in mstx.event: communication, dataloader, save_checkpoint, profiler step,
--                             flops recording, or user; NULL when the message is lost
-- domain_id          TEXT_ID  mstx domain; NULL when not recorded
-- message_id         TEXT_ID  the message; NULL when the profile lost its text
-- event_count        BIGINT   marks or ranges
-- host_total_ns      BIGINT   their time on the host, ns; nested ranges count fully; NULL for marks, which are moments
-- host_mean_ns       DOUBLE   mean time on the host, ns; NULL for marks
-- host_median_ns     BIGINT   the smallest time that at least half of them do not exceed, ns; NULL for marks
-- host_p95_ns        BIGINT   the smallest time that at least 95 % of them do not exceed, ns; NULL for marks
-- host_min_ns        BIGINT   shortest time, ns; NULL for marks
-- host_max_ns        BIGINT   longest time, ns; NULL for marks
-- device_count       BIGINT   marks or ranges that were given a stream and so have a device side
-- device_total_ns    BIGINT   their time on the device, ns, from when the stream reached their begin to when it reached their
--                             end; NULL without any
-- device_mean_ns     DOUBLE   mean time on the device, ns; NULL without any
-- device_median_ns   BIGINT   the smallest time that at least half of these do not exceed, ns; NULL without any
-- device_p95_ns      BIGINT   the smallest time that at least 95 % of these do not exceed, ns; NULL without any
-- device_min_ns      BIGINT   shortest time on the device, ns; NULL without any
-- device_max_ns      BIGINT   longest time on the device, ns; NULL without any
-- kernel_count       BIGINT   kernels that their thread launched inside them, once for each enclosing range; NULL for marks
-- kernel_duration_ns BIGINT   time of these kernels, ns; NULL for marks
WITH with_work AS (
    SELECT event.*, work.kernel_count, work.duration_ns AS kernel_duration_ns
    FROM mstx.event
    LEFT JOIN mstx.work USING (range_id)
),
at_level AS (
    SELECT false AS is_of_step, * REPLACE (NULL::BIGINT AS step_id)
    FROM with_work
    UNION ALL
    SELECT true, *
    FROM with_work
    WHERE step_id IS NOT NULL
)
SELECT
    is_of_step,
    step_id,
    kind,
    producer,
    domain_id,
    message_id,
    count(*) AS event_count,
    sum(duration_ns)::BIGINT AS host_total_ns,
    sum(duration_ns) / nullif(count(duration_ns), 0) AS host_mean_ns,
    quantile_disc(duration_ns, 0.5) AS host_median_ns,
    quantile_disc(duration_ns, 0.95) AS host_p95_ns,
    min(duration_ns) AS host_min_ns,
    max(duration_ns) AS host_max_ns,
    count(device_duration_ns) AS device_count,
    sum(device_duration_ns)::BIGINT AS device_total_ns,
    sum(device_duration_ns) / nullif(count(device_duration_ns), 0) AS device_mean_ns,
    quantile_disc(device_duration_ns, 0.5) AS device_median_ns,
    quantile_disc(device_duration_ns, 0.95) AS device_p95_ns,
    min(device_duration_ns) AS device_min_ns,
    max(device_duration_ns) AS device_max_ns,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(kernel_duration_ns)::BIGINT AS kernel_duration_ns
FROM at_level
GROUP BY is_of_step, step_id, kind, producer, domain_id, message_id
