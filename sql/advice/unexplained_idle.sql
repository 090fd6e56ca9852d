-- One row is a rank whose device is idle while the profile does not say what the host did.
--
-- @guard free.unrecorded_launch
-- @title The device is idle for reasons not recorded
-- @evidence The device is idle for {time_ns} before {count} kernels whose launch is not recorded, {idle_share} of the time[;
--     the longest gap has {longest_ns}, before {kernel_after}]
-- @kind upper bound
-- @remedy Record the host too (activities=[[ProfilerActivity.CPU, ProfilerActivity.<<NPU||CUDA>>]]), keep all files of the
--     profile, and ask again. Many short gaps: the host launches too slowly. Few long ones: it waits, loads data or schedules.
-- @query SELECT duration_ns, cause_ns, step_id, kernel_before, kernel_after FROM free.longest_gap WHERE coalesce(cause =
--     'launch not recorded', true) ORDER BY duration_ns DESC LIMIT 20
-- @counts host
-- @requires kernels
-- @threshold least_mean_ns 5000 ns: Mean length of the gaps; the device itself makes shorter ones
-- @threshold least_share 0.05: Share of the time in which the device must be idle so
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- idle_share    DOUBLE   share of the time in which the device is idle so
-- longest_ns    BIGINT   the longest of these gaps, ns; NULL when it is none of the longest of the rank
-- kernel_after  VARCHAR  the kernel after it
--
-- Idle time of the device before kernels whose launch is not recorded, if it is 5 % of the time or more, and 5 us a gap on
-- average (the device itself makes shorter gaps). The win is an upper bound, since the activity of the host is not known. A
-- profile of kernels alone (`kernel_details.csv`) allows no more than this. An [idle edge](step-time.md#free-time) of such a
-- recording is not included. Record the host too, and `advise` names the cause.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_share') AS least_share,
        max(value) FILTER (name = 'least_mean_ns') AS least_mean_ns
    FROM advice.threshold
    WHERE rule = 'unexplained_idle'
),
idle AS (
    SELECT profile, sum(gap_count)::BIGINT AS gap_count, sum(total_ns)::BIGINT AS total_ns
    FROM free.unrecorded_launch
    GROUP BY profile
),
-- Where other gaps are longer, none of these is among the longest.
longest AS (
    SELECT profile, max(duration_ns) AS duration_ns, arg_max(kernel_after, (duration_ns, -start_ns)) AS kernel_after
    FROM free.longest_unrecorded
    GROUP BY profile
)
SELECT
    rank_step.profile,
    rank_step.rank_id,
    idle.gap_count AS count,
    idle.total_ns AS time_ns,
    idle.total_ns AS win_ns,
    idle.total_ns / rank_step.duration_ns AS idle_share,
    longest.duration_ns AS longest_ns,
    coalesce(longest.kernel_after, 'a kernel without a name') AS kernel_after
FROM idle
JOIN across.rank_step AS rank_step ON rank_step.profile = idle.profile
LEFT JOIN longest ON longest.profile = idle.profile
CROSS JOIN threshold
WHERE
    idle.total_ns >= threshold.least_share * rank_step.duration_ns
    AND idle.total_ns >= threshold.least_mean_ns * idle.gap_count
    AND idle.gap_count > 0
