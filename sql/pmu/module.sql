-- One row is a module path and what the hardware counters of its kernels, and of those of all modules inside, say. The backward of
-- a path is a row of its own. Counted are compute kernels, and others that have counters.
--
-- parent_module           VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                  VARCHAR  class name of the module, with [Backward] before it in the backward
-- depth                   BIGINT   1 for an outermost module
-- kernel_count            BIGINT   kernels
-- duration_ns             BIGINT   their time, ns; overlapping kernels count fully
-- known_duration_ns       BIGINT   the part of it of kernels with counters; only these are in what follows
-- known_share             DOUBLE   known_duration_ns / duration_ns; NULL when that is 0
-- bound                   VARCHAR  what bounds most of the time: compute, memory, scalar or wait, as in pmu.bound; NULL with a reason
-- compute_ns              BIGINT   time of kernels that compute bounds, ns
-- memory_ns               BIGINT   time of kernels that memory bounds, ns
-- scalar_ns               BIGINT   time of kernels that the scalar unit bounds, ns
-- wait_ns                 BIGINT   time of kernels that wait, ns
-- aic_duration_ns         BIGINT   time of kernels that ran on cube cores, ns; a kernel on both kinds of cores counts for both
-- aic_time_share          DOUBLE   the part of it in which these cores ran; NULL when not recorded
-- aic_mac_ratio           DOUBLE   the part of that in which the matrix unit worked: the mean over kernels, by time; NULL when not
--                                  recorded
-- aic_scalar_ratio        DOUBLE   the same of its scalar unit
-- aic_mte1_ratio          DOUBLE   the same of moving L1 to L0
-- aic_mte2_ratio          DOUBLE   the same of moving memory to the core
-- aic_fixpipe_ratio       DOUBLE   the same of moving results out of the core
-- cube_utilization        DOUBLE   part of the cycles of all cube cores of the device that were used, in aic_duration_ns; NULL when not
--                                  known
-- aic_l2_read_hit_rate    DOUBLE   part of reads of cube cores that hit the L2 cache; NULL when not recorded
-- aic_l2_write_hit_rate   DOUBLE   the same of writes
-- aiv_duration_ns         BIGINT   time of kernels that ran on vector cores, ns
-- aiv_time_share          DOUBLE   as aic_time_share
-- aiv_vec_ratio           DOUBLE   as aic_mac_ratio, of the vector unit
-- aiv_scalar_ratio        DOUBLE   as aic_scalar_ratio
-- aiv_mte2_ratio          DOUBLE   as aic_mte2_ratio
-- aiv_mte3_ratio          DOUBLE   the same of moving results out of the core
-- aiv_l2_read_hit_rate    DOUBLE   as aic_l2_read_hit_rate
-- aiv_l2_write_hit_rate   DOUBLE   as aic_l2_write_hit_rate
-- reason                  VARCHAR  why bound is NULL
SELECT path.parent_module, path.module, path.depth, by_level.* EXCLUDE (level, kind, type_id, core_id, op_name_id, path_id)
FROM pmu.by_level
JOIN module.path USING (path_id)
WHERE by_level.level = 'module'
ORDER BY by_level.path_id
