-- One row is a kind, type and core of kernels and one of their hardware counters, whatever set of metrics was collected. It
-- covers only kernels that used the counter's core.
--
-- kind               ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
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
WITH counter AS (
    SELECT
        text_id AS metric_id,
        -- Knows aic_, aiv_: counters are of one kind of hardware, and have names.
        starts_with(lower(text), 'aic_') AS is_of_aic,
        starts_with(lower(text), 'aiv_') AS is_of_aiv
    FROM trace.string
    WHERE text_id IN (SELECT DISTINCT metric_id FROM trace.kernel_metric)
),
described_kernel AS (
    SELECT
        kernel.kernel_id,
        kernel.kind,
        kernel.type_id,
        kernel.core_id,
        counters.aic_runs,
        counters.aiv_runs,
        counters.duration_ns
    FROM module.kernel
    JOIN pmu.kernel_counters AS counters USING (kernel_id)
),
-- The keys of the rows, with a number: to look up five columns for each counter of a kernel takes twice as long as one.
description AS (
    SELECT row_number() OVER () AS description_id, *
    FROM (SELECT DISTINCT kind, type_id, core_id, aic_runs, aiv_runs FROM described_kernel) AS distinct_description
),
kernel AS (
    SELECT described_kernel.kernel_id, described_kernel.duration_ns, description.description_id
    FROM described_kernel
    JOIN description
        ON description.kind = described_kernel.kind
        AND description.type_id IS NOT DISTINCT FROM described_kernel.type_id
        AND description.core_id IS NOT DISTINCT FROM described_kernel.core_id
        AND description.aic_runs IS NOT DISTINCT FROM described_kernel.aic_runs
        AND description.aiv_runs IS NOT DISTINCT FROM described_kernel.aiv_runs
),
measured_metric AS (
    SELECT
        kernel.description_id,
        metric.metric_id,
        metric.unit,
        count(*) AS kernel_count,
        sum(kernel.duration_ns) AS kernel_duration_ns,
        sum(value_time(metric.value, kernel.duration_ns)) AS value_time,
        sum(kernel.duration_ns) FILTER (value_time(metric.value, kernel.duration_ns) IS NOT NULL) AS value_duration_ns,
        min(metric.value) AS min,
        max(metric.value) AS max
    FROM trace.kernel_metric AS metric
    JOIN kernel USING (kernel_id)
    WHERE isfinite(metric.value)
    GROUP BY kernel.description_id, metric.metric_id, metric.unit
),
total AS (
    SELECT
        description.kind,
        description.type_id,
        description.core_id,
        measured_metric.metric_id,
        measured_metric.unit,
        sum(measured_metric.kernel_count)::BIGINT AS kernel_count,
        sum(measured_metric.kernel_duration_ns)::BIGINT AS kernel_duration_ns,
        sum(measured_metric.value_time) / nullif(sum(measured_metric.value_duration_ns), 0) / 1000000 AS mean,
        min(measured_metric.min) AS min,
        max(measured_metric.max) AS max
    FROM measured_metric
    JOIN description USING (description_id)
    JOIN counter USING (metric_id)
    WHERE CASE WHEN counter.is_of_aic THEN description.aic_runs WHEN counter.is_of_aiv THEN description.aiv_runs ELSE true END
    GROUP BY description.kind, description.type_id, description.core_id, measured_metric.metric_id, measured_metric.unit
)
SELECT total.*
FROM total
LEFT JOIN trace.string AS type ON type.text_id = total.type_id
LEFT JOIN trace.string AS core ON core.text_id = total.core_id
LEFT JOIN trace.string AS metric ON metric.text_id = total.metric_id
ORDER BY sum(total.kernel_duration_ns) OVER (PARTITION BY total.kind, total.type_id, total.core_id) DESC,
    total.kind, type.text, core.text, metric.text
