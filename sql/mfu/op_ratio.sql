-- One row is an op that launched a kernel with a ratio, and the ratios of all its kernels.
--
-- op_id        BIGINT    an op of trace.op
-- ratios       BIGINT[]  ratio of mfu.utilisation by kernel: compute, communication, schedule, each by start; NULL without one
-- peer_ratios  BIGINT[]  peer_ratio of mfu.utilisation likewise
WITH launching AS (
    SELECT DISTINCT link.op_id
    FROM mfu.utilisation
    JOIN module.link USING (kernel_id)
    WHERE utilisation.ratio IS NOT NULL OR utilisation.peer_ratio IS NOT NULL
)
SELECT
    link.op_id,
    list(utilisation.ratio ORDER BY kernel.kind, kernel.start_ns, kernel.kernel_id) AS ratios,
    list(utilisation.peer_ratio ORDER BY kernel.kind, kernel.start_ns, kernel.kernel_id) AS peer_ratios
FROM launching
JOIN module.link USING (op_id)
JOIN trace.kernel USING (kernel_id)
LEFT JOIN mfu.utilisation USING (kernel_id)
GROUP BY link.op_id
