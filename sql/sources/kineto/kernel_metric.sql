-- Counters that Kineto works out from the launch of each kernel; on AMD it gives none. It writes an occupancy of 0 where it
-- cannot work it out, as for kernels that take more shared memory than a block has by default. A kernel with 0.32 warps for
-- each multiprocessor, which holds at most 64, has an occupancy that rounds to 1 % or more.
WITH metric AS (
    SELECT
        event_id AS kernel_id,
        unnest([
            {
                name: 'est. achieved occupancy %',
                unit: '%',
                value: if(occupancy_percent = 0 AND warps_per_sm >= 0.32, NULL, occupancy_percent)
            },
            {name: 'blocks per SM', unit: 'count', value: blocks_per_sm},
            {name: 'warps per SM', unit: 'count', value: warps_per_sm},
            {name: 'registers per thread', unit: 'count', value: registers_per_thread},
            {name: 'shared memory', unit: 'bytes', value: shared_memory_bytes}
        ]) AS one
    FROM raw.device_work
    WHERE is_device_time(start_ns, end_ns)
)
SELECT kernel_id, text_id(one.name) AS metric_id, one.value, one.unit
FROM metric
WHERE one.value IS NOT NULL
