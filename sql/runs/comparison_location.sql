-- One row is where kernels belong, with their time in the base and in the new run: inside modules, or why not. The sums of all
-- rows are the time of all kernels.
--
-- run            VARCHAR  the run that is compared with the base
-- location       VARCHAR  'inside modules', or why the kernels are not, as in runs.compared_op_rank
-- base_ns        DOUBLE   their time in the base per unit, ns
-- new_ns         DOUBLE   their time in the new run per unit, ns
-- difference_ns  DOUBLE   new_ns - base_ns
-- base_sum_ns    BIGINT   time in all units of the base, ns
-- new_sum_ns     BIGINT   time in all units of the new run, ns
WITH total AS (
    SELECT
        run,
        location,
        coalesce(sum(duration_ns) FILTER (side = 'base'), 0)::BIGINT AS base_sum_ns,
        coalesce(sum(duration_ns) FILTER (side = 'new'), 0)::BIGINT AS new_sum_ns
    FROM runs.compared_op
    GROUP BY run, location
),
per_unit AS (
    SELECT
        total.*,
        total.base_sum_ns / comparison.base_unit_count AS base_ns,
        total.new_sum_ns / comparison.new_unit_count AS new_ns
    FROM total
    JOIN runs.comparison USING (run)
)
SELECT run, location, base_ns, new_ns, new_ns - base_ns AS difference_ns, base_sum_ns, new_sum_ns
FROM per_unit
ORDER BY run, location <> 'inside modules', abs(new_ns - base_ns) DESC, location
