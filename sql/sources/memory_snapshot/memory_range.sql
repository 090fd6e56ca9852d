-- Ranges of one name may lie in each other: the n-th open start belongs to the n-th end from the inside.
WITH mark AS (
    SELECT
        number,
        coalesce(device, getvariable('device_id'), 0) AS device,
        name,
        stage,
        time_us * 1000 AS time_ns,
        sum(if(stage = 'START', 1, -1)) OVER (PARTITION BY device, name ORDER BY time_us, number) + if(stage = 'START', 0, 1)
            AS level
    FROM raw.snapshot_annotation
    WHERE stage IN ('START', 'END') AND name IS NOT NULL AND time_us BETWEEN 0 AND 9000000000000000 AND is_on_device(device)
),
paired AS (
    SELECT
        *,
        lead(time_ns) OVER same AS next_ns,
        lead(stage) OVER same AS next_stage,
        lag(stage) OVER same AS last_stage
    FROM mark
    WINDOW same AS (PARTITION BY device, name, level ORDER BY time_ns, number)
)
SELECT
    number AS range_id,
    device AS device_id,
    text_id(name) AS name_id,
    if(stage = 'START', time_ns, NULL) AS start_ns,
    CASE WHEN stage = 'END' THEN time_ns WHEN next_stage = 'END' THEN next_ns END AS end_ns
FROM paired
WHERE stage = 'START' OR last_stage IS DISTINCT FROM 'START'
