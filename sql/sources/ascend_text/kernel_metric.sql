-- kernel_details.csv has one column per counter, with times in microseconds.
WITH counter AS (
    SELECT
        pmu_column.column_number,
        pmu_column.metric AS metric_id,
        coalesce(unit_of_counter(lower(metric.text)), if(pmu_column.unit = 'us', 'ns', pmu_column.unit)) AS unit,
        if(pmu_column.unit = 'us', 1000, 1) AS factor
    FROM raw.pmu_column
    JOIN trace.string AS metric ON metric.text_id = pmu_column.metric
)
SELECT kernel.kernel_id, counter.metric_id, cell.value * counter.factor AS value, counter.unit
FROM raw.pmu_cell AS cell
JOIN counter USING (column_number)
JOIN trace.kernel ON kernel.pmu_id = cell.row_number
