-- The process of a layer on the device is numbered host process * 1024 + layer * 32 + device.
SELECT
    CASE string.text
        WHEN 'Computing' THEN 'computing'
        WHEN 'Communication' THEN 'communication'
        WHEN 'Communication(Not Overlapped)' THEN 'communication_not_overlapped'
        WHEN 'Free' THEN 'free'
    END::ENUM('computing', 'communication', 'communication_not_overlapped', 'free') AS kind,
    overlap.pid & 31 AS device_id,
    overlap.start_ns,
    overlap.end_ns,
    overlap.end_ns - overlap.start_ns AS duration_ns
FROM raw.overlap
SEMI JOIN raw.overlap_process USING (pid)
JOIN trace.string ON string.text_id = overlap.name
WHERE overlap.end_ns >= overlap.start_ns
