-- One row is how the ops and modules of kernels of replayed graphs are known; none where there is neither a capture nor an
-- annotation.
--
-- @guard trace.replayed_kernel
--
-- known_by               VARCHAR  'capture' (a recording of the capture has their ops), 'annotation' (the framework noted their
--                                 modules), 'launch' (all that is known is where the graph was launched), or 'nothing'
-- module_by              VARCHAR  what says their modules, as in module.kernel; NULL outside modules
-- kernel_count           BIGINT   kernels
-- kernel_duration_ns     BIGINT   their time, ns; overlapping kernels count fully
-- kernel_duration_share  DOUBLE   share of the time of all kernels of replayed graphs; NULL when that is 0
SELECT
    CASE
        WHEN replayed_kernel.kernel_id IS NOT NULL THEN replayed_kernel.known_by::VARCHAR
        WHEN kernel.location = 'linked to no op' THEN 'nothing'
        ELSE 'launch'
    END AS known_by,
    kernel.module_by,
    count(*) AS kernel_count,
    sum(kernel.duration_ns)::BIGINT AS kernel_duration_ns,
    sum(kernel.duration_ns) / nullif(sum(sum(kernel.duration_ns)) OVER (), 0) AS kernel_duration_share
FROM module.kernel
JOIN trace.kernel AS traced USING (kernel_id)
LEFT JOIN trace.replayed_kernel USING (kernel_id)
WHERE traced.model_id IS NOT NULL OR replayed_kernel.kernel_id IS NOT NULL
GROUP BY 1, 2
ORDER BY known_by, module_by
