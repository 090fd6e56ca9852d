-- One row is a part of the memory that the framework had allocated on a device when it had most: the blocks of a module, or
-- what no block explains. The rows of a device add up to the peaks of its allocators; the largest come first.
--
-- device_id    BIGINT   device; NULL when not recorded
-- part         ENUM('blocks', 'allocated before', 'cached', 'whole', 'released unseen')  what it is, as in allocation.peak
-- module_path  VARCHAR  of blocks, names of the module and of those around it, joined by '/'; NULL outside modules
-- live_bytes   BIGINT   its bytes at the peak
SELECT device_id, part, path_of_module(parent_module, module) AS module_path, sum(live_bytes)::BIGINT AS live_bytes
FROM allocation.peak
WHERE measure = 'allocated' AND role = 'framework'
GROUP BY ALL
ORDER BY live_bytes DESC, device_id, part, module_path
