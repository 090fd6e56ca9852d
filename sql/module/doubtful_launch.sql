-- One row is a launch whose op must be derived from the host's intervals: the profile recorded no op, or one in which the
-- launch does not lie; or there are several queue threads, for which the profiler pairs both ends of the queue by position; or
-- all links are audited.
--
-- launch_id  BIGINT  a launch of trace.kernel
WITH queue AS (
    SELECT count(*) > 1 AS has_several_threads
    FROM trace.queue_thread
)
SELECT DISTINCT kernel.launch_id
FROM trace.kernel
CROSS JOIN queue
LEFT JOIN module.recorded_link USING (launch_id)
LEFT JOIN module.misplaced_launch USING (launch_id)
WHERE kernel.launch_id IS NOT NULL
  AND (
    recorded_link.op_id IS NULL
    OR misplaced_launch.launch_id IS NOT NULL
    OR queue.has_several_threads
    OR getvariable('audit_links')
  )
