-- One row is a module, op and type of kernels that take far longer than usual because kernels of another type run beside them.
-- Kernels outside all steps do not count where there are steps.
--
-- @guard critical.stretched
--
-- module             VARCHAR  path of the module, names joined by '/'; NULL outside modules
-- op_name_id         TEXT_ID  name of the op; NULL when linked to no op
-- type_id            TEXT_ID  operator type
-- neighbour_type_id  TEXT_ID  type of the kernels beside them
-- kernel_count       BIGINT   kernels that are stretched
-- all_count          BIGINT   kernels of this module, op and type
-- duration_ns        BIGINT   time of the stretched ones, ns
-- usual_ns           BIGINT   their time if they took as long as equal kernels elsewhere, ns
-- neighbour_ns       BIGINT   time of the kernels beside them, ns
-- critical_ns        BIGINT   part of duration_ns that is critical, as in critical.kernel, ns
-- win_ns             BIGINT   the time won if they take as long as usual, ns: at most their critical time
WITH stepped AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
counted AS (
    SELECT kernel.kernel_id, kernel.path_id, kernel.op_name_id, kernel.type_id, kernel.duration_ns, critical.critical_ns
    FROM module.kernel
    JOIN critical.kernel AS critical USING (kernel_id)
    CROSS JOIN stepped
    WHERE kernel.kind = 'compute'
      AND (NOT stepped.has_rows OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.step))
),
of_type AS (
    SELECT path_id, op_name_id, type_id, count(*) AS all_count
    FROM counted
    GROUP BY path_id, op_name_id, type_id
),
summed AS (
    SELECT
        counted.path_id,
        counted.op_name_id,
        counted.type_id,
        neighbour.type_id AS neighbour_type_id,
        count(*) AS kernel_count,
        sum(counted.duration_ns)::BIGINT AS duration_ns,
        sum(stretched.usual_ns)::BIGINT AS usual_ns,
        sum(neighbour.end_ns - neighbour.start_ns)::BIGINT AS neighbour_ns,
        sum(counted.critical_ns)::BIGINT AS critical_ns,
        sum(least(counted.critical_ns, counted.duration_ns - stretched.usual_ns))::BIGINT AS win_ns
    FROM critical.stretched
    JOIN counted USING (kernel_id)
    JOIN trace.kernel AS neighbour ON neighbour.kernel_id = stretched.neighbour_id
    GROUP BY counted.path_id, counted.op_name_id, counted.type_id, neighbour.type_id
)
SELECT
    path.module_path AS module,
    summed.op_name_id,
    summed.type_id,
    summed.neighbour_type_id,
    summed.kernel_count,
    of_type.all_count,
    summed.duration_ns,
    summed.usual_ns,
    summed.neighbour_ns,
    summed.critical_ns,
    summed.win_ns
FROM summed
JOIN of_type
    ON of_type.path_id IS NOT DISTINCT FROM summed.path_id
    AND of_type.op_name_id IS NOT DISTINCT FROM summed.op_name_id
    AND of_type.type_id = summed.type_id
LEFT JOIN module.path ON path.path_id = summed.path_id
ORDER BY summed.duration_ns DESC, summed.path_id, summed.op_name_id, summed.type_id, summed.neighbour_type_id
