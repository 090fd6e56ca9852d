-- One row is the kernels that link to no op, where they are 1 % or more of the kernel time, so that links may be lost. Else
-- there is no row.
--
-- kernel_count        BIGINT  number of these kernels, without those of a replayed graph
-- kernel_duration_ns  BIGINT  their time, ns
SELECT count(*) AS kernel_count, sum(duration_ns)::BIGINT AS kernel_duration_ns
FROM trace.kernel
ANTI JOIN module.kernel_op USING (kernel_id)
WHERE model_id IS NULL AND EXISTS (FROM trace.op)
HAVING count(*) > 0 AND 100 * sum(duration_ns) >= (SELECT sum(duration_ns) FROM trace.kernel)
