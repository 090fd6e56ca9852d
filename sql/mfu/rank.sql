-- One row is a rank: how well its compute kernels used the cube cores, inside modules and outside.
--
-- mfu                    DOUBLE   mfu_flops / possible_flops; NULL without any
-- mfu_flops              BIGINT   FLOPs of the kernels of which FLOPs and peak are known; NULL without any
-- possible_flops         BIGINT   sum of (peak * time) of these kernels; NULL without any
-- flops                  BIGINT   FLOPs of all kernels of which they are known, also without a peak; NULL without any
-- achieved_tflops        DOUBLE   flops / the time of these kernels, 10^12 a second; NULL without any
-- peak_tflops            DOUBLE   mean of the peaks of the kernels in mfu, by time, 10^12 a second; NULL without any
-- mfu_at_measured_clock  DOUBLE   mfu by the peak at the real clock of the device; NULL where clock samples miss a kernel
-- duration_ns            BIGINT   time of all compute kernels, ns
-- cube_duration_ns       BIGINT   the part of it of kernels that may multiply matrices, ns
-- flops_duration_ns      BIGINT   the part of that of which flops is known, ns
-- known_duration_ns      BIGINT   the part of that which is in mfu, ns
-- known_share            DOUBLE   known_duration_ns / duration_ns; NULL when that is 0
-- cube_known_share       DOUBLE   known_duration_ns / cube_duration_ns; NULL when that is 0
-- kernel_count           BIGINT   kernels of duration_ns
-- flops_sources          VARCHAR  where flops is from, joined by ', '; NULL without any
-- peaks                  VARCHAR  the peaks by data type and where they are from, joined by ', '; NULL without any
-- reasons                VARCHAR  why kernels of cube_duration_ns are not in mfu, joined by '; '; NULL when all are
SELECT * EXCLUDE (level, path_id, op_name_id, type_id, input_shapes_id)
FROM mfu.by_level
WHERE level = 'rank'
