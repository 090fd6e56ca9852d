-- One row is a kind, type and core of kernels and one of their hardware counters, whatever set of metrics was collected. It
-- covers only kernels that used the counter's core.
--
-- kind               ENUM('compute', 'communication', 'copy', 'schedule')  what the kernels are
-- type_id            TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- core_id            TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL when not recorded
-- metric_id          TEXT_ID  the counter as recorded, such as aic_l1_read_bw; aic_ for the cube cores, aiv_ for the vector
--                             cores
-- unit               VARCHAR  unit of the values; NULL where the name of the counter gives none
-- kernel_count       BIGINT   kernels that have it
-- kernel_duration_ns BIGINT   their time, ns
-- mean               DOUBLE   mean of its values, rounded to six decimals, weighted by time
-- min                DOUBLE   smallest value
-- max                DOUBLE   largest value
WITH part AS (
    SELECT text_id, left(lower(text), 4) AS prefix
    FROM trace.string
    WHERE text_id IN (SELECT DISTINCT metric_id FROM trace.kernel_metric)
),
measured AS (
    SELECT metric.kernel_id, metric.metric_id, metric.unit, metric.value, counters.duration_ns
    FROM trace.kernel_metric AS metric
    JOIN pmu.kernel_counters AS counters USING (kernel_id)
    JOIN part ON part.text_id = metric.metric_id
    WHERE isfinite(metric.value)
      AND CASE part.prefix WHEN 'aic_' THEN counters.aic_runs WHEN 'aiv_' THEN counters.aiv_runs ELSE true END
),
total AS (
    SELECT
        kernel.kind,
        kernel.type_id,
        kernel.core_id,
        measured.metric_id,
        measured.unit,
        count(*) AS kernel_count,
        sum(measured.duration_ns)::BIGINT AS kernel_duration_ns,
        mean_value(measured.value, measured.duration_ns) AS mean,
        min(measured.value) AS min,
        max(measured.value) AS max
    FROM measured
    JOIN module.kernel USING (kernel_id)
    GROUP BY kernel.kind, kernel.type_id, kernel.core_id, measured.metric_id, measured.unit
)
SELECT total.*
FROM total
LEFT JOIN trace.string AS type ON type.text_id = total.type_id
LEFT JOIN trace.string AS core ON core.text_id = total.core_id
LEFT JOIN trace.string AS metric ON metric.text_id = total.metric_id
ORDER BY sum(total.kernel_duration_ns) OVER (PARTITION BY total.kind, total.type_id, total.core_id) DESC,
    total.kind, type.text, core.text, metric.text
