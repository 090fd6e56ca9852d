-- What each launch asked for. Per multiprocessor only where the file names the device.
WITH metric AS (
    SELECT
        device_work.event_id AS kernel_id,
        unnest([
            {name: 'blocks per SM', unit: 'count', value: block_count / chip.core_count},
            {name: 'warps per SM', unit: 'count', value: block_count * ((thread_count + 31) // 32) / chip.core_count},
            {name: 'registers per thread', unit: 'count', value: registers_per_thread::DOUBLE},
            {name: 'shared memory', unit: 'bytes', value: shared_memory_bytes::DOUBLE}
        ]) AS one
    FROM raw.device_work
    LEFT JOIN trace.chip USING (device_id)
    WHERE device_work.is_kernel AND is_device_time(device_work.start_ns, device_work.end_ns)
)
SELECT kernel_id, text_id(one.name) AS metric_id, one.value, one.unit
FROM metric
WHERE one.value IS NOT NULL
