-- One row is an op of runs.compared_op and a noise sample, with its kernels in the units that are compared.
--
-- op_number     BIGINT  an op of runs.compared_op
-- sample_id     BIGINT  the noise sample, as in runs.compared_unit; NULL for kernels of no unit, and where there are no samples
-- kernel_count  BIGINT  kernels
-- duration_ns   BIGINT  their time, ns
-- unit_count    BIGINT  units of the sample, as in runs.compared_sample; NULL without a sample
WITH op AS (
    SELECT op_number, run, side, profile, units, dense_rank() OVER (ORDER BY run, side, profile) AS rank_number
    FROM runs.compared_op_rank
),
-- Joined and grouped are numbers: there are as many units of ops as kernels, and texts take twice as long.
in_unit AS (
    SELECT op_number, rank_number, unnest(units, recursive := true)
    FROM op
),
rank AS (
    SELECT DISTINCT rank_number, run, side, profile
    FROM op
),
chosen_unit AS (
    SELECT rank.rank_number, unit.unit_id, unit.sample_id
    FROM runs.compared_unit AS unit
    JOIN rank USING (run, side, profile)
),
op_of_sample AS (
    SELECT
        in_unit.op_number,
        chosen_unit.sample_id,
        sum(in_unit.kernel_count)::BIGINT AS kernel_count,
        sum(in_unit.duration_ns)::BIGINT AS duration_ns
    FROM in_unit
    LEFT JOIN chosen_unit USING (rank_number, unit_id)
    WHERE in_unit.unit_id IS NULL OR chosen_unit.unit_id IS NOT NULL
    GROUP BY in_unit.op_number, chosen_unit.sample_id
),
side_of_op AS (
    SELECT DISTINCT op_number, run, side
    FROM op
)
SELECT op_of_sample.op_number, op_of_sample.sample_id, op_of_sample.kernel_count, op_of_sample.duration_ns, sample.unit_count
FROM op_of_sample
JOIN side_of_op USING (op_number)
LEFT JOIN runs.compared_sample AS sample USING (run, side, sample_id)
