-- One row is a phase of passes of a server, and a kind, type, core and duration, and the number of kernels with all of these.
--
-- @guard pass.kernel
--
-- phase         VARCHAR  as in pass.kernel_phase
-- kind          ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- type_id       TEXT_ID  operator type, such as MatMulV3 or hcom_allReduce_; NULL when it is not known
-- core_id       TEXT_ID  cores they ran on, such as AI_CORE or MIX_AIC; NULL for communication
-- duration_ns   BIGINT   end - start of each
-- kernel_count  BIGINT   kernels
SELECT kernel_phase.phase, selected.kind, selected.type_id, selected.core_id, selected.duration_ns, count(*) AS kernel_count
FROM kernels.selected
JOIN pass.kernel_phase USING (kernel_id)
GROUP BY ALL
