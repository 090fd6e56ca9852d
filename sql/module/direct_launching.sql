-- One row is the fact that ops launch kernels on their own threads; with a task queue there is no row.
--
-- is_direct  BOOLEAN  true
SELECT true AS is_direct
WHERE NOT EXISTS (FROM trace.queue_thread)
