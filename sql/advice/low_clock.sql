-- One row is a rank whose kernels ran below the rated clock of the device.
--
-- @guard clock.loss
-- @title Kernels run below the rated clock
-- @evidence {count} of {kernel_count} kernels run at {mean_mhz} MHz on average instead of {rated_mhz} MHz, for {below_ns}: at
--     most {time_ns} longer[, of it {computing_lost_ns} in critical kernels that computing bounds]{unless_critical(time_ns,
--     win_ns)}
-- @kind upper bound
-- @remedy Look at power, temperature and power limit of the device while it runs (<<npu-smi info -t power||nvidia-smi -q -d
--     PERFORMANCE>>), and compare ranks: a device that throttles needs cooling or a higher limit.
-- @query SELECT lost_ns, critical_lost_ns, below_count, mean_below_mhz, rated_mhz FROM clock.loss ORDER BY lost_ns DESC LIMIT
--     20
-- @counts kernels
-- @requires compute, clock
-- @threshold least_drop 0.05: Mean drop below the rated clock, as in msprof-analyze
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- kernel_count       BIGINT  all kernels
-- mean_mhz           BIGINT  mean clock of those below the rated one, MHz
-- rated_mhz          BIGINT  rated clock, MHz
-- below_ns           BIGINT  their time, ns
-- computing_lost_ns  BIGINT  the part of the win in kernels that computing bounds, ns; NULL when not known
--
-- Kernels that ran at least 5 % below the rated clock on average (`low_clock.least_drop`, as in msprof-analyze), from
-- `clock.loss`. The win is their critical time × (1 − clock / rated clock): an upper bound, since only compute-bound kernels
-- become so much faster. If counters were recorded, the evidence names the compute-bound part. The rule needs samples of the
-- clock, which GPU traces and 910A do not have.
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_drop') AS least_drop
    FROM advice.threshold
    WHERE rule = 'low_clock'
)
SELECT
    loss.profile,
    loss.rank_id,
    loss.below_count AS count,
    loss.lost_ns AS time_ns,
    loss.critical_lost_ns AS win_ns,
    loss.kernel_count,
    round(loss.mean_below_mhz)::BIGINT AS mean_mhz,
    loss.rated_mhz,
    loss.below_ns,
    loss.computing_lost_ns
FROM clock.loss
CROSS JOIN threshold
WHERE loss.rated_mhz - loss.mean_below_mhz >= threshold.least_drop * loss.rated_mhz
