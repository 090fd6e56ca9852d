-- One row is an op, a kernel type and its input shapes: how well those kernels used the cube cores. The longest come first.
-- Kernels that multiply no matrices have no row.
--
-- op_name_id             TEXT_ID  the op that launched them; NULL where linked to no op
-- type_id                TEXT_ID  operator type of the kernels; NULL when it is not known
-- input_shapes_id        TEXT_ID  input shapes of the kernels; NULL when not recorded
-- mfu                    DOUBLE   mfu_flops / possible_flops; NULL without any
-- mfu_flops              BIGINT   FLOPs of the kernels of which FLOPs and peak are known; NULL without any
-- possible_flops         BIGINT   sum of (peak * time) of these kernels; NULL without any
-- flops                  BIGINT   FLOPs of all kernels of which they are known, also without a peak; NULL without any
-- achieved_tflops        DOUBLE   flops / the time of these kernels, 10^12 a second; NULL without any
-- peak_tflops            DOUBLE   mean of the peaks of the kernels in mfu, by time, 10^12 a second; NULL without any
-- mfu_at_measured_clock  DOUBLE   mfu by the peak at the real clock of the device; NULL where clock samples miss a kernel
-- duration_ns            BIGINT   time of the kernels, ns
-- cube_duration_ns       BIGINT   the part of it of kernels that may multiply matrices, ns
-- flops_duration_ns      BIGINT   the part of that of which flops is known, ns
-- known_duration_ns      BIGINT   the part of that which is in mfu, ns
-- known_share            DOUBLE   known_duration_ns / duration_ns; NULL when that is 0
-- cube_known_share       DOUBLE   known_duration_ns / cube_duration_ns; NULL when that is 0
-- kernel_count           BIGINT   kernels of duration_ns
-- flops_sources          VARCHAR  where flops is from, joined by ', '; NULL without any
-- peaks                  VARCHAR  the peaks by data type and where they are from, joined by ', '; NULL without any
-- reasons                VARCHAR  why kernels of cube_duration_ns are not in mfu, joined by '; '; NULL when all are
SELECT by_level.* EXCLUDE (level, path_id)
FROM mfu.by_level
LEFT JOIN trace.string AS op_name ON op_name.text_id = by_level.op_name_id
LEFT JOIN trace.string AS type ON type.text_id = by_level.type_id
LEFT JOIN trace.string AS input_shapes ON input_shapes.text_id = by_level.input_shapes_id
WHERE by_level.level = 'op'
ORDER BY duration_ns DESC, op_name.text, type.text, input_shapes.text
