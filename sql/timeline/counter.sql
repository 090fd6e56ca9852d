-- One row is a moment at which a counter takes a value, which it keeps up to its next row; counters and times are in order.
-- With a step chosen, only moments of that step.
--
-- counter    VARCHAR  'MFU': FLOPs of the running kernels, as a share of the device's peak in that time; its mean over a time
--                     is the MFU of that time, as far as the FLOPs of kernels are known. 'allocated', 'reserved': memory, as in
--                     trace.memory_usage; else a metric of the device, as in trace.metric_sample, as far as its samples differ.
--                     What is 0 all the time is left out
-- component  VARCHAR  who holds the memory, as the profile calls it; NULL for other counters
-- device_id  BIGINT   device; NULL when not recorded
-- unit       VARCHAR  of value: '10^-12', which is a share, or 'byte'; of a metric as in trace.metric_sample
-- time_ns    BIGINT   the moment, Unix ns
-- value      BIGINT   value from this moment on
WITH multiplied AS (
    SELECT
        kernel.device_id,
        kernel.start_ns,
        kernel.end_ns,
        (judged.known_flops::HUGEINT * 1000000000000000 // judged.possible_flops)::BIGINT AS share
    FROM mfu.judged
    JOIN timeline.kernel USING (kernel_id)
    WHERE judged.known_flops IS NOT NULL AND kernel.end_ns > kernel.start_ns
),
change AS (
    SELECT device_id, start_ns AS time_ns, share AS change
    FROM multiplied
    UNION ALL
    SELECT device_id, end_ns, -share
    FROM multiplied
),
changed_total AS (
    SELECT device_id, time_ns, sum(change) AS change
    FROM change
    GROUP BY device_id, time_ns
    HAVING sum(change) <> 0
),
utilised AS (
    SELECT
        device_id,
        time_ns,
        (sum(change) OVER (PARTITION BY device_id ORDER BY time_ns ROWS UNBOUNDED PRECEDING))::BIGINT AS value
    FROM changed_total
),
-- Of several records of one moment the last one holds.
held_total AS (
    SELECT component, device_id, time_ns, allocated_bytes, reserved_bytes
    FROM allocation.usage
    QUALIFY row_number() OVER (PARTITION BY component, device_id, time_ns ORDER BY usage_id DESC) = 1
),
changed_metric AS (
    SELECT sample.*, metric.text AS metric
    FROM trace.metric_sample AS sample
    JOIN trace.string AS metric ON metric.text_id = sample.metric_id
    ASOF LEFT JOIN step.period ON period.start_ns <= sample.time_ns
    WHERE getvariable('step_id') IS NULL OR (period.step_id = getvariable('step_id') AND sample.time_ns < period.end_ns)
    QUALIFY sample.value IS DISTINCT FROM lag(sample.value) OVER (
        PARTITION BY sample.device_id, sample.metric_id ORDER BY sample.time_ns, sample.value
    )
),
counter AS (
    SELECT 1 AS position, 'MFU' AS counter, NULL::VARCHAR AS component, device_id, '10^-12' AS unit, time_ns, value
    FROM utilised
    UNION ALL
    SELECT 2, 'allocated', component, device_id, 'byte', time_ns, allocated_bytes
    FROM held_total
    WHERE allocated_bytes IS NOT NULL
    UNION ALL
    SELECT 3, 'reserved', component, device_id, 'byte', time_ns, reserved_bytes
    FROM held_total
    WHERE reserved_bytes IS NOT NULL
    UNION ALL
    SELECT 4, metric, NULL, device_id, unit, time_ns, value
    FROM changed_metric
)
SELECT counter, component, device_id, unit, time_ns, value
FROM counter
QUALIFY max(value) OVER (PARTITION BY counter, component, device_id) > 0
ORDER BY position, component, counter, device_id, time_ns
