-- One row is a call site: a place in the program that called the allocator, with the blocks of memory of one allocator of a
-- device, the most bytes at the peak first. What was allocated before the recording counts where it is known.
--
-- site_id          TEXT_ID  the place: train.py(82): step; NULL when not recorded
-- @columns component to largest_bytes as in allocation.by_place
SELECT
    by_place.site_id,
    by_place.component,
    by_place.role,
    by_place.device_id,
    by_place.block_count,
    by_place.allocated_bytes,
    by_place.live_bytes,
    by_place.end_bytes,
    by_place.rounding_bytes,
    by_place.largest_bytes
FROM allocation.by_place
LEFT JOIN trace.string AS site ON site.text_id = by_place.site_id
WHERE by_place.level = 'site'
ORDER BY
    by_place.live_bytes DESC,
    by_place.end_bytes DESC,
    by_place.allocated_bytes DESC,
    site.text,
    by_place.component,
    by_place.device_id
