-- One row is a module path with its cost over all ranks, the longest own kernel time first. The backward of a path is a row of
-- its own, [Backward] before the name.
--
-- parent_module           VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                  VARCHAR  class name of the module, with [Backward] before it in the backward
-- calls                   BIGINT   calls; in the backward, forward calls whose backward ran
-- own_kernel_duration_ns  BIGINT   time of the kernels launched by ops directly in the module, of all kinds, ns
-- own_computing_ns        BIGINT   time of the compute kernels among them, ns
-- computing_ns            BIGINT   the same, with all modules inside it, ns
-- communication_ns        BIGINT   time of communication operators in it and in all modules inside it, ns
-- computing_share         DOUBLE   computing_ns / the time of all compute kernels of all ranks; NULL when that is 0
-- computing_per_step_ns   DOUBLE   computing_ns for each step of each rank that has the module, ns; NULL when such a rank
--                                  recorded no steps, or has modules that began in none
WITH calls_of_module AS (
    SELECT
        parent_module,
        module,
        sum(calls)::BIGINT AS calls,
        sum(own_kernel_duration_ns)::BIGINT AS own_kernel_duration_ns,
        sum(step_count) AS step_count,
        bool_and(step_count IS NOT NULL) AS are_steps_known
    FROM module.tree
    LEFT JOIN module.step_count USING (profile)
    GROUP BY parent_module, module
),
time_of_module AS (
    SELECT
        parent_module,
        module,
        sum(own_computing_ns) AS own_computing_ns,
        sum(computing_ns) AS computing_ns,
        sum(communication_ns) AS communication_ns
    FROM module.time
    GROUP BY parent_module, module
),
compute AS (
    SELECT sum(kernel_duration_ns) FILTER (kind::VARCHAR = 'compute') AS duration_ns
    FROM module.coverage
)
SELECT
    parent_module,
    module,
    calls,
    own_kernel_duration_ns,
    coalesce(own_computing_ns, 0)::BIGINT AS own_computing_ns,
    coalesce(time_of_module.computing_ns, 0)::BIGINT AS computing_ns,
    coalesce(communication_ns, 0)::BIGINT AS communication_ns,
    coalesce(time_of_module.computing_ns, 0) / nullif(compute.duration_ns, 0) AS computing_share,
    if(are_steps_known, coalesce(time_of_module.computing_ns, 0) / step_count, NULL) AS computing_per_step_ns
FROM calls_of_module
LEFT JOIN time_of_module USING (parent_module, module)
CROSS JOIN compute
ORDER BY own_kernel_duration_ns DESC, parent_module, module
