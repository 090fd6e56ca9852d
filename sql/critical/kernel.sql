-- One row is a compute or communication kernel, or a copy, whether the work after it could begin earlier if it were shorter,
-- and how much of its time can be won at most. Where it is not known whether the host waited, it is critical.
--
-- @unique moment by start_ns: of kernels that start at the same time only the last is left
-- @unique host_gap by start_ns: gaps do not overlap
-- @unique wait by end_ns: of the call only the end is read
--
-- kernel_id    BIGINT   a kernel of trace.kernel, with a row in step.kernel_step
-- is_critical  BOOLEAN  false where a shorter kernel wins nothing: after it the device waited for the host, and the host had
--                       not waited for the device in between; or another kernel ran on, and nothing began before that ended
-- critical_ns  BIGINT   by how much the device is busy for less without it, ns: 0 where it is not critical, else its time
--                       without the time in which compute kernels of other types run beside it, as in critical.alone;
--                       computing beside communication counts
WITH kernel AS (
    SELECT kernel_id, start_ns, end_ns
    FROM step.kernel_step
    ORDER BY start_ns, end_ns, kernel_id
),
-- The windows over rows that are in order already are streamed.
kernel_in_order AS (
    SELECT *, max(end_ns) OVER (ROWS UNBOUNDED PRECEDING) AS reached_ns, lead(start_ns) OVER () AS next_ns
    FROM kernel
),
-- Of kernels that start at the same time the last one knows what all of them reach.
moment AS (
    SELECT start_ns, reached_ns, next_ns
    FROM kernel_in_order
    WHERE next_ns IS NULL OR next_ns > start_ns
),
overlapping_kernel AS (
    SELECT kernel_id, end_ns
    FROM kernel_in_order
    WHERE end_ns < reached_ns OR next_ns < end_ns
),
covered AS (
    SELECT overlapping_kernel.kernel_id, overlapping_kernel.end_ns, moment.reached_ns
    FROM overlapping_kernel
    ASOF JOIN moment ON moment.start_ns < overlapping_kernel.end_ns
    WHERE moment.reached_ns > overlapping_kernel.end_ns AND (moment.next_ns IS NULL OR moment.next_ns >= moment.reached_ns)
),
-- The host may have waited for such a kernel alone.
passed_over AS (
    SELECT covered.kernel_id
    FROM covered
    ASOF LEFT JOIN critical.wait ON wait.end_ns >= covered.end_ns
    WHERE EXISTS (FROM trace.host_api) AND (wait.end_ns IS NULL OR wait.end_ns >= covered.reached_ns)
)
SELECT
    kernel.kernel_id,
    passed_over.kernel_id IS NULL
    AND (host_gap.gap_id IS NULL OR coalesce(host_gap.waited_until_ns >= kernel.end_ns, false)) AS is_critical,
    if(is_critical, coalesce(alone.alone_ns, kernel.end_ns - kernel.start_ns), 0) AS critical_ns
FROM kernel
ASOF LEFT JOIN critical.host_gap ON host_gap.start_ns >= kernel.end_ns
LEFT JOIN passed_over USING (kernel_id)
LEFT JOIN critical.alone ON alone.kernel_id = kernel.kernel_id
