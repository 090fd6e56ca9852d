-- One row is a forward call of a module that starts in another call on its thread and ends after it, so that neither lies in
-- the other.
--
-- interval_id  BIGINT   an interval of module.interval
-- tid          BIGINT   its host thread
-- name_id      TEXT_ID  class name of the module
-- start_ns     BIGINT   its start, Unix ns
SELECT interval.interval_id, interval.tid, interval.name_id, interval.start_ns
FROM module.interval_parent
JOIN module.interval USING (interval_id)
WHERE interval_parent.is_crossing AND interval.kind = 'module'
