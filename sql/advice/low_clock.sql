-- One row is a rank whose kernels ran below the rated clock of the device.
-- Requires compute, clock.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_drop') AS least_drop
    FROM advice.threshold
    WHERE rule = 'low_clock'
)
SELECT
    loss.profile,
    loss.rank_id,
    'Kernels run below the rated clock' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        '{} of {} kernels run at {} MHz on average instead of {} MHz, for {}: at most {} longer{}{}',
        loss.below_count,
        loss.kernel_count,
        round(loss.mean_below_mhz)::BIGINT,
        loss.rated_mhz,
        shown_time(loss.below_ns),
        shown_time(loss.lost_ns),
        if(
            loss.computing_lost_ns IS NULL,
            '',
            format(', of it {} in critical kernels that computing bounds', shown_time(loss.computing_lost_ns))
        ),
        unless_critical(loss.lost_ns, loss.critical_lost_ns)
    ) AS evidence,
    loss.below_count AS count,
    loss.lost_ns AS time_ns,
    loss.critical_lost_ns AS win_ns,
    'upper bound' AS kind,
    'Look at power, temperature and power limit of the device while it runs (npu-smi info -t power, nvidia-smi -q -d '
    || 'PERFORMANCE), and compare ranks: a device that throttles needs cooling or a higher limit.' AS what_to_do,
    'docs/rules.md#low-clock' AS doc,
    'SELECT lost_ns, critical_lost_ns, below_count, mean_below_mhz, rated_mhz FROM clock.loss '
    || 'ORDER BY lost_ns DESC LIMIT 20' AS sql
FROM clock.loss
CROSS JOIN threshold
WHERE loss.rated_mhz - loss.mean_below_mhz >= threshold.least_drop * loss.rated_mhz
