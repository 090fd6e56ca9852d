-- One row is the rank, if none of its kernels begins within 0.5 ms of its launch: the calls that waited for the device.
--
-- @guard clock.delayed
--
-- waited_count  BIGINT  calls that waited for the device after a launch
-- late_count    BIGINT  of these, calls that return 0.5 ms or more before the kernels launched before them end
WITH launch AS (
    SELECT launch_id, min(start_ns) AS start_ns
    FROM trace.launch
    GROUP BY launch_id
),
linked_kernel AS (
    SELECT coalesce(launch.start_ns, op.start_ns) AS launched_ns, kernel.end_ns
    FROM trace.kernel
    LEFT JOIN launch USING (launch_id)
    LEFT JOIN module.kernel_op USING (kernel_id)
    LEFT JOIN trace.op USING (op_id)
    WHERE kernel.kind <> 'schedule' AND coalesce(launch.start_ns, op.start_ns) IS NOT NULL
),
-- When all that was launched up to a moment had ended.
launched_kernel AS (
    SELECT launched_ns, max(max(end_ns)) OVER (ORDER BY launched_ns ROWS UNBOUNDED PRECEDING) AS reached_ns
    FROM linked_kernel
    GROUP BY launched_ns
)
SELECT count(*) AS waited_count, count(*) FILTER (launched_kernel.reached_ns - call.end_ns >= 500_000) AS late_count
FROM trace.host_api AS call
ASOF JOIN launched_kernel ON launched_kernel.launched_ns < call.start_ns
WHERE call.role = 'synchronise'
