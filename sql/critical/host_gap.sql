-- One row is a gap in which the device waited for the host: the kernel that ended it was launched too late to start when the
-- device became idle. Shortening a kernel before such a gap saves nothing, unless the host was waiting for it. Gaps whose next
-- launch is not recorded are not included.
--
-- @unique wait by end_ns: of the call only the end is read
--
-- gap_id           BIGINT  a gap of free.gap
-- start_ns         BIGINT  end of the kernel before it, Unix ns
-- launched_ns      BIGINT  when the launch of the kernel that ended it began, Unix ns, on the clock of the device
-- waited_until_ns  BIGINT  when the host last stopped waiting for the device before that launch, Unix ns, on the
--                          clock of the device; NULL when it had not waited before
WITH gap_and_launch AS (
    SELECT gap.gap_id, gap.start_ns, gap.end_ns, min(launch.start_ns + clock.offset_ns) AS launched_ns
    FROM free.gap
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
    JOIN trace.kernel ON kernel.kernel_id = gap.kernel_after_id
    JOIN trace.launch USING (launch_id)
    GROUP BY gap.gap_id, gap.start_ns, gap.end_ns
),
-- Of kernels launched when the device was idle already: no kernel starts faster after its launch.
fastest AS (
    SELECT coalesce(min(end_ns - launched_ns), 0) AS least_ns
    FROM gap_and_launch
    WHERE launched_ns >= start_ns AND end_ns >= launched_ns
)
SELECT gap_and_launch.gap_id, gap_and_launch.start_ns, gap_and_launch.launched_ns, wait.end_ns AS waited_until_ns
FROM gap_and_launch
CROSS JOIN fastest
ASOF LEFT JOIN critical.wait ON wait.end_ns <= gap_and_launch.launched_ns
WHERE gap_and_launch.launched_ns + fastest.least_ns >= gap_and_launch.start_ns AND EXISTS (FROM trace.host_api)
