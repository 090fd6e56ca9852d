-- One row is a side of a comparison, base or new, with all kernel time of the compared ranks: that of the steps that are
-- compared, and that of no step.
--
-- run           VARCHAR  the run that is compared with the base
-- side          VARCHAR  base or new
-- sum_ns        BIGINT   kernel time of all compared units, ns; overlapping kernels count fully
-- kernel_count  BIGINT   kernels
-- unit_count    BIGINT   units, by which sum_ns is divided
SELECT
    size.run,
    size.side,
    coalesce(sum(work.duration_ns), 0)::BIGINT AS sum_ns,
    coalesce(sum(work.kernel_count), 0)::BIGINT AS kernel_count,
    size.unit_count
FROM runs.compared_run AS size
LEFT JOIN runs.unit_work AS work USING (run, side)
GROUP BY size.run, size.side, size.unit_count
ORDER BY size.run, size.side
