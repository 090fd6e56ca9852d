-- One row is a type of kernels with their number and time as the profiler itself reported them (op_statistic.csv), next to
-- those of the kernels that the profile holds, over all steps. Without that file, or without kernels, there are no rows. The
-- file leaves out communication.
--
-- @guard trace.reported_kernel_type
--
-- type            VARCHAR  operator type; NULL for all types together, where the kernels have no types
-- recorded_count  BIGINT   kernels that the profiler reported
-- kernel_count    BIGINT   kernels that the profile holds
-- recorded_ns     BIGINT   time of the kernels that the profiler reported, ns
-- kernels_ns      BIGINT   time of the kernels that the profile holds, ns
-- agrees          BOOLEAN  whether the numbers are equal, and the times as well but for the rounding of each; or whether the
--                          kernels missing from all types together are as many, and took as long, as the kernels of unknown
--                          type
WITH typed_kernel AS (
    SELECT type.text AS type, kernel.duration_ns
    FROM trace.kernel
    LEFT JOIN trace.string AS type ON type.text_id = kernel.type_id
    WHERE kernel.kind <> 'communication'
),
type_of_kernels AS (
    SELECT type, count(*) AS kernel_count, sum(duration_ns)::BIGINT AS kernels_ns
    FROM typed_kernel
    GROUP BY type
),
known_types AS (
    SELECT
        count(type) > 0 AS has_types,
        count(*) FILTER (type IS NULL) AS untyped_count,
        coalesce(sum(duration_ns) FILTER (type IS NULL), 0) AS untyped_ns
    FROM typed_kernel
),
recorded AS (
    SELECT
        if(known_types.has_types, type.text, NULL) AS type,
        sum(recorded.kernel_count)::BIGINT AS recorded_count,
        sum(recorded.total_ns)::BIGINT AS recorded_ns
    FROM trace.reported_kernel_type AS recorded
    LEFT JOIN trace.string AS type ON type.text_id = recorded.type_id
    CROSS JOIN known_types
    GROUP BY ALL
),
compared_type AS (
    SELECT
        recorded.type,
        recorded.recorded_count,
        coalesce(type_of_kernels.kernel_count, 0) AS kernel_count,
        recorded.recorded_ns,
        coalesce(type_of_kernels.kernels_ns, 0) AS kernels_ns
    FROM recorded
    LEFT JOIN type_of_kernels ON type_of_kernels.type IS NOT DISTINCT FROM recorded.type
),
lacking_type AS (
    SELECT
        bool_and(kernel_count <= recorded_count)
        AND sum(recorded_count - kernel_count) = min(known_types.untyped_count)
        AND abs(sum(recorded_ns - kernels_ns) - min(known_types.untyped_ns)) <= sum(recorded_count) + count(*) AS is_untyped
    FROM compared_type
    CROSS JOIN known_types
    WHERE known_types.has_types
)
SELECT
    compared_type.*,
    (recorded_count = kernel_count AND abs(recorded_ns - kernels_ns) <= recorded_count + 1)
        OR coalesce(is_untyped, false) AS agrees
FROM compared_type
CROSS JOIN lacking_type
WHERE EXISTS (FROM trace.kernel)
ORDER BY abs(recorded_ns - kernels_ns) DESC, type
