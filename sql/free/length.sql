-- One row is a length of gaps, from one power of ten to the next, and what follows them: how the idle time of the device
-- divides into many short gaps (micro) and few long ones (macro), in and between steps.
--
-- least_ns     BIGINT   a power of ten: the gaps last so long or longer, and less than ten times as long, ns
-- followed_by  VARCHAR  what ends the gaps: the kind of the kernel, as in trace.kernel
-- gap_count    BIGINT   gaps
-- total_ns     BIGINT   their time, ns
-- share        DOUBLE   part of the time of all gaps
SELECT
    (10 ** (length((gap.end_ns - gap.start_ns)::VARCHAR) - 1))::BIGINT AS least_ns,
    kernel.kind::VARCHAR AS followed_by,
    count(*) AS gap_count,
    sum(gap.end_ns - gap.start_ns)::BIGINT AS total_ns,
    sum(gap.end_ns - gap.start_ns) / sum(sum(gap.end_ns - gap.start_ns)) OVER () AS share
FROM free.gap
JOIN trace.kernel ON kernel.kernel_id = gap.kernel_after_id
GROUP BY ALL
ORDER BY least_ns DESC, followed_by
