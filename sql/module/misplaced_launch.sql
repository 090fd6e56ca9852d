-- One row is a launch that does not lie inside the op that the profile recorded for it, on the thread of that op.
--
-- @guard module.direct_launching
--
-- launch_id  BIGINT  a launch of module.recorded_link
--
-- With a task queue, launches lie in no op.
SELECT DISTINCT recorded_link.launch_id
FROM module.recorded_link
JOIN trace.op USING (op_id)
JOIN trace.launch USING (launch_id)
WHERE launch.tid <> op.tid OR launch.start_ns < op.start_ns OR launch.end_ns > op.end_ns
