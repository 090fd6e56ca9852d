-- One row is a device with samples of its real clock below its rated clock. Where there is none, no kernel ran slower for it.
--
-- @guard trace.clock
--
-- device_id  BIGINT  device
SELECT DISTINCT device_id
FROM trace.clock
JOIN clock.rated USING (device_id)
WHERE coalesce(clock.clock_mhz < rated.rated_mhz, true)
