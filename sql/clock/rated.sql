-- One row is a device with samples of its real clock, and its rated clock.
--
-- @guard trace.clock
--
-- device_id  BIGINT   device; NULL when not recorded
-- rated_mhz  BIGINT   rated clock, MHz; where the profile does not say it, the highest clock seen
-- origin     VARCHAR  where it comes from: as in trace.chip, or the highest clock seen
WITH seen_clock AS (
    SELECT device_id, max(clock_mhz) AS clock_mhz
    FROM trace.clock
    GROUP BY device_id
),
-- Where there is only one device, both mean the same one, even if they name it differently.
only_chip AS (
    SELECT min(clock_mhz) AS clock_mhz, min(origin) AS origin
    FROM trace.chip
    HAVING count(*) = 1 AND (SELECT count(*) FROM seen_clock) = 1
)
SELECT
    seen_clock.device_id,
    coalesce(chip.clock_mhz, only_chip.clock_mhz, seen_clock.clock_mhz) AS rated_mhz,
    if(
        coalesce(chip.clock_mhz, only_chip.clock_mhz) IS NULL,
        'the highest clock seen',
        if(chip.clock_mhz IS NULL, only_chip.origin, chip.origin)
    ) AS origin
FROM seen_clock
LEFT JOIN trace.chip ON chip.device_id = seen_clock.device_id
LEFT JOIN only_chip ON true
