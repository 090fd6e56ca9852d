-- One row is a pair of kernels that follow each other, by their types, and the gaps between them over all ranks, the largest
-- total time first.
--
-- @columns kernel_before to max_ns as in free.between
SELECT
    kernel_before,
    kernel_after,
    sum(gap_count)::BIGINT AS gap_count,
    sum(total_ns)::BIGINT AS total_ns,
    sum(total_ns) / sum(sum(total_ns)) OVER () AS share,
    sum(total_ns) / sum(gap_count) AS mean_ns,
    max(max_ns) AS max_ns
FROM free.between
GROUP BY kernel_before, kernel_after
ORDER BY total_ns DESC, kernel_before, kernel_after
