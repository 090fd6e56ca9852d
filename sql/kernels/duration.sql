-- One row is a kind, type, core and duration, and the number of kernels with all of these. Device times repeat, so this table
-- is small, and it is all that totals, medians and percentiles need, for one rank or for all ranks.
--
-- kind          ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- type_id       TEXT_ID  operator type, such as MatMulV3 or hcom_allReduce_; NULL when it is not known
-- type_from     ENUM('profile', 'name')  as in trace.kernel
-- core_id       TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- duration_ns   BIGINT   end - start of each; NULL in a profile without kernels where the profiler reported their sums
--                        (op_statistic.csv), of all steps together
-- kernel_count  BIGINT   kernels
-- total_ns      BIGINT   their time as the profiler reported it, ns; NULL where duration_ns is known
-- min_ns        BIGINT   the shortest of them as the profiler reported it, ns; NULL where duration_ns is known
-- max_ns        BIGINT   the longest of them as the profiler reported it, ns; NULL where duration_ns is known
SELECT
    kind,
    type_id,
    type_from,
    core_id,
    duration_ns,
    count(*) AS kernel_count,
    NULL::BIGINT AS total_ns,
    NULL::BIGINT AS min_ns,
    NULL::BIGINT AS max_ns
FROM kernels.selected
GROUP BY kind, type_id, type_from, core_id, duration_ns
UNION ALL
SELECT kind, type_id, type_from, core_id, NULL, kernel_count, total_ns, min_ns, max_ns
FROM kernels.reported
