-- One row is a kind of kernels with their number and time over all ranks, the heaviest first.
--
-- kind                    VARCHAR  what the kernels are: compute, communication or schedule
-- kernel_count            BIGINT   kernels
-- total_ns                BIGINT   their time, ns; overlapping kernels count fully
-- types_from_names_share  DOUBLE   part of that time in kernels whose type was taken from their name; NULL when the kind took
--                                  no time
SELECT
    kind,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(total_ns)::BIGINT AS total_ns,
    coalesce(sum(total_ns) FILTER (type_from = 'name'), 0) / nullif(sum(total_ns), 0) AS types_from_names_share
FROM across.kernel_statistic
GROUP BY kind
ORDER BY total_ns DESC, kind
