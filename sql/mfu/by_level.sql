-- One row is a module path with all inside it, an op with a kernel type and input shapes, or the whole rank: its model FLOPs
-- utilisation, and how well its kernels used the cube cores.
--
-- level                  VARCHAR  module, op or rank: scope of the row
-- path_id                BIGINT   the path of module.path; NULL for levels other than module
-- op_name_id             TEXT_ID  the op that launched them; NULL where linked to no op, and for levels other than op
-- type_id                TEXT_ID  operator type of the kernels; NULL when it is not known, and for levels other than op
-- input_shapes_id        TEXT_ID  input shapes of the kernels; NULL when not recorded, and for levels other than op
-- mfu                    DOUBLE   model FLOPs utilisation: at_peak_ps / elapsed_ns / 1000; that of a module or op is its part
--                                 of the rank's; NULL without any
-- efficiency             DOUBLE   known_flops / possible_flops: how well these kernels used the cube cores while they ran; NULL
--                                 without any
-- known_flops            BIGINT   FLOPs of the kernels with known FLOPs and peak; NULL without any
-- possible_flops         BIGINT   sum of (peak * time) of these kernels; NULL without any
-- flops                  BIGINT   FLOPs of all kernels with known FLOPs, also without a peak; NULL without any
-- achieved_tflops        DOUBLE   flops / the time of these kernels, 10^12 per second; NULL without any
-- peak_tflops            DOUBLE   mean peak of the kernels of known_flops, weighted by time, 10^12 per second; NULL without any
-- efficiency_at_measured_clock  DOUBLE  efficiency with the peak at the real clock of the device; NULL where clock samples miss
--                                 a kernel
-- at_peak_ps             BIGINT   time that known_flops would take at the peak, ps; NULL without any
-- elapsed_ns             BIGINT   time of the rank from its first kernel to the end of its last one, as in mfu.elapsed
-- duration_ns            BIGINT   time of its compute kernels, for an op only of those that may multiply matrices, ns
-- cube_duration_ns       BIGINT   part of duration_ns in kernels that may multiply matrices, ns
-- flops_duration_ns      BIGINT   part of cube_duration_ns in kernels with known FLOPs, ns
-- known_duration_ns      BIGINT   part of flops_duration_ns in kernels of known_flops, ns
-- known_share            DOUBLE   known_duration_ns / duration_ns; NULL when that is 0
-- cube_known_share       DOUBLE   known_duration_ns / cube_duration_ns; NULL when that is 0
-- mac_duration_ns        BIGINT   part of cube_duration_ns in kernels without a formula whose matrix unit worked, as hardware
--                                 counters say, ns
-- mac_ratio              DOUBLE   part of the time of the cube cores of these in which it did: the mean weighted by their time;
--                                 NULL without any
-- kernel_count           BIGINT   kernels of duration_ns
-- flops_sources          VARCHAR  where flops comes from, joined by ', '; NULL without any
-- peaks                  VARCHAR  the peaks by data type and where they come from, joined by ', '; NULL without any
-- reasons                VARCHAR  why kernels of cube_duration_ns have no efficiency, joined by '; '; NULL when all have one
WITH at_level AS (
    SELECT 'rank' AS level, * REPLACE (NULL AS op_name_id, NULL AS type_id, NULL AS input_shapes_id, NULL AS path_id)
    FROM mfu.work
    UNION ALL
    SELECT 'op', * REPLACE (NULL AS path_id)
    FROM mfu.work
    WHERE is_cube
    UNION ALL
    SELECT 'module', work.* REPLACE (NULL AS op_name_id, NULL AS type_id, NULL AS input_shapes_id, enclosing_id AS path_id)
    FROM mfu.work
    JOIN module.enclosing_path USING (path_id)
)
SELECT
    level,
    path_id,
    op_name_id,
    type_id,
    input_shapes_id,
    sum(at_peak_ps) / min(elapsed_ns) / 1000 AS mfu,
    sum(known_flops) * 1000 / sum(possible_flops) AS efficiency,
    TRY_CAST(sum(known_flops) AS BIGINT) AS known_flops,
    TRY_CAST(sum(possible_flops) // 1000 AS BIGINT) AS possible_flops,
    TRY_CAST(sum(flops) AS BIGINT) AS flops,
    sum(flops) / nullif(sum(flops_duration_ns), 0) / 1000 AS achieved_tflops,
    sum(possible_flops) / nullif(sum(known_duration_ns), 0) / 1000000 AS peak_tflops,
    CASE
        WHEN count(possible_at_measured) = count(known_flops)
            THEN sum(known_flops) * 1000 / nullif(sum(possible_at_measured), 0)
    END AS efficiency_at_measured_clock,
    sum(at_peak_ps)::BIGINT AS at_peak_ps,
    min(elapsed_ns) AS elapsed_ns,
    sum(duration_ns)::BIGINT AS duration_ns,
    coalesce(sum(duration_ns) FILTER (is_cube), 0)::BIGINT AS cube_duration_ns,
    sum(flops_duration_ns)::BIGINT AS flops_duration_ns,
    sum(known_duration_ns)::BIGINT AS known_duration_ns,
    sum(known_duration_ns) / nullif(sum(duration_ns), 0) AS known_share,
    sum(known_duration_ns) / nullif(sum(duration_ns) FILTER (is_cube), 0) AS cube_known_share,
    coalesce(sum(mac_duration_ns), 0)::BIGINT AS mac_duration_ns,
    sum(mac_time) / nullif(sum(mac_duration_ns), 0) / 1000000000000 AS mac_ratio,
    sum(kernel_count)::BIGINT AS kernel_count,
    string_agg(DISTINCT flops_source, ', ' ORDER BY flops_source) FILTER (flops IS NOT NULL) AS flops_sources,
    string_agg(DISTINCT peak, ', ' ORDER BY peak) AS peaks,
    string_agg(DISTINCT reason, '; ' ORDER BY reason) AS reasons
FROM at_level
CROSS JOIN mfu.elapsed
GROUP BY level, path_id, op_name_id, type_id, input_shapes_id
