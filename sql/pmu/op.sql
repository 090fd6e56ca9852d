-- One row is an op, and a kind, type and core of kernels that it launched, and what their hardware counters say, the heaviest
-- first. Counted are compute kernels, and others that have counters.
--
-- op_name_id              TEXT_ID  the op that launched them; NULL where linked to no op
-- kind                    ENUM('compute', 'communication', 'schedule')  what the kernels are
-- type_id                 TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- core_id                 TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL when not recorded
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
SELECT by_level.op_name_id, by_level.* EXCLUDE (level, op_name_id, path_id)
FROM pmu.by_level
LEFT JOIN trace.string AS op_name ON op_name.text_id = by_level.op_name_id
LEFT JOIN trace.string AS type ON type.text_id = by_level.type_id
LEFT JOIN trace.string AS core ON core.text_id = by_level.core_id
WHERE by_level.level = 'op'
ORDER BY duration_ns DESC, op_name.text, by_level.kind, type.text, core.text
