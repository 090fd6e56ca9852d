-- One row is the rank, and on what device it ran, as far as the profile says it.
--
-- name        VARCHAR  name of the device; NULL when not recorded, or of several
-- core_count  BIGINT   cores that multiply matrices; NULL when not recorded, or where devices differ
-- clock_mhz   BIGINT   their rated clock, MHz; NULL when not recorded, or where devices differ
WITH name AS (
    SELECT min(name) AS name
    FROM trace.device
    WHERE device_id = getvariable('device_id') OR getvariable('device_id') IS NULL
    HAVING count(DISTINCT name) = 1
),
chip AS (
    SELECT min(core_count) AS core_count, min(clock_mhz) AS clock_mhz
    FROM trace.chip
    HAVING count(DISTINCT (core_count, clock_mhz)) = 1
)
SELECT name.name, chip.core_count, chip.clock_mhz
FROM (SELECT 1)
LEFT JOIN name ON true
LEFT JOIN chip ON true
