-- One row is a module path: how well its compute kernels, and those of all modules inside, used the cube cores. The backward of
-- a path is a row of its own.
--
-- parent_module          VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                 VARCHAR  class name of the module, with [Backward] before it in the backward
-- depth                  BIGINT   1 for an outermost module
-- mfu                    DOUBLE   sum of flops / sum of (peak * time) of the kernels of which both are known; NULL without any
-- flops                  BIGINT   FLOPs of those kernels; NULL without any
-- achieved_tflops        DOUBLE   flops / their time, 10^12 a second; NULL without any
-- peak_tflops            DOUBLE   mean of their peaks, by time, 10^12 a second; NULL without any
-- mfu_at_measured_clock  DOUBLE   mfu by the peak at the real clock of the device; NULL where clock samples miss a kernel
-- duration_ns            BIGINT   time of all compute kernels in the module, ns
-- cube_duration_ns       BIGINT   the part of it of kernels that may multiply matrices, ns
-- known_duration_ns      BIGINT   the part of that which is in mfu, ns
-- known_share            DOUBLE   known_duration_ns / duration_ns; NULL when that is 0
-- kernel_count           BIGINT   kernels of duration_ns
-- flops_sources          VARCHAR  where flops is from, joined by ', '; NULL without any
-- peaks                  VARCHAR  the peaks by data type and where they are from, joined by ', '; NULL without any
-- reasons                VARCHAR  why kernels of cube_duration_ns are not in mfu, joined by '; '; NULL when all are
SELECT
    path.parent_module,
    path.module,
    path.depth,
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
JOIN module.path AS inside USING (path_id)
JOIN module.path ON path.path = inside.path[:path.depth] AND path.is_backward = inside.is_backward
GROUP BY path.path_id, path.parent_module, path.module, path.depth
ORDER BY path.path_id
