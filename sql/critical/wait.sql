-- One row is a call on the host that waited for the device: a kernel ended during the call. A synchronise waits, and so may a
-- call that allocates or frees memory; a copy does where it returns after the copy is done, and a launch that takes a
-- millisecond or more, for a place in a full queue.
--
-- @unique kernel_step by end_ns: of the kernel only the end is read
--
-- host_api_id  BIGINT  a call of trace.host_api
-- start_ns     BIGINT  start, Unix ns, on the clock of the device
-- end_ns       BIGINT  when the host went on, Unix ns, on the clock of the device
WITH copied AS (
    SELECT launch_id, max(end_ns) AS end_ns
    FROM trace.copy
    WHERE launch_id IS NOT NULL
    GROUP BY launch_id
),
call AS (
    SELECT host_api_id, start_ns + clock.offset_ns AS start_ns, end_ns + clock.offset_ns AS end_ns
    FROM trace.host_api
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
    WHERE role IN ('synchronise', 'allocate') OR (role = 'launch' AND duration_ns >= 1_000_000)
    UNION ALL
    SELECT host_api.host_api_id, host_api.start_ns + clock.offset_ns, host_api.end_ns + clock.offset_ns
    FROM trace.host_api
    CROSS JOIN clock.offset AS clock
    JOIN copied ON copied.launch_id = host_api.launch_id AND copied.end_ns <= host_api.end_ns + clock.offset_ns
    WHERE host_api.role = 'copy'
)
SELECT call.host_api_id, call.start_ns, call.end_ns
FROM call
ASOF JOIN step.kernel_step AS kernel ON kernel.end_ns <= call.end_ns
WHERE kernel.end_ns >= call.start_ns
