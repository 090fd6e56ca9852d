-- One row is a pass with what it holds and where its time went, on the device and on the host, in the order of the passes. The
-- device's time is that of pass.turn: passes, and what lies between them, add up to the recording.
--
-- @guard pass.kernel
-- @sum duration_ns, gap_before_ns, computing_ns, communication_not_overlapped_ns, copying_not_overlapped_ns, idle_ns,
--     kernel_count
--
-- @columns pass_id to decode_request_count as in pass.instance
-- @columns token_count, padded_request_count, key_count as in pass.instance
-- is_steady       BOOLEAN  as in pass.steady
-- duration_ns     BIGINT   time on the device, from its first kernel to its last or to the next pass, ns
-- gap_before_ns   BIGINT   time on the device from the end of the passes before, or from the begin of the recording, to its
--                          start, ns
-- idle_before_ns  BIGINT   part of gap_before_ns without any kernel, ns; the rest is work of no pass
-- cycle_ns        BIGINT   duration_ns + gap_before_ns
-- @columns computing_ns to idle_ns as in pass.turn_time
-- idle_cause      VARCHAR  the longest cause of its idle time, as in pass.cause; NULL without idle time
-- kernel_count    BIGINT   its kernels
-- host_ns         BIGINT   time on the host, as in pass.host, ns; NULL when not known
-- @columns host_before_ns to detokenising_ns as in pass.host
-- start_ns        BIGINT   start on the device, Unix ns
-- end_ns          BIGINT   end on the device, Unix ns
-- host_start_ns   BIGINT   start on the host, Unix ns; NULL when not known
-- reason          VARCHAR  as in pass.instance
WITH before AS (
    SELECT next_id AS pass_id, duration_ns, idle_ns
    FROM pass.turn_time
    WHERE next_id IS NOT NULL
),
longest AS (
    SELECT pass_id, arg_max(cause, (total_ns, cause)) AS cause
    FROM pass.cause
    WHERE NOT is_before
    GROUP BY pass_id
),
counted AS (
    SELECT pass_id, count(*) AS kernel_count
    FROM pass.kernel
    GROUP BY pass_id
)
SELECT
    instance.pass_id,
    instance.found_by,
    instance.phase,
    instance.phase_from,
    instance.request_count,
    instance.prefill_request_count,
    instance.decode_request_count,
    instance.token_count,
    instance.padded_request_count,
    instance.key_count,
    steady.is_steady,
    time.duration_ns,
    coalesce(before.duration_ns, 0) AS gap_before_ns,
    coalesce(before.idle_ns, 0) AS idle_before_ns,
    steady.cycle_ns,
    time.computing_ns,
    time.communication_ns,
    time.communication_not_overlapped_ns,
    time.copying_not_overlapped_ns,
    time.idle_ns,
    longest.cause AS idle_cause,
    counted.kernel_count,
    host.host_end_ns - host.host_start_ns AS host_ns,
    host.host_before_ns,
    host.scheduling_ns,
    host.preparing_ns,
    host.sampling_ns,
    host.detokenising_ns,
    time.start_ns,
    time.end_ns,
    host.host_start_ns,
    instance.reason
FROM pass.instance
JOIN pass.turn_time AS time ON time.pass_id = instance.pass_id
JOIN pass.steady ON steady.pass_id = instance.pass_id
JOIN counted ON counted.pass_id = instance.pass_id
LEFT JOIN before ON before.pass_id = instance.pass_id
LEFT JOIN longest ON longest.pass_id = instance.pass_id
LEFT JOIN pass.host ON host.pass_id = instance.pass_id
ORDER BY instance.pass_id
