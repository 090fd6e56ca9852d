-- One row is a stretch of time in which kernels ran without a gap, one after another or at the same time, whatever step they
-- are in.
--
-- kind      ENUM('computing', 'communication', 'copying', 'busy')  of compute kernels, of communication operators, of copies,
--                  or of all together
-- start_ns  BIGINT  start of the first of them, Unix ns
-- end_ns    BIGINT  end of the last of them, Unix ns
WITH measured_kernel AS (
    SELECT 'busy' AS kind, start_ns, end_ns
    FROM step.kernel_step
    UNION ALL
    SELECT CASE kind WHEN 'compute' THEN 'computing' WHEN 'copy' THEN 'copying' ELSE kind::VARCHAR END AS kind, start_ns, end_ns
    FROM step.kernel_step
)
SELECT part::ENUM('computing', 'communication', 'copying', 'busy') AS kind, start_ns, end_ns
FROM stretches(measured_kernel, kind)
