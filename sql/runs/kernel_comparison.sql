-- One row is a type of kernels with its input shapes, with its kernels in the base and in the new run, those that changed most
-- first. The sums of all rows are the time of all kernels.
--
-- @sum base_ns, new_ns, difference_ns, base_sum_ns, new_sum_ns, base_kernel_count, new_kernel_count
--
-- run                VARCHAR  the run that is compared with the base
-- kind               VARCHAR  kind of the kernels: compute, communication, copy or schedule
-- type               VARCHAR  operator type; NULL when it is not known
-- input_shapes       VARCHAR  input shapes, on GPUs those of the op; NULL when not recorded in both runs
-- place              VARCHAR  outside every step (or call) for kernels of no unit; NULL for those of units
-- change             VARCHAR  added, removed, more often, less often, slower, faster; noise where only the time changed, by no
--                             more than it varies anyway; NULL where nothing changed
-- base_kernel_count  DOUBLE   kernels in the base per unit; those of no unit are divided by the number of units too
-- new_kernel_count   DOUBLE   kernels in the new run per unit
-- base_mean_ns       DOUBLE   mean time of a kernel in the base, ns; NULL without any
-- new_mean_ns        DOUBLE   mean time of a kernel in the new run, ns; NULL without any
-- @columns base_ns to new_sum_ns as in runs.op_comparison
WITH kernel AS (
    SELECT *, dense_rank() OVER (ORDER BY run, side, kind, type, input_shapes, place) AS kernel_number
    FROM runs.compared_op
),
-- Grouped are numbers: texts take three times as long.
numbered_sample AS (
    SELECT
        kernel.kernel_number,
        sum(sample.kernel_count) AS work_count,
        sum(sample.duration_ns) AS duration_ns,
        sum(sample.duration_ns)::HUGEINT // min(sample.unit_count) AS sample_ns
    FROM runs.compared_op_sample AS sample
    JOIN kernel USING (op_number)
    GROUP BY kernel.kernel_number, sample.sample_id
),
side_of_kernel AS (
    SELECT DISTINCT kernel_number, run, side, kind, type, input_shapes, place
    FROM kernel
),
kernel_of_sample AS (
    SELECT side_of_kernel.*, numbered_sample.* EXCLUDE (kernel_number)
    FROM numbered_sample
    JOIN side_of_kernel USING (kernel_number)
),
comparison AS (FROM runs.comparison)
SELECT
    run,
    unnest(key),
    change,
    coalesce(base_count, 0) / base_unit_count AS base_kernel_count,
    coalesce(new_count, 0) / new_unit_count AS new_kernel_count,
    times.base_sum_ns / nullif(base_count, 0) AS base_mean_ns,
    times.new_sum_ns / nullif(new_count, 0) AS new_mean_ns,
    unnest(times)
FROM compared_times(
    kernel_of_sample, comparison, {'kind': kind, 'type': type, 'input_shapes': input_shapes, 'place': place}
)
ORDER BY run, abs(times.difference_ns) DESC, key.kind, key.type, key.input_shapes, key.place
