-- One row is a pass and whether it is of the steady state. What captures graphs is not, nor the first passes of one phase, with
-- as many requests and tokens, that take more than twice the median of all such passes; of fewer than 4 such passes all are.
--
-- @guard pass.kernel
--
-- pass_id    BIGINT   a pass of pass.instance
-- cycle_ns   BIGINT   time on the device from the end of the passes before to its own end, ns
-- is_steady  BOOLEAN  whether it is of the steady state; NULL for a capture
WITH threshold AS (
    SELECT 2 AS most_medians, 4 AS least_passes
),
timed AS (
    SELECT
        instance.pass_id,
        instance.phase,
        instance.request_count,
        instance.token_count,
        time.duration_ns + coalesce(before.duration_ns, 0) AS cycle_ns,
        time.duration_ns
    FROM pass.instance
    JOIN pass.turn_time AS time ON time.pass_id = instance.pass_id
    LEFT JOIN pass.turn_time AS before ON before.next_id = instance.pass_id
),
alike AS (
    SELECT
        *,
        duration_ns > most_medians * quantile_disc(duration_ns, 0.5) OVER same AND count(*) OVER same >= least_passes AS is_long
    FROM timed
    -- All pairs: the thresholds are one row.
    CROSS JOIN threshold
    WINDOW same AS (PARTITION BY phase, request_count, token_count)
)
SELECT
    pass_id,
    cycle_ns,
    if(
        phase = 'capture',
        NULL,
        NOT bool_and(is_long) OVER (
            PARTITION BY phase, request_count, token_count ORDER BY pass_id ROWS UNBOUNDED PRECEDING
        )
    ) AS is_steady
FROM alike
