-- One row is an op, a kernel type and its input shapes: how well those kernels used the cube cores. The longest come first.
-- Kernels that multiply no matrices have no row.
--
-- op_name_id             TEXT_ID  the op that launched them; NULL where linked to no op
-- type_id                TEXT_ID  operator type of the kernels; NULL at Level0
-- input_shapes_id        TEXT_ID  input shapes of the kernels; NULL when not recorded
-- mfu                    DOUBLE   sum of flops / sum of (peak * time) of the kernels of which both are known; NULL without any
-- flops                  BIGINT   FLOPs of those kernels; NULL without any
-- achieved_tflops        DOUBLE   flops / their time, 10^12 a second; NULL without any
-- peak_tflops            DOUBLE   mean of their peaks, by time, 10^12 a second; NULL without any
-- mfu_at_measured_clock  DOUBLE   mfu by the peak at the real clock of the device; NULL where clock samples miss a kernel
-- duration_ns            BIGINT   time of the kernels, ns
-- cube_duration_ns       BIGINT   the part of it of kernels that may multiply matrices, ns
-- known_duration_ns      BIGINT   the part of that which is in mfu, ns
-- known_share            DOUBLE   known_duration_ns / duration_ns; NULL when that is 0
-- kernel_count           BIGINT   kernels of duration_ns
-- flops_sources          VARCHAR  where flops is from, joined by ', '; NULL without any
-- peaks                  VARCHAR  the peaks by data type and where they are from, joined by ', '; NULL without any
-- reasons                VARCHAR  why kernels of cube_duration_ns are not in mfu, joined by '; '; NULL when all are
SELECT
    work.op_name_id,
    work.type_id,
    work.input_shapes_id,
    sum(work.flops) * 1000 / sum(work.possible_flops) AS mfu,
    TRY_CAST(sum(work.flops) AS BIGINT) AS flops,
    sum(work.flops) / nullif(sum(work.known_duration_ns), 0) / 1000 AS achieved_tflops,
    sum(work.possible_flops) / nullif(sum(work.known_duration_ns), 0) / 1000000 AS peak_tflops,
    CASE
        WHEN count(work.possible_at_measured) = count(work.flops)
            THEN sum(work.flops) * 1000 / nullif(sum(work.possible_at_measured), 0)
    END AS mfu_at_measured_clock,
    sum(work.duration_ns)::BIGINT AS duration_ns,
    coalesce(sum(work.duration_ns) FILTER (work.is_cube), 0)::BIGINT AS cube_duration_ns,
    sum(work.known_duration_ns)::BIGINT AS known_duration_ns,
    sum(work.known_duration_ns) / nullif(sum(work.duration_ns), 0) AS known_share,
    sum(work.kernel_count)::BIGINT AS kernel_count,
    string_agg(DISTINCT work.flops_source, ', ' ORDER BY work.flops_source) FILTER (work.flops IS NOT NULL) AS flops_sources,
    string_agg(DISTINCT work.peak, ', ' ORDER BY work.peak) AS peaks,
    string_agg(DISTINCT work.reason, '; ' ORDER BY work.reason) AS reasons
FROM mfu.work
WHERE work.is_cube
GROUP BY work.op_name_id, work.type_id, work.input_shapes_id
ORDER BY duration_ns DESC, work.op_name_id, work.type_id, work.input_shapes_id
