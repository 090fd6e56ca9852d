-- Events of the host's memory are no damage.
WITH rejected AS (
    SELECT
        'memory events' AS what,
        start_ns,
        start_ns AS end_ns,
        CASE
            WHEN is_moment(start_ns) IS NOT TRUE THEN why_not_alive(start_ns, start_ns)
            WHEN device_type IS NULL THEN 'they name no device'
            WHEN address IS NULL OR is_change(size_bytes) IS NOT TRUE THEN 'they have no address or no possible size'
            WHEN NOT are_totals(allocated_bytes, reserved_bytes, NULL) THEN 'their totals are not possible'
        END AS reason
    FROM raw.memory_event
    WHERE device_type IS DISTINCT FROM 0
),
counted AS (
    SELECT
        *,
        threshold_of(reason, getvariable('host_longest_ns')) AS threshold_ns,
        time_set_aside(reason, start_ns, end_ns) AS time_ns
    FROM rejected
    WHERE reason IS NOT NULL
)
SELECT what, reason, max(threshold_ns) AS threshold_ns, count(*) AS row_count, TRY_CAST(sum(time_ns) AS BIGINT) AS time_ns
FROM counted
GROUP BY what, reason
ORDER BY what, reason
