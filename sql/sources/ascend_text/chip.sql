-- info.json has both figures, if the files of a device agree. Without it, the counters of the kernels give them:
-- cube_utilization(%) is the cycles of all cores / (rated clock * core count * duration), so it gives clock * core count; and
-- cycles / (time * cores used) is the clock. The median of the kernels is taken, since the files hold rounded numbers.
WITH in_file AS (
    SELECT
        device_id,
        min(core_count) AS core_count,
        min(vector_core_count) AS vector_core_count,
        min(clock_mhz) AS clock_mhz,
        min(file) AS origin
    FROM raw.device_info
    WHERE core_count IS NOT NULL AND clock_mhz IS NOT NULL
    GROUP BY device_id
    HAVING count(DISTINCT (core_count, clock_mhz)) = 1
),
measured_clock AS (
    SELECT
        device_id,
        median(cube_cycles * 100000 / (cube_utilization_percent * duration_ns)) AS cycles_per_us,
        median(cube_cycles / (cube_time_us * block_num)) AS clock_mhz
    FROM raw.kernel_detail
    WHERE cube_utilization_percent BETWEEN 1 AND 100
      AND cube_time_us > 0
      AND cube_cycles > 0
      AND block_num > 0
      AND duration_ns > 0
    GROUP BY device_id
),
computed AS (
    SELECT device_id, cycles_per_us, round(cycles_per_us / clock_mhz) AS core_count
    FROM measured_clock
)
SELECT device_id, core_count, vector_core_count, clock_mhz, NULL::VARCHAR AS product, NULL::BOOLEAN AS has_tf32, origin
FROM in_file
UNION ALL
SELECT
    device_id,
    core_count::BIGINT AS core_count,
    NULL AS vector_core_count,
    round(cycles_per_us / core_count)::BIGINT AS clock_mhz,
    NULL AS product,
    NULL AS has_tf32,
    'cube_utilization(%)' AS origin
FROM computed
WHERE core_count BETWEEN 1 AND 1000 AND NOT EXISTS (FROM in_file)
