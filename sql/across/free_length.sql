-- One row is a length of gaps, from one power of ten to the next, and what follows them, over all ranks.
--
-- @columns least_ns to share as in free.length
SELECT
    least_ns,
    followed_by,
    sum(gap_count)::BIGINT AS gap_count,
    sum(total_ns)::BIGINT AS total_ns,
    sum(total_ns) / sum(sum(total_ns)) OVER () AS share
FROM free.length
GROUP BY least_ns, followed_by
ORDER BY least_ns DESC, followed_by
