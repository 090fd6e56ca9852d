-- One row is a launch whose op must be found anew from the host's intervals: the profile recorded none, or one that the launch
-- does not lie in, or there are several queue threads, for which the writer of the profile pairs both ends of the queue by
-- position, or all links are to be audited.
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
