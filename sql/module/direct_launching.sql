-- One row is the fact that ops launch on their own threads; with a task queue there is none.
--
-- is_direct  BOOLEAN  true
SELECT true AS is_direct
WHERE NOT EXISTS (FROM trace.queue_thread)
