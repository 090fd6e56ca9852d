-- One row is a stretch of time in which kernels ran without a gap, one after another or at the same time, whatever step they
-- are in.
--
-- kind      ENUM('computing', 'communication', 'copying', 'busy')  of compute kernels, of communication operators, of copies,
--                  or of all together
-- start_ns  BIGINT  start of the first of them, Unix ns
-- end_ns    BIGINT  end of the last of them, Unix ns
WITH measured AS (
    SELECT 'busy' AS kind, start_ns, end_ns
    FROM step.kernel_step
    UNION ALL
    SELECT CASE kind WHEN 'compute' THEN 'computing' WHEN 'copy' THEN 'copying' ELSE kind::VARCHAR END AS kind, start_ns, end_ns
    FROM step.kernel_step
),
reached AS (
    SELECT *, max(end_ns) OVER (
        PARTITION BY kind
        ORDER BY start_ns, end_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
    FROM measured
),
numbered AS (
    SELECT *, sum(if(start_ns <= reached_ns, 0, 1)) OVER (
        PARTITION BY kind
        ORDER BY start_ns, end_ns
        ROWS UNBOUNDED PRECEDING
    ) AS stretch
    FROM reached
)
SELECT kind::ENUM('computing', 'communication', 'copying', 'busy') AS kind, min(start_ns) AS start_ns, max(end_ns) AS end_ns
FROM numbered
GROUP BY kind, stretch
