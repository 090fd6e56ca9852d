-- One row is a metric of a device that was sampled over time, whatever ran there, and what it was from the first kernel to the
-- end of the last one.
--
-- @guard trace.metric_sample
-- @unique stretch by device_id, start_ns: stretches do not overlap
--
-- device_id        BIGINT   device
-- metric_id        TEXT_ID  the metric as recorded, such as SMs Active [Throughput %]
-- unit             VARCHAR  unit of the values: %, MHz, count; NULL where the name of the metric says none
-- sample_count     BIGINT   samples in that time
-- mean             DOUBLE   their mean
-- min              BIGINT   smallest value
-- max              BIGINT   largest value
-- computing_count  BIGINT   those that were taken while a compute kernel ran
-- computing_mean   DOUBLE   their mean; NULL without any
WITH recorded_time AS (
    SELECT device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM kernels.selected
    JOIN trace.kernel USING (kernel_id)
    WHERE selected.kind <> 'schedule'
    GROUP BY device_id
),
computing AS (
    SELECT device_id, start_ns, end_ns
    FROM kernels.selected
    JOIN trace.kernel USING (kernel_id)
    WHERE selected.kind = 'compute'
),
stretch AS (
    SELECT part AS device_id, start_ns, end_ns
    FROM stretches(computing, device_id)
),
sample AS (
    SELECT metric_sample.*
    FROM trace.metric_sample
    JOIN recorded_time
        ON metric_sample.device_id IS NOT DISTINCT FROM recorded_time.device_id
        AND metric_sample.time_ns BETWEEN recorded_time.start_ns AND recorded_time.end_ns
),
taken AS (
    SELECT sample.*, coalesce(stretch.end_ns >= sample.time_ns, false) AS is_computing
    FROM sample
    ASOF LEFT JOIN stretch
        ON stretch.device_id = sample.device_id AND stretch.start_ns <= sample.time_ns
)
SELECT
    taken.device_id,
    taken.metric_id,
    taken.unit,
    count(*) AS sample_count,
    sum(taken.value)::HUGEINT / count(*) AS mean,
    min(taken.value) AS min,
    max(taken.value) AS max,
    count(*) FILTER (taken.is_computing) AS computing_count,
    sum(taken.value) FILTER (taken.is_computing)::HUGEINT / nullif(count(*) FILTER (taken.is_computing), 0) AS computing_mean
FROM taken
LEFT JOIN trace.string AS metric ON metric.text_id = taken.metric_id
GROUP BY taken.device_id, taken.metric_id, metric.text, taken.unit
ORDER BY taken.device_id, metric.text
