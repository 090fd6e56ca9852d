-- One row is a type of kernels and the cores that they ran on, of a profile without kernels where the profiler reported their
-- sums (op_statistic.csv), of all steps together. With a step chosen there is no row.
--
-- @guard trace.reported_kernel_type
--
-- kind          ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- type_id       TEXT_ID  operator type, such as MatMulV3
-- type_from     ENUM('profile', 'name')  as in trace.kernel
-- core_id       TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL when not reported
-- kernel_count  BIGINT   kernels
-- total_ns      BIGINT   their time, ns
-- min_ns        BIGINT   the shortest of them, ns; NULL when not reported
-- max_ns        BIGINT   the longest of them, ns; NULL when not reported
SELECT
    'compute'::ENUM('compute', 'communication', 'copy', 'schedule') AS kind,
    type_id,
    'profile'::ENUM('profile', 'name') AS type_from,
    core_id,
    kernel_count,
    total_ns,
    min_ns,
    max_ns
FROM trace.reported_kernel_type
WHERE getvariable('step_id') IS NULL AND NOT EXISTS (FROM trace.kernel)
