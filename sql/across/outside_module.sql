-- One row is a place of kernels outside of modules, with their time over all ranks.
--
-- location            VARCHAR  outside modules, or linked to no op, as in module.coverage
-- kernel_duration_ns  BIGINT   time of the kernels of all kinds, ns; overlapping kernels count fully
-- computing_ns        BIGINT   time of the compute kernels among them, ns
SELECT
    location,
    sum(kernel_duration_ns)::BIGINT AS kernel_duration_ns,
    coalesce(sum(kernel_duration_ns) FILTER (kind = 'compute'), 0)::BIGINT AS computing_ns
FROM across.coverage
WHERE location <> 'inside modules'
GROUP BY location
ORDER BY location
