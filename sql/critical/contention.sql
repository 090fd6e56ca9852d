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
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
kernel_of_step AS (
    SELECT kernel.kernel_id, kernel.path_id, kernel.op_name_id, kernel.type_id, kernel.duration_ns, critical.critical_ns
    FROM module.kernel
    JOIN critical.kernel AS critical USING (kernel_id)
    CROSS JOIN recorded_steps
    WHERE kernel.kind = 'compute'
      AND (NOT recorded_steps.has_rows OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.step))
),
of_type AS (
    SELECT path_id, op_name_id, type_id, count(*) AS all_count
    FROM kernel_of_step
    GROUP BY path_id, op_name_id, type_id
),
pair_of_types AS (
    SELECT
        kernel_of_step.path_id,
        kernel_of_step.op_name_id,
        kernel_of_step.type_id,
        neighbour.type_id AS neighbour_type_id,
        count(*) AS kernel_count,
        sum(kernel_of_step.duration_ns)::BIGINT AS duration_ns,
        sum(stretched.usual_ns)::BIGINT AS usual_ns,
        sum(neighbour.end_ns - neighbour.start_ns)::BIGINT AS neighbour_ns,
        sum(kernel_of_step.critical_ns)::BIGINT AS critical_ns,
        sum(least(kernel_of_step.critical_ns, kernel_of_step.duration_ns - stretched.usual_ns))::BIGINT AS win_ns
    FROM critical.stretched
    JOIN kernel_of_step USING (kernel_id)
    JOIN trace.kernel AS neighbour ON neighbour.kernel_id = stretched.neighbour_id
    GROUP BY kernel_of_step.path_id, kernel_of_step.op_name_id, kernel_of_step.type_id, neighbour.type_id
)
SELECT
    path.module_path AS module,
    pair_of_types.op_name_id,
    pair_of_types.type_id,
    pair_of_types.neighbour_type_id,
    pair_of_types.kernel_count,
    of_type.all_count,
    pair_of_types.duration_ns,
    pair_of_types.usual_ns,
    pair_of_types.neighbour_ns,
    pair_of_types.critical_ns,
    pair_of_types.win_ns
FROM pair_of_types
JOIN of_type
    ON of_type.path_id IS NOT DISTINCT FROM pair_of_types.path_id
    AND of_type.op_name_id IS NOT DISTINCT FROM pair_of_types.op_name_id
    AND of_type.type_id = pair_of_types.type_id
LEFT JOIN module.path ON path.path_id = pair_of_types.path_id
ORDER BY
    pair_of_types.duration_ns DESC,
    pair_of_types.path_id,
    pair_of_types.op_name_id,
    pair_of_types.type_id,
    pair_of_types.neighbour_type_id
