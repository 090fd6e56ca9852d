-- Segments whose sums the snapshot records otherwise than their blocks add up.
SELECT
    profile,
    'warning' AS severity,
    format(
        '{} of memory: the snapshot records other sums than their blocks have, by at most {}: it was written while the '
        || 'allocator worked, or is damaged; dump it again',
        if(count(DISTINCT (device_id, address)) = 1, '1 segment', count(DISTINCT (device_id, address)) || ' segments'),
        shown_bytes(max(abs(recorded_bytes - part_bytes)))
    ) AS sentence
FROM allocation.segment_audit
GROUP BY profile
ORDER BY profile
