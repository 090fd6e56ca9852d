-- One row is a kind of kernel and a place where its time went. Over all rows the times add up to all kernel time of the rank.
-- With a step chosen, kernels linked to no op are left out: they belong to no step.
--
-- kind                   ENUM('compute', 'communication', 'schedule')  kind of kernel; only kinds that the rank has
-- place                  VARCHAR  'inside modules', 'outside modules' (an op launched it, no module encloses the op), or
--                                 'linked to no op'
-- kernel_count           BIGINT   kernels
-- kernel_duration_ns     BIGINT   their time, ns; overlapping kernels count fully
-- kernel_duration_share  DOUBLE   part of the time of the kind; NULL when the kind took no time
WITH place AS (
    SELECT unnest(['inside modules', 'outside modules', 'linked to no op']) AS place, unnest([1, 2, 3]) AS place_order
),
kind AS (
    SELECT kind, sum(duration_ns) AS duration_ns
    FROM module.kernel
    GROUP BY kind
),
total AS (
    SELECT kind, place, count(*) AS kernel_count, sum(duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
    GROUP BY kind, place
)
SELECT
    kind.kind,
    place.place,
    coalesce(total.kernel_count, 0) AS kernel_count,
    coalesce(total.duration_ns, 0) AS kernel_duration_ns,
    coalesce(total.duration_ns, 0) / nullif(kind.duration_ns, 0) AS kernel_duration_share
FROM kind
CROSS JOIN place
LEFT JOIN total USING (kind, place)
ORDER BY kind.kind, place.place_order
