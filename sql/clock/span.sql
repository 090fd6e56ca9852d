-- One row is a span of time in which a device had one clock, from the first kernel to the end of the last one.
--
-- @guard trace.clock
-- @unique covered by start_ns: covered() has a row a moment
--
-- device_id     BIGINT  device; NULL when not recorded
-- start_ns      BIGINT  start, Unix ns
-- end_ns        BIGINT  end, Unix ns
-- duration_ns   BIGINT  end - start
-- clock_mhz     BIGINT  the clock, MHz; NULL before the first sample
-- rated_mhz     BIGINT  rated clock, as in clock.rated, MHz
-- computing_ns  BIGINT  part of it in which a compute kernel ran, ns; a low clock costs nothing while none runs
WITH recorded_time AS (
    SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM trace.kernel
    WHERE kind <> 'schedule'
),
moment AS (
    SELECT device_id, start_ns, clock_mhz
    FROM trace.clock
    UNION ALL
    -- Unless a sample is as early as the first kernel, the clock before the first sample is not known.
    SELECT rated.device_id, recorded_time.start_ns, NULL
    FROM clock.rated
    CROSS JOIN recorded_time
    WHERE recorded_time.start_ns NOT IN (
        SELECT clock.start_ns
        FROM trace.clock
        WHERE clock.device_id IS NOT DISTINCT FROM rated.device_id
    )
),
in_force AS (
    SELECT
        device_id,
        start_ns,
        last_value(clock_mhz IGNORE NULLS) OVER (PARTITION BY device_id ORDER BY start_ns) AS clock_mhz
    FROM moment
),
changed_clock AS (
    SELECT *
    FROM in_force
    QUALIFY clock_mhz IS DISTINCT FROM lag(clock_mhz) OVER (PARTITION BY device_id ORDER BY start_ns)
        OR row_number() OVER (PARTITION BY device_id ORDER BY start_ns) = 1
),
span AS (
    SELECT
        changed_clock.device_id,
        greatest(changed_clock.start_ns, recorded_time.start_ns) AS start_ns,
        -- least() ignores NULL.
        least(
            lead(changed_clock.start_ns) OVER (PARTITION BY device_id ORDER BY changed_clock.start_ns), recorded_time.end_ns
        ) AS end_ns,
        changed_clock.clock_mhz
    FROM changed_clock
    CROSS JOIN recorded_time
),
computing AS (
    SELECT start_ns, end_ns
    FROM trace.kernel
    WHERE kind = 'compute'
),
covered AS (
    SELECT start_ns, covered_ns, reached_ns
    FROM covered(computing)
)
SELECT
    span.device_id,
    span.start_ns,
    span.end_ns,
    span.end_ns - span.start_ns AS duration_ns,
    span.clock_mhz,
    rated.rated_mhz,
    (
        covered_until(at_end.covered_ns, at_end.reached_ns, span.end_ns)
        - covered_until(at_start.covered_ns, at_start.reached_ns, span.start_ns)
    )::BIGINT AS computing_ns
FROM span
JOIN clock.rated ON rated.device_id IS NOT DISTINCT FROM span.device_id
ASOF LEFT JOIN covered AS at_end ON at_end.start_ns <= span.end_ns
ASOF LEFT JOIN covered AS at_start ON at_start.start_ns <= span.start_ns
WHERE span.end_ns > span.start_ns
ORDER BY span.device_id, span.start_ns
