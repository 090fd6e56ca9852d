-- One row is a kind of kernel and where its time went, over all ranks.
--
-- kind                VARCHAR  kind of the kernels: compute, communication, copy or schedule
-- location            VARCHAR  inside modules, outside modules, or linked to no op, as in module.coverage
-- kernel_count        BIGINT   kernels
-- kernel_duration_ns  BIGINT   their time, ns; overlapping kernels count fully
-- share               DOUBLE   part of the time of the kind; NULL when the kind took no time
SELECT
    kind::VARCHAR AS kind,
    location,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(kernel_duration_ns)::BIGINT AS kernel_duration_ns,
    sum(kernel_duration_ns) / nullif(sum(sum(kernel_duration_ns)) OVER (PARTITION BY kind), 0) AS share
FROM module.coverage
GROUP BY kind, location
ORDER BY kind = 'schedule', kind = 'communication', location = 'linked to no op', location = 'outside modules', kind
