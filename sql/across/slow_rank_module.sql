-- One row is a module of a rank that makes others wait, with its computing time on this rank and on the ranks that wait, the
-- largest difference first. Communication is left out, since it contains the waiting itself.
--
-- profile         VARCHAR  the folder of the rank
-- rank_id         INTEGER  the rank; NULL when the files name none
-- parent_module   VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module          VARCHAR  class name of the module, with [Backward] before it in the backward
-- computing_ns    BIGINT   time of the compute kernels launched directly in it, over all steps, ns
-- others_mean_ns  DOUBLE   the same on the ranks that wait and have the module, mean, ns
-- excess_ns       DOUBLE   computing_ns - others_mean_ns
WITH module_time AS (
    SELECT slow_rank.profile, slow_rank.rank_id, slow_rank.is_slow, parent_module, module, time.own_computing_ns AS computing_ns
    FROM module.time
    JOIN across.slow_rank USING (profile)
    WHERE time.own_computing_ns > 0
),
of_others AS (
    SELECT parent_module, module, avg(computing_ns) AS others_mean_ns
    FROM module_time
    WHERE NOT is_slow
    GROUP BY parent_module, module
)
SELECT profile, rank_id, parent_module, module, computing_ns, others_mean_ns, computing_ns - others_mean_ns AS excess_ns
FROM module_time
JOIN of_others USING (parent_module, module)
WHERE is_slow
ORDER BY excess_ns DESC, rank_id, profile, parent_module, module
