-- One row is a kind, type, core and duration, and the number of kernels with all of these. Device times repeat, so this table
-- is small, and it is all that totals, medians and percentiles need, for one rank or for all ranks.
--
-- kind          ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- type_id       TEXT_ID  operator type, such as MatMulV3 or hcom_allReduce_; NULL when it is not known
-- type_from     ENUM('profile', 'name')  as in trace.kernel
-- core_id       TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- duration_ns   BIGINT   end - start of each
-- kernel_count  BIGINT   kernels
SELECT kind, type_id, type_from, core_id, duration_ns, count(*) AS kernel_count
FROM kernels.selected
GROUP BY kind, type_id, type_from, core_id, duration_ns
