-- One row is a module path with its time on the host over all ranks, the longest own time first; with --filter, only
-- those it chooses, with their share of all.
--
-- @columns parent_module to calls as in module.host_time
-- host_per_step_ns  DOUBLE   host_ns for each step of each rank that has the module, ns; NULL when such a rank recorded no
--                            steps, or has modules that began in none
-- @columns op_count to device_ns as in module.host_time
WITH summed AS (
    SELECT
        host_time.parent_module,
        host_time.module,
        sum(host_time.own_host_ns)::BIGINT AS own_host_ns,
        sum(host_time.host_ns)::BIGINT AS host_ns,
        sum(host_time.calls)::BIGINT AS calls,
        sum(host_time.op_count)::BIGINT AS op_count,
        sum(host_time.launches)::BIGINT AS launches,
        sum(host_time.device_ns)::BIGINT AS device_ns,
        CASE WHEN bool_and(step_count.step_count IS NOT NULL) THEN sum(step_count.step_count) END AS step_count
    FROM module.host_time
    LEFT JOIN module.step_count USING (profile)
    GROUP BY host_time.parent_module, host_time.module
)
SELECT
    parent_module,
    module,
    own_host_ns,
    host_ns,
    own_host_ns / nullif(sum(own_host_ns) OVER (), 0) AS own_share,
    calls,
    host_ns / step_count AS host_per_step_ns,
    op_count,
    launches,
    device_ns
FROM summed
QUALIFY is_chosen(path_of_module(parent_module, module))
ORDER BY own_host_ns DESC, parent_module, module
