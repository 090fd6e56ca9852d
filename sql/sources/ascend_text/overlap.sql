SELECT
    CASE string.text
        WHEN 'Computing' THEN 'computing'
        WHEN 'Communication' THEN 'communication'
        WHEN 'Communication(Not Overlapped)' THEN 'communication_not_overlapped'
        WHEN 'Free' THEN 'free'
    END::ENUM('computing', 'communication', 'communication_not_overlapped', 'free') AS kind,
    process.device_id,
    overlap.start_ns,
    overlap.end_ns,
    overlap.end_ns - overlap.start_ns AS duration_ns
FROM raw.overlap
SEMI JOIN (FROM raw.process WHERE name = 'Overlap Analysis') AS named USING (pid)
LEFT JOIN trace.device_process AS process USING (pid)
JOIN trace.string ON string.text_id = overlap.name
WHERE is_device_time(overlap.start_ns, overlap.end_ns)
