-- Newer writers label a process NPU 3 and number it host process * 1024 + layer * 32 + device, in 32 bits, where the layer is
-- its sort index too. Older ones put numbers together as text (437675, 11 and 00; 8 and 00) and label it NPU. So the number
-- counts only where all processes without a label have the process of the host or their layer in it.
WITH described_process AS (
    SELECT pid, min(name) AS name, min(label) AS label, min(sort_index) AS sort_index
    FROM raw.process
    GROUP BY pid
),
used_process AS (
    SELECT pid, min(layer) AS layer
    FROM (
        SELECT DISTINCT pid, 'hardware' AS layer FROM raw.device_task
        UNION ALL
        SELECT DISTINCT pid, 'communication' FROM raw.communication_op
        UNION ALL
        SELECT pid, 'overlap' FROM raw.process WHERE name = 'Overlap Analysis'
        UNION ALL
        SELECT DISTINCT pid, 'clock' FROM raw.core_clock
    )
    WHERE pid IS NOT NULL
    GROUP BY pid
),
host AS (
    SELECT DISTINCT pid & 4194303 AS number
    FROM described_process
    WHERE name = 'Python'
),
process AS (
    SELECT
        used_process.pid,
        coalesce(described_process.name, used_process.layer) AS layer,
        TRY_CAST(
            coalesce(
                nullif(regexp_extract(described_process.label, '(?i)^(?:npu|device)[ _:]*(\d+)$', 1), ''),
                nullif(regexp_extract(described_process.name, '(?i)\b(?:npu|device)[ _:]*(\d+)\b', 1), '')
            ) AS BIGINT
        ) AS named_id,
        used_process.pid >> 10 <> 0
        AND (used_process.pid >> 5) & 31 <> 0
        AND (
            ((used_process.pid >> 10) & 4194303) IN (SELECT number FROM host)
            OR coalesce(described_process.sort_index = ((used_process.pid >> 5) & 31), NOT EXISTS (FROM host))
        ) AS has_device_in_number
    FROM used_process
    LEFT JOIN described_process USING (pid)
),
device_count AS (
    SELECT
        pid,
        named_id,
        bool_and(has_device_in_number OR named_id IS NOT NULL) OVER () AS are_numbered,
        count(named_id) OVER () = 0 AS are_unnamed,
        row_number() OVER (PARTITION BY layer ORDER BY pid) - 1 AS place,
        count(*) OVER (PARTITION BY layer) AS device_count
    FROM process
),
said AS (
    SELECT named_id AS device_id, 1 AS precedence FROM process WHERE named_id IS NOT NULL
    UNION ALL
    SELECT device_id, 2 FROM raw.kernel_detail WHERE device_id IS NOT NULL
    UNION ALL
    SELECT device_id, 3 FROM raw.device_info WHERE device_id IS NOT NULL
),
-- What the first of these that says anything says, where it says one number.
only_device AS (
    SELECT min(device_id) AS device_id
    FROM said
    WHERE precedence = (SELECT min(precedence) FROM said)
    HAVING count(DISTINCT device_id) = 1
),
placed_device AS (
    SELECT
        pid,
        named_id,
        place,
        CASE
            WHEN named_id IS NOT NULL THEN 'name'
            WHEN are_numbered THEN 'number'
            WHEN max(device_count) OVER () = 1 THEN if(EXISTS (FROM only_device), 'only device', NULL)
            WHEN are_unnamed AND device_count = max(device_count) OVER () THEN 'order'
        END AS device_from
    FROM device_count
)
SELECT
    pid,
    CASE device_from
        WHEN 'name' THEN named_id
        WHEN 'number' THEN pid & 31
        WHEN 'only device' THEN (SELECT device_id FROM only_device)
        WHEN 'order' THEN place
    END AS device_id,
    device_from::ENUM('name', 'number', 'only device', 'order') AS device_from
FROM placed_device
