-- One row is a part of the memory that the framework had allocated on a device when it had most: the blocks of a call site, or
-- what no block explains. The rows of a device add up to the peaks of its allocators; the largest come first.
--
-- device_id   BIGINT   device; NULL when not recorded
-- part        ENUM('blocks', 'allocated before', 'cached', 'whole', 'released unseen')  what it is, as in allocation.peak
-- site_id     TEXT_ID  the place in the program that allocated them, as in allocation.call_site; NULL when not recorded
-- live_bytes  BIGINT   its bytes at the peak
SELECT peak.device_id, peak.part, peak.site_id, sum(peak.live_bytes)::BIGINT AS live_bytes
FROM allocation.peak
LEFT JOIN trace.string AS site ON site.text_id = peak.site_id
WHERE peak.measure = 'allocated' AND peak.role = 'framework'
GROUP BY peak.device_id, peak.part, peak.site_id, site.text
ORDER BY live_bytes DESC, peak.device_id, peak.part, site.text
