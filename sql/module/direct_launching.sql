-- One row where ops launch on their own threads, without a task queue; else none.
--
-- is_direct  BOOLEAN  true
SELECT true AS is_direct
WHERE NOT EXISTS (FROM trace.queue_thread)
