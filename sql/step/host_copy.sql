-- One row is a direction between host and device and a kind of memory of the host: the copies of 64 KiB or more, and how fast
-- they are. Only where copies are kernels and the recording names the memory, and where there are steps, only copies in steps.
--
-- @guard trace.copy
--
-- direction        VARCHAR  host to device or device to host
-- host_memory      VARCHAR  pageable or pinned
-- copy_count       BIGINT   copies
-- duration_ns      BIGINT   their time, ns
-- critical_ns      BIGINT   the part of it in copies that are critical, as in critical.kernel, ns
-- size_bytes       BIGINT   their bytes
-- bandwidth_gb_s   DOUBLE   bytes / time, 10^9 bytes per second
-- best_gb_s        DOUBLE   the same of the fastest copy of 1 MiB or more; NULL without one
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
)
SELECT
    copy.direction::VARCHAR AS direction,
    copy.host_memory::VARCHAR AS host_memory,
    count(*) AS copy_count,
    sum(copy.duration_ns)::BIGINT AS duration_ns,
    sum(critical.critical_ns)::BIGINT AS critical_ns,
    sum(copy.size_bytes)::BIGINT AS size_bytes,
    sum(copy.size_bytes) / sum(copy.duration_ns) AS bandwidth_gb_s,
    max(copy.size_bytes / copy.duration_ns) FILTER (copy.size_bytes >= 1048576) AS best_gb_s
FROM trace.copy
JOIN critical.kernel AS critical USING (kernel_id)
JOIN step.copy_step USING (copy_id)
CROSS JOIN recorded_steps
WHERE copy.direction IN ('host to device', 'device to host')
    AND copy.host_memory IS NOT NULL
    -- Smaller ones take the time that a copy takes to start.
    AND copy.size_bytes >= 65536
    AND copy.duration_ns > 0
    AND (NOT recorded_steps.has_rows OR copy_step.step_id IS NOT NULL)
GROUP BY copy.direction, copy.host_memory
ORDER BY duration_ns DESC, direction, host_memory
