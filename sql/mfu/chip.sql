-- One row is a device of the rank's kernels, and its cube cores.
--
-- device_id      BIGINT   device; NULL when not recorded
-- core_count     BIGINT   cube cores; NULL when not known
-- clock_mhz      BIGINT   rated clock, MHz; NULL when not known
-- product        VARCHAR  name of the product; NULL when not known
-- origin         VARCHAR  where these come from, as in trace.chip; NULL when not known
--
-- Where there is only one device, kernels and chip mean the same one, even if they name it differently.
WITH device AS (
    SELECT DISTINCT device_id
    FROM mfu.cube_kernel
),
only_chip AS (
    SELECT
        min(core_count) AS core_count,
        min(clock_mhz) AS clock_mhz,
        min(product) AS product,
        min(origin) AS origin
    FROM trace.chip
    HAVING count(*) = 1 AND (SELECT count(*) FROM device) = 1
)
SELECT
    device.device_id,
    coalesce(chip.core_count, only_chip.core_count) AS core_count,
    coalesce(chip.clock_mhz, only_chip.clock_mhz) AS clock_mhz,
    coalesce(chip.product, only_chip.product) AS product,
    coalesce(chip.origin, only_chip.origin) AS origin
FROM device
LEFT JOIN trace.chip ON chip.device_id = device.device_id
LEFT JOIN only_chip ON true
