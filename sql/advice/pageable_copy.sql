-- One row is a rank and a direction in which copies between host and device are slow, since the memory of the host is pageable.
--
-- @guard step.host_copy
-- @title (is_to_host) Copies to pageable memory of the host are slow
-- @title Copies from pageable memory of the host are slow
-- @evidence {count|1 copy moves|copies move} {size_bytes} in {time_ns}, {bandwidth_gb_s:.1f} GB/s[; pinned memory reaches
--     {pinned_gb_s:.1f} GB/s here]{unless_critical(time_ns, critical_ns)}
-- @kind upper bound
-- @remedy (is_to_host) Copy into pinned memory, torch.empty(..., pin_memory=True).copy_(value, non_blocking=True), and read
--     it after an event: then the copy is faster, and runs beside kernels.
-- @remedy Copy from pinned memory with non_blocking=True (pin_memory=True in the DataLoader, .pin_memory() on a tensor, pinned
--     buffers for weights that are offloaded): then the copy is faster, and runs beside kernels.
-- @query SELECT duration_ns, size_bytes, bandwidth_gb_s, direction, host_memory FROM step.host_copy ORDER BY duration_ns DESC
--     LIMIT 20
-- @counts kernels
-- @requires kernels
-- @threshold least_win_share 0.1: Share of the critical time that can be won
-- @threshold pinned_gb_s 20 GB/s: What pinned memory reaches where the recording has no copy of 1 MiB or more from it: PCIe
--     4.0 with 16 lanes moves 25 and more
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- is_to_host      BOOLEAN  whether the copies go from the device to the host
-- critical_ns     BIGINT   the part of time_ns in copies that are critical, as in critical.kernel, ns
-- size_bytes      BIGINT   their bytes
-- bandwidth_gb_s  DOUBLE   bytes / time, 10^9 bytes per second
-- pinned_gb_s     DOUBLE   rate of the fastest copy of 1 MiB or more from or to pinned memory; NULL without one
--
-- Copies of 64 KiB or more between host and device whose memory on the host the recording calls pageable (GPU traces of NVIDIA
-- name it; others do not, and there are no findings): the driver first copies them into pinned memory. The win is an upper
-- bound: the critical time less the time of the same bytes at the rate of the fastest copy of 1 MiB or more from pinned memory
-- in the same direction, or at 20 GB/s (`pinned_gb_s`) if there is none. The host waits for such a copy as well: [host
-- copy](#host-copy).
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_win_share') AS least_win_share,
        max(value) FILTER (name = 'pinned_gb_s') AS pinned_gb_s
    FROM advice.threshold
    WHERE rule = 'pageable_copy'
),
pinned AS (
    SELECT profile, direction, best_gb_s
    FROM step.host_copy
    WHERE host_memory = 'pinned'
),
pageable AS (
    SELECT
        copy.*,
        pinned.best_gb_s AS pinned_gb_s,
        greatest(0, 1 - copy.bandwidth_gb_s / coalesce(pinned.best_gb_s, threshold.pinned_gb_s)) AS win_share
    FROM step.host_copy AS copy
    LEFT JOIN pinned ON pinned.profile = copy.profile AND pinned.direction = copy.direction
    CROSS JOIN threshold
    WHERE copy.host_memory = 'pageable'
)
SELECT
    pageable.profile,
    pageable.rank_id,
    pageable.copy_count AS count,
    pageable.duration_ns AS time_ns,
    round(pageable.critical_ns * pageable.win_share)::BIGINT AS win_ns,
    pageable.direction = 'device to host' AS is_to_host,
    pageable.critical_ns,
    pageable.size_bytes,
    pageable.bandwidth_gb_s,
    pageable.pinned_gb_s
FROM pageable
CROSS JOIN threshold
WHERE pageable.win_share >= threshold.least_win_share AND pageable.critical_ns > 0
