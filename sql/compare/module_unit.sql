-- One row is a module path and a unit, with the work of the module itself in it: its calls, and the kernels that ops directly
-- in it launched. Kernels outside modules have rows by location and reason. The times of all rows add up to all kernel time of
-- the rank but that of helpers of communication, which run in the time of its operators.
--
-- @unique period by start_ns: there are steps or calls, and starts of each are distinct
--
-- path_id           BIGINT   the path of module.path; NULL outside modules
-- location          VARCHAR  inside modules, outside modules or linked to no op, as in module.kernel
-- reason            VARCHAR  why the kernels are not inside modules, as in module.kernel; NULL inside modules
-- unit_id           BIGINT   a unit of compare.unit; NULL for work that belongs to no unit
-- calls             BIGINT   calls that began in it; for a backward, those whose backward ran
-- host_ns           BIGINT   time of the host in these calls, without the modules inside, ns
-- kernel_count      BIGINT   kernels
-- duration_ns       BIGINT   their time, ns; overlapping kernels count fully
-- communication_ns  BIGINT   that of communication operators among them, ns
WITH RECURSIVE period AS (
    SELECT start_ns, end_ns, step_id AS unit_id
    FROM step.period
    SEMI JOIN compare.unit ON unit.unit_id = period.step_id AND unit.kind = 'step'
    UNION ALL
    SELECT start_ns, end_ns, unit_id
    FROM compare.root_call
),
whole AS (
    SELECT unit_id
    FROM compare.unit
    WHERE kind = 'run'
),
inside AS (
    SELECT
        interval_parent.parent_id AS interval_id,
        sum(least(inner_one.end_ns, around.end_ns) - inner_one.start_ns)::BIGINT AS inside_ns
    FROM module.interval_parent
    JOIN module.interval AS inner_one USING (interval_id)
    JOIN module.interval AS around ON around.interval_id = interval_parent.parent_id
    GROUP BY interval_parent.parent_id
),
placed_call AS (
    SELECT
        call.path_key,
        call.is_backward,
        call.range_id,
        call.parent_range_id,
        call.interval_id,
        interval.end_ns - interval.start_ns - coalesce(inside.inside_ns, 0) AS host_ns,
        coalesce(
            CASE WHEN coalesce(interval.start_ns < period.end_ns, true) THEN period.unit_id END,
            (SELECT unit_id FROM whole)
        ) AS unit_id
    FROM module.call
    JOIN module.interval USING (interval_id)
    LEFT JOIN inside USING (interval_id)
    ASOF LEFT JOIN period ON interval.start_ns >= period.start_ns
),
forward_call AS (
    SELECT range_id, parent_range_id, path_key, unit_id
    FROM placed_call
    WHERE interval_id = range_id
),
-- The calls whose backward ran, and the calls around them; calls that ran again inside a backward are among these.
with_backward AS (
    SELECT range_id
    FROM placed_call
    WHERE is_backward
    UNION
    SELECT forward_call.parent_range_id
    FROM with_backward
    JOIN forward_call USING (range_id)
    WHERE forward_call.parent_range_id IS NOT NULL
),
done AS (
    SELECT path_key, is_backward, unit_id, if(interval_id = range_id AND NOT is_backward, 1, 0) AS calls, host_ns
    FROM placed_call
    UNION ALL
    SELECT path_key, true, unit_id, 1, 0
    FROM with_backward
    JOIN forward_call USING (range_id)
),
called_path AS (
    SELECT path.path_id, done.unit_id, sum(done.calls)::BIGINT AS calls, sum(done.host_ns)::BIGINT AS host_ns
    FROM done
    JOIN module.path USING (path_key, is_backward)
    GROUP BY path.path_id, done.unit_id
),
launched_kernel AS (
    SELECT
        kernel.path_id,
        kernel.location,
        kernel.reason,
        kernel_of_unit.unit_id,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns,
        coalesce(sum(kernel.duration_ns) FILTER (kernel.kind = 'communication'), 0)::BIGINT AS communication_ns
    FROM module.kernel
    LEFT JOIN compare.kernel_of_unit USING (kernel_id)
    WHERE kernel.kind <> 'schedule'
    GROUP BY kernel.path_id, kernel.location, kernel.reason, kernel_of_unit.unit_id
)
-- Kernels outside modules have no path, and so join no calls.
SELECT
    coalesce(launched_kernel.path_id, called_path.path_id) AS path_id,
    coalesce(launched_kernel.location::VARCHAR, 'inside modules') AS location,
    launched_kernel.reason,
    coalesce(launched_kernel.unit_id, called_path.unit_id) AS unit_id,
    coalesce(called_path.calls, 0) AS calls,
    coalesce(called_path.host_ns, 0) AS host_ns,
    coalesce(launched_kernel.kernel_count, 0) AS kernel_count,
    coalesce(launched_kernel.duration_ns, 0) AS duration_ns,
    coalesce(launched_kernel.communication_ns, 0) AS communication_ns
FROM launched_kernel
FULL JOIN called_path
    ON called_path.path_id = launched_kernel.path_id AND called_path.unit_id IS NOT DISTINCT FROM launched_kernel.unit_id
