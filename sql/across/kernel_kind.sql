-- One row is a kind of kernels with their number and time over all ranks, also those that --filter does not choose, the
-- heaviest first.
--
-- kind                    VARCHAR  kind of the kernels: compute, communication, copy or schedule
-- kernel_count            BIGINT   kernels
-- total_ns                BIGINT   their time, ns; overlapping kernels count fully
-- types_from_names_share  DOUBLE   part of that time in kernels whose type was taken from their name; NULL when the kind took
--                                  no time
-- rows_left_out           BIGINT   rows that across.kernel_statistic would have without --filter, and has not
SELECT
    kind,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(coalesce(total_ns, duration_ns * kernel_count))::BIGINT AS total_ns,
    coalesce(sum(duration_ns * kernel_count) FILTER (type_from = 'name'), 0)
        / nullif(sum(coalesce(total_ns, duration_ns * kernel_count)), 0) AS types_from_names_share,
    count(DISTINCT (type, type_from, core)) FILTER (NOT is_chosen(type)) AS rows_left_out
FROM kernels.duration
GROUP BY kind
ORDER BY total_ns DESC, kind
