-- One row is a module, op and type of kernels and the pipe that is busiest in them, with how busy it is. Kernels without ratios
-- of pipes do not count, nor those whose other cores were not counted, where no counted pipe bounds them; where there are
-- steps, only those in steps do.
--
-- module        VARCHAR  path of the module, names joined by '/'; NULL outside modules
-- op_name_id    TEXT_ID  name of the op; NULL when linked to no op
-- type_id       TEXT_ID  operator type; NULL when it is not known
-- bound         VARCHAR  what the pipe does: compute, memory, on chip or scalar, as in pmu.bound
-- busy_percent  BIGINT   part of the time of a kernel in which the pipe is busy, in percent, rounded down
-- kernel_count  BIGINT   kernels
-- duration_ns   BIGINT   their time, ns
-- core_ns       BIGINT   the part of it in which a core works, on average over those that a kernel uses, ns: in the rest others
--                        still work. Kernels of which it is not recorded count fully
-- critical_ns   BIGINT   the part of it in kernels that are critical, as in critical.kernel, ns
-- busy_ns       BIGINT   time of critical_ns in which the pipe is busy, ns
-- other_ns      BIGINT   time of critical_ns in which the busiest pipe of another kind is busy, ns: they take no less where
--                        nothing else than the busiest pipe becomes faster
-- known_ns      BIGINT   part of critical_ns in kernels whose least_ns is known, ns
-- least_ns      BIGINT   time that these need at least, ns: as long as they compute, or to move inputs and outputs at the rate
--                        of roofline.bandwidth; NULL when it is known of none
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
counters AS (
    FROM pmu.kernel_counters
),
busy AS (
    SELECT
        kernel_id,
        if(
            is_part,
            duration_ns,
            least(duration_ns, coalesce(greatest(aic_time_ns, aiv_time_ns), duration_ns))
        ) AS core_ns,
        compute,
        memory,
        on_chip,
        busiest,
        CASE busiest
            WHEN compute THEN greatest(memory, on_chip, scalar)
            WHEN memory THEN greatest(compute, on_chip, scalar)
            WHEN on_chip THEN greatest(compute, memory, scalar)
            ELSE greatest(compute, memory, on_chip)
        END AS other
    FROM busy_pipes(counters)
),
kernel AS (
    SELECT
        kernel.path_id,
        kernel.op_name_id,
        kernel.type_id,
        CASE busy.busiest
            WHEN busy.compute THEN 'compute'
            WHEN busy.memory THEN 'memory'
            WHEN busy.on_chip THEN 'on chip'
            ELSE 'scalar'
        END AS bound,
        least(floor(busy.busiest * 100), 100)::BIGINT AS busy_percent,
        kernel.duration_ns,
        busy.core_ns,
        critical.critical_ns,
        least(busy.busiest, 1) AS busiest,
        least(coalesce(busy.other, 0), 1) AS other,
        if(
            inputs.bytes + outputs.bytes + bandwidth.bytes_per_us IS NULL,
            NULL,
            least(
                kernel.duration_ns,
                greatest(
                    (inputs.bytes + outputs.bytes) * 1000 // bandwidth.bytes_per_us,
                    round(kernel.duration_ns * coalesce(busy.compute, 0))::BIGINT
                )
            )
        ) AS least_ns
    FROM busy
    JOIN module.kernel USING (kernel_id)
    JOIN trace.kernel AS device USING (kernel_id)
    JOIN critical.kernel AS critical USING (kernel_id)
    CROSS JOIN recorded_steps
    LEFT JOIN roofline.bandwidth ON true
    LEFT JOIN roofline.tensors AS inputs
        ON inputs.shapes_id = device.input_shapes_id AND inputs.types_id = device.input_types_id
    LEFT JOIN roofline.tensors AS outputs
        ON outputs.shapes_id = device.output_shapes_id AND outputs.types_id = device.output_types_id
    WHERE kernel.kind = 'compute' AND isfinite(busy.busiest) AND busy.busiest >= 0
      AND (NOT recorded_steps.has_rows OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.step))
),
summed_kernel AS (
    SELECT
        path_id,
        op_name_id,
        type_id,
        bound,
        busy_percent,
        count(*) AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(round(core_ns)::BIGINT)::BIGINT AS core_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(round(critical_ns * busiest)::BIGINT)::BIGINT AS busy_ns,
        sum(round(critical_ns * other)::BIGINT)::BIGINT AS other_ns,
        coalesce(sum(critical_ns) FILTER (least_ns IS NOT NULL), 0)::BIGINT AS known_ns,
        sum(round(least_ns * critical_ns / duration_ns)::BIGINT) FILTER (critical_ns > 0)::BIGINT AS least_ns
    FROM kernel
    GROUP BY ALL
)
SELECT path.module_path AS module, summed_kernel.* EXCLUDE (path_id)
FROM summed_kernel
LEFT JOIN module.path USING (path_id)
ORDER BY duration_ns DESC, path_id, op_name_id, type_id, bound, busy_percent
