-- Several events have one time, in µs, and clocks can go back. A block that is released when another one is allocated must not
-- live with it: so each event is at least 1 ns after the one before it.
WITH numbered AS (
    SELECT *, row_number() OVER (PARTITION BY device ORDER BY number) AS place
    FROM raw.snapshot_event
    WHERE is_on_device(device)
)
SELECT
    number AS event_id,
    device AS device_id,
    (CASE action
        WHEN 'alloc' THEN 'allocation'
        WHEN 'free' THEN 'release'
        WHEN 'free_requested' THEN 'release'
        WHEN 'free_completed' THEN 'reuse'
        WHEN 'segment_alloc' THEN 'segment'
        WHEN 'segment_map' THEN 'segment'
        WHEN 'segment_free' THEN 'segment release'
        WHEN 'segment_unmap' THEN 'segment release'
        WHEN 'oom' THEN 'failure'
        ELSE 'other'
    END)::ENUM('allocation', 'release', 'reuse', 'segment', 'segment release', 'failure', 'other') AS kind,
    address,
    if(is_size(size), size, NULL) AS size_bytes,
    stream AS stream_id,
    if(action = 'oom' AND device_free >= 0, device_free, NULL) AS free_bytes,
    place + max(if(time_us BETWEEN 0 AND 9000000000000000, time_us, 0) * 1000 - place)
        OVER (PARTITION BY device ORDER BY number ROWS UNBOUNDED PRECEDING) AS time_ns,
    stack AS stack_id
FROM numbered
