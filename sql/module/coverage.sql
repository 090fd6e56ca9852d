-- One row is a kind of kernel, a location and a reason, with the kernel time there. The times of all rows add up to all kernel
-- time of the rank. With a step chosen, only kernels of that step, as in kernels.step.
--
-- @sum kernel_duration_ns, kernel_count
--
-- kind                   ENUM('compute', 'communication', 'copy', 'schedule')  kind of kernel; only kinds that the rank has
-- location               VARCHAR  'inside modules', 'outside modules' (an op launched it, no module encloses the op), or
--                                 'linked to no op'; each kind has all three
-- reason                 VARCHAR  why the kernels are not inside modules, as in module.kernel; NULL inside modules, and in a
--                                 location without kernels
-- kernel_count           BIGINT   kernels
-- kernel_duration_ns     BIGINT   their time, ns; overlapping kernels count fully
-- kernel_duration_share  DOUBLE   share of all kernel time of the kind; NULL when that is 0
-- top_ops                VARCHAR  outside modules, the three ops with the most kernel time, joined by ', '; else NULL
WITH location AS (
    SELECT unnest(['inside modules', 'outside modules', 'linked to no op']) AS location, unnest([1, 2, 3]) AS location_order
),
kind AS (
    SELECT kind, sum(duration_ns) AS duration_ns
    FROM module.kernel
    GROUP BY kind
),
total AS (
    SELECT kind, location, reason, count(*) AS kernel_count, sum(duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
    GROUP BY kind, location, reason
),
op_time AS (
    SELECT kind, reason, coalesce(string.text, '(name lost)') AS name, sum(duration_ns) AS duration_ns
    FROM module.kernel
    LEFT JOIN trace.string ON string.text_id = kernel.op_name_id
    WHERE location = 'outside modules'
    GROUP BY ALL
),
top_op AS (
    SELECT kind, reason, string_agg(name, ', ' ORDER BY duration_ns DESC, name) AS top_ops
    FROM (
        FROM op_time
        QUALIFY row_number() OVER (PARTITION BY kind, reason ORDER BY duration_ns DESC, name) <= 3
    )
    GROUP BY kind, reason
)
SELECT
    kind.kind,
    location.location,
    total.reason,
    coalesce(total.kernel_count, 0) AS kernel_count,
    coalesce(total.duration_ns, 0) AS kernel_duration_ns,
    coalesce(total.duration_ns, 0) / nullif(kind.duration_ns, 0) AS kernel_duration_share,
    top_op.top_ops
FROM kind
-- All pairs: of each of three kinds there are three locations.
CROSS JOIN location
LEFT JOIN total USING (kind, location)
LEFT JOIN top_op ON top_op.kind = kind.kind AND top_op.reason = total.reason
ORDER BY kind.kind, location.location_order, total.reason
