-- From the profile of the same process beside the snapshot.
SELECT
    device_id,
    memory_bytes
FROM raw.beside_device_memory
WHERE is_on_device(device_id)
