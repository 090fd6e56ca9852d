-- Counters that CUPTI gives with each kernel; AMD gives none.
WITH metric AS (
    SELECT
        event_id AS kernel_id,
        unnest([
            {name: 'est. achieved occupancy %', unit: '%', value: occupancy_percent},
            {name: 'blocks per SM', unit: 'count', value: blocks_per_sm},
            {name: 'warps per SM', unit: 'count', value: warps_per_sm},
            {name: 'registers per thread', unit: 'count', value: registers_per_thread},
            {name: 'shared memory', unit: 'bytes', value: shared_memory_bytes}
        ]) AS one
    FROM raw.device_work
    WHERE end_ns >= start_ns
)
SELECT kernel_id, text_id(one.name) AS metric_id, one.value, one.unit
FROM metric
WHERE one.value IS NOT NULL
